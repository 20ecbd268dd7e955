package dev.fairway.cli.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BackoffTest {

  @Test
  void shouldSpreadFullJitterUpToItsDoublingCeiling() {
    // given
    SplittableRandom random = new SplittableRandom(1);

    // then
    for (int retry = 0; retry <= RetryingHarness.RETRIES_MAX; retry++) {
      double ceilingMs = Math.min(30_000, 1_000 * Math.pow(2, retry)) / FleetPlan.SPEED_UP;
      double longest = 0;
      for (int i = 0; i < 1_000; i++) {
        double waitMs = Backoff.FULL_JITTER.waitMs(retry, 5_000, random);
        assertThat(waitMs).isBetween(0.0, ceilingMs);
        longest = Math.max(longest, waitMs);
      }
      assertThat(longest).isGreaterThan(0.9 * ceilingMs);
    }
  }

  @Test
  void shouldNeverComeBackBeforeRetryAfter() {
    // given
    SplittableRandom random = new SplittableRandom(1);

    // then
    for (int i = 0; i < 1_000; i++) {
      assertThat(Backoff.RETRY_AFTER.waitMs(i % 7, 2_000, random)).isEqualTo(2_000);
      assertThat(Backoff.RETRY_AFTER.waitMs(0, 0, random))
          .isBetween(375 / FleetPlan.SPEED_UP, 500 / FleetPlan.SPEED_UP);
    }
  }
}
