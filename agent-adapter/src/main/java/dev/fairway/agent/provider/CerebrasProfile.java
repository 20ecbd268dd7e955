package dev.fairway.agent.provider;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Cerebras: each header names its window (a day, a minute); resets in seconds. */
final class CerebrasProfile extends BaseProfile {
  CerebrasProfile() {
    super("cerebras");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    return RateLimitHeaders.read(headers, now, Reset::duration, Map.of());
  }
}
