package dev.fairway.agent.provider;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Azure OpenAI: OpenAI's names, but a reset is in milliseconds, unless its name has the extra
 * hyphen of older answers: then it is in seconds. {@code -1} is unknown.
 */
final class AzureProfile extends BaseProfile {
  AzureProfile() {
    super("azure");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    List<Limit> limits = new ArrayList<>();
    for (Limit limit : RateLimitHeaders.read(headers, now, Reset::millis, perMinute())) {
      String older = headers.get("x-rate-limit-reset-" + suffix(limit.dimension()));
      limits.add(older == null ? limit : withReset(limit, Reset.duration(older, now)));
    }
    return limits;
  }

  private static Limit withReset(Limit limit, Reset reset) {
    return new Limit(limit.dimension(), limit.window(), limit.limit(), limit.remaining(), reset);
  }

  private static String suffix(Dimension dimension) {
    return dimension.wireName().replace('_', '-');
  }
}
