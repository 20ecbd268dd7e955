package dev.fairway.agent.provider;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Azure OpenAI: OpenAI's names, but a reset is in milliseconds, unless its name has the extra
 * hyphen of older answers: then it is in seconds. {@code -1} is unknown. A limit is over a minute,
 * unless its renewal period says otherwise.
 */
final class AzureProfile extends BaseProfile {
  private static final long LONGEST_PERIOD_S = 31 * Limit.DAY.toSeconds();

  AzureProfile() {
    super("azure");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    List<Limit> limits = new ArrayList<>();
    for (Limit limit : RateLimitHeaders.read(headers, now, Reset::millis, perMinute())) {
      String suffix = suffix(limit.dimension());
      String older = headers.get("x-rate-limit-reset-" + suffix);
      limits.add(
          new Limit(
              limit.dimension(),
              window(headers.get("x-ratelimit-renewalperiod-" + suffix)),
              limit.limit(),
              limit.remaining(),
              older == null ? limit.reset() : Reset.duration(older, now)));
    }
    return limits;
  }

  /** A renewal period in seconds; a minute where none can be read. */
  private static Duration window(String renewalPeriod) {
    Long seconds = Numbers.amount(renewalPeriod);
    return seconds == null || seconds < 1 || seconds > LONGEST_PERIOD_S
        ? Limit.MINUTE
        : Duration.ofSeconds(seconds);
  }

  private static String suffix(Dimension dimension) {
    return dimension.wireName().replace('_', '-');
  }
}
