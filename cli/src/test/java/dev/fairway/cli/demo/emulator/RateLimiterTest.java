package dev.fairway.cli.demo.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.fairway.cli.demo.emulator.ProviderLimits.Limit;
import dev.fairway.cli.demo.emulator.RateLimiter.Refusal;
import dev.fairway.cli.demo.emulator.RateLimiter.Verdict;
import org.junit.jupiter.api.Test;

class RateLimiterTest {
  private static final long SECOND = 1_000_000_000L;

  private static RateLimiter limiter(long requests, long input, long output) {
    return new RateLimiter(ProviderLimits.full(requests, input, output), 0);
  }

  @Test
  void shouldAdmitWhatTheInputLevelCovers() {
    // given
    RateLimiter limiter = limiter(100, 60_000, 10_000);

    // when
    Verdict fits = limiter.arrive(0, 60_000);
    Verdict next = limiter.arrive(0, 1);

    // then
    assertThat(fits.admitted()).isTrue();
    assertThat(fits.input().remaining()).isZero();
    assertThat(next.refusal()).isEqualTo(Refusal.INPUT_TOKENS);
    assertThat(next.limitPerMinute()).isEqualTo(60_000);
  }

  @Test
  void shouldRefillContinuously() {
    // given
    RateLimiter limiter = limiter(100, 60_000, 10_000);
    limiter.arrive(0, 60_000);

    // when, at 1,000 tokens a second
    Verdict early = limiter.arrive(SECOND / 2 - 1, 500);
    Verdict due = limiter.arrive(SECOND / 2, 500);

    // then
    assertThat(early.admitted()).isFalse();
    assertThat(due.admitted()).isTrue();
  }

  @Test
  void shouldNeverHoldMoreThanAMinute() {
    // given
    RateLimiter limiter = limiter(100, 60_000, 10_000);

    // when
    double level = limiter.inputLevel(24 * 3600 * SECOND);

    // then
    assertThat(level).isEqualTo(60_000);
  }

  @Test
  void shouldNotRefillWhenTheClockStepsBack() {
    // given
    RateLimiter limiter = limiter(100, 60_000, 10_000);
    limiter.arrive(10 * SECOND, 60_000);

    // when
    double level = limiter.inputLevel(SECOND);

    // then
    assertThat(level).isZero();
  }

  @Test
  void shouldTellInWholeSecondsWhenARefusedCallWouldFit() {
    // given
    RateLimiter limiter = limiter(100, 60_000, 10_000);
    limiter.arrive(0, 60_000);

    // when
    Verdict refused = limiter.arrive(0, 2_001);
    Verdict retried = limiter.arrive(refused.retryAfterSeconds() * SECOND, 2_001);

    // then
    assertThat(refused.retryAfterSeconds()).isEqualTo(3);
    assertThat(retried.admitted()).isTrue();
  }

  @Test
  void shouldTellAtLeastOneSecond() {
    // given
    RateLimiter limiter = limiter(100, 60_000, 10_000);
    limiter.arrive(0, 60_000);

    // when
    Verdict refused = limiter.arrive(0, 1);

    // then
    assertThat(refused.retryAfterSeconds()).isEqualTo(1);
  }

  @Test
  void shouldLetACallLargerThanTheBucketPassAFullOneAndLeaveDebt() {
    // given
    RateLimiter limiter = limiter(100, 60_000, 10_000);

    // when
    Verdict oversize = limiter.arrive(0, 90_000);

    // then
    assertThat(oversize.admitted()).isTrue();
    assertThat(oversize.input().remaining()).isZero();
    assertThat(limiter.inputLevel(0)).isEqualTo(-30_000);
  }

  @Test
  void shouldChargeOutputAtTheEndAndRefuseWhileItIsUsedUp() {
    // given
    RateLimiter limiter = limiter(100, 60_000, 6_000);

    // when, at 100 output tokens a second
    Verdict first = limiter.arrive(0, 10);
    limiter.finish(0, 6_300);
    Verdict inDebt = limiter.arrive(2 * SECOND, 10);
    Verdict repaid = limiter.arrive(4 * SECOND, 10);

    // then
    assertThat(first.admitted()).isTrue();
    assertThat(inDebt.refusal()).isEqualTo(Refusal.OUTPUT_TOKENS);
    assertThat(inDebt.retryAfterSeconds()).isEqualTo(2);
    assertThat(repaid.admitted()).isTrue();
  }

  @Test
  void shouldTakeOneRequestForARefusalAndNoTokens() {
    // given
    RateLimiter limiter = limiter(60, 60_000, 10_000);
    limiter.arrive(0, 60_000);

    // when
    Verdict refused = limiter.arrive(0, 60_000);

    // then
    assertThat(refused.requests().remaining()).isEqualTo(58);
    assertThat(limiter.inputLevel(0)).isZero();
  }

  @Test
  void shouldNotRunIntoDebtOfRequests() {
    // given
    RateLimiter limiter = limiter(60, 1_000_000, 10_000);
    for (int i = 0; i < 60; i++) {
      limiter.arrive(0, 1);
    }

    // when
    Verdict refused = null;
    for (int i = 0; i < 500; i++) {
      refused = limiter.arrive(0, 1);
    }
    Verdict afterOneSecond = limiter.arrive(SECOND, 1);

    // then
    assertThat(refused.refusal()).isEqualTo(Refusal.REQUESTS);
    assertThat(afterOneSecond.admitted()).isTrue();
  }

  @Test
  void shouldNameTheLimitThatTakesLongest() {
    // given
    RateLimiter limiter =
        new RateLimiter(
            new ProviderLimits(new Limit(60, 0), new Limit(60_000, 0), Limit.full(1_000)), 0);

    // when, one request comes back in 1 s, 30,000 tokens in 30 s
    Verdict refused = limiter.arrive(0, 30_000);

    // then
    assertThat(refused.refusal()).isEqualTo(Refusal.INPUT_TOKENS);
    assertThat(refused.retryAfterSeconds()).isEqualTo(30);
  }

  @Test
  void shouldNotAdmitMoreThanOpeningAndRefillInAnyWindow() {
    // given
    RateLimiter limiter =
        new RateLimiter(
            new ProviderLimits(
                Limit.full(100_000), new Limit(60_000, 6_000), Limit.full(1_000_000)),
            0);

    // when
    long admitted = 0;
    for (long ms = 0; ms <= 30_000; ms += 7) {
      admitted += limiter.arrive(ms * 1_000_000, 900).admitted() ? 900 : 0;
    }

    // then
    assertThat((double) admitted).isCloseTo(6_000 + 30 * 1_000, within(900.0));
    assertThat(admitted).isLessThanOrEqualTo(36_000);
  }
}
