package dev.fairway.agent.provider;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;

/** Bounds of waits, in one place: rounded up to a millisecond, and unreadable above 366 days. */
final class Waits {
  static final Duration LONGEST = Duration.ofDays(366);

  private static final BigDecimal LONGEST_MS = BigDecimal.valueOf(LONGEST.toMillis());

  private Waits() {}

  /** Whole milliseconds, or null if absurd. */
  static Long ms(BigDecimal ms) {
    return ms.signum() < 0 || ms.compareTo(LONGEST_MS) > 0
        ? null
        : (Long) ms.setScale(0, RoundingMode.UP).longValueExact();
  }

  /** Milliseconds from one instant until another, 0 if that is past, or null if absurd. */
  static Long between(Instant now, Instant then) {
    // Seconds first: an instant of the far future has no milliseconds that fit a long.
    long seconds = then.getEpochSecond() - now.getEpochSecond();
    if (seconds > LONGEST.toSeconds()) {
      return null;
    }
    Duration until = seconds < 0 ? Duration.ZERO : Duration.between(now, then);
    return until.isNegative() ? (Long) 0L : ms(until);
  }

  /** Whether an instant is from 1970 to 9999: no other was ever meant. */
  static boolean isOfThisEra(Instant instant) {
    return instant.getEpochSecond() >= 0 && instant.getEpochSecond() < 253_402_300_800L;
  }

  private static Long ms(Duration until) {
    return ms(
        BigDecimal.valueOf(until.getSeconds())
            .multiply(BigDecimal.valueOf(1_000))
            .add(BigDecimal.valueOf(until.getNano(), 6)));
  }
}
