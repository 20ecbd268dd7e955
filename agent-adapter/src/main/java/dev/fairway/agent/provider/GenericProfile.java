package dev.fairway.agent.provider;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Any other provider: headers that many share, {@code x-ratelimit-*}, {@code ratelimit-*} and the
 * IETF draft's. Over which time a limit is, is unknown unless its name says so. A reset is in
 * seconds, or a point in time.
 */
final class GenericProfile extends BaseProfile {
  GenericProfile() {
    super("generic");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    List<Limit> limits =
        new ArrayList<>(RateLimitHeaders.read(headers, now, Reset::epochOrDuration, Map.of()));
    limits.addAll(IetfRateLimit.read(headers, now));
    return limits;
  }
}
