package dev.fairway.cli.demo.fleet;

import java.util.Locale;
import java.util.SplittableRandom;

/**
 * How long an agent without admission waits after a 429. Its own times run as fast as the fleet.
 */
public enum Backoff {
  /** Full jitter: anything up to 1 s, doubling to 30 s. What most harnesses have. */
  FULL_JITTER {
    @Override
    double waitMs(int retry, long retryAfterMs, SplittableRandom random) {
      double ceilingMs = Math.min(30_000, 1_000 * (double) (1 << retry));
      return random.nextDouble() * ceilingMs / FleetPlan.SPEED_UP;
    }
  },
  /**
   * What the official SDKs do: 0.5 s doubling to 8 s, less up to a quarter of jitter, but never
   * before the provider's {@code retry-after}, which is real time.
   */
  RETRY_AFTER {
    @Override
    double waitMs(int retry, long retryAfterMs, SplittableRandom random) {
      double backoffMs =
          Math.min(8_000, 500 * (double) (1 << retry)) * (1 - 0.25 * random.nextDouble());
      return Math.max(backoffMs / FleetPlan.SPEED_UP, (double) retryAfterMs);
    }
  };

  /**
   * The wait before a retry.
   *
   * @param retry number of the retry, from 0 to {@link RetryingHarness#RETRIES_MAX}
   * @param retryAfterMs what the provider asked for, or 0
   */
  abstract double waitMs(int retry, long retryAfterMs, SplittableRandom random);

  /** As in options and reports. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
