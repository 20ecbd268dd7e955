package dev.fairway.agent.provider;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Groq: OpenAI's names; requests are per day, tokens per minute. */
final class GroqProfile extends BaseProfile {
  GroqProfile() {
    super("groq");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    return RateLimitHeaders.read(
        headers,
        now,
        Reset::duration,
        Map.of(Dimension.REQUESTS, Limit.DAY, Dimension.TOKENS, Limit.MINUTE));
  }
}
