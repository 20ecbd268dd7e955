package dev.fairway.agent.provider;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * OpenAI: chat completions, responses, and legacy completions. Limits refill all the time: a reset
 * is (limit - remaining) / limit of the window, which tells a limit of requests per day, whose
 * headers have the same names, from one per minute.
 */
final class OpenAiProfile extends BaseProfile {
  /** Between a minute and a day there is no window, so anything clearly above a minute is a day. */
  private static final long DAY_FROM_MS = Duration.ofMinutes(10).toMillis();

  OpenAiProfile() {
    super("openai");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    List<Limit> limits = new ArrayList<>();
    for (Limit limit : RateLimitHeaders.read(headers, now, Reset::duration, perMinute())) {
      limits.add(isPerDay(limit) ? perDay(limit) : limit);
    }
    return limits;
  }

  private static boolean isPerDay(Limit limit) {
    if (limit.limit() == null || limit.remaining() == null || limit.reset() == null) {
      return false;
    }
    long used = limit.limit() - limit.remaining();
    Long resetMs = limit.reset().ms();
    return limit.dimension() == Dimension.REQUESTS
        && used > 0
        && resetMs != null
        && (double) resetMs * limit.limit() / used >= DAY_FROM_MS;
  }

  private static Limit perDay(Limit limit) {
    return new Limit(limit.dimension(), Limit.DAY, limit.limit(), limit.remaining(), limit.reset());
  }
}
