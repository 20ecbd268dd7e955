package dev.fairway.agent.provider;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Mistral: each header names its window (10 seconds, a minute, a month); no resets. */
final class MistralProfile extends BaseProfile {
  MistralProfile() {
    super("mistral");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    return RateLimitHeaders.read(headers, now, Reset::duration, Map.of());
  }
}
