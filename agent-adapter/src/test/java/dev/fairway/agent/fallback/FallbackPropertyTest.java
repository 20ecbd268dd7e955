package dev.fairway.agent.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class FallbackPropertyTest {
  private static final OptionalLong NONE = OptionalLong.empty();

  /** One call: how long after the one before it comes, what it takes, what it really used. */
  record Step(long afterMs, long input, long used) {}

  @Property
  void shouldNeverWaitLessThanTheFloorOrMoreThanFloorAndCap(
      @ForAll @IntRange(min = 0, max = 2_000) int failures,
      @ForAll @LongRange(min = 0, max = 31_622_400_000L) long retryAfterMs,
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE) long draw) {
    // given
    FullJitter jitter =
        new FullJitter(Duration.ofSeconds(1), Duration.ofSeconds(30), bound -> draw % bound);

    // when
    Duration delay = jitter.delay(failures, Duration.ofMillis(retryAfterMs));

    // then
    long ceilingMs = Math.min(30_000, 1_000L << Math.min(10, Math.max(0, failures - 1)));
    assertThat(delay.toMillis()).isBetween(retryAfterMs + 1, retryAfterMs + ceilingMs);
    assertThat(jitter.delay(failures, null).toMillis()).isBetween(1L, ceilingMs);
    assertThat(jitter.delay(failures, Duration.ofMillis(-5)).toMillis()).isBetween(1L, ceilingMs);
  }

  @Example
  void shouldWaitAsLongAsCanBeSaidWhereAProviderAsksForMore() {
    // when
    Duration delay = FullJitter.STANDARD.delay(3, Duration.ofSeconds(Long.MAX_VALUE));

    // then
    assertThat(delay.toMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(FullJitter.STANDARD.delay(3, Duration.ofMillis(Long.MAX_VALUE))).isEqualTo(delay);
  }

  @Property
  void shouldNeverLetMorePassThanTheShareOfTheTimeWhileCallsWait(
      @ForAll @LongRange(min = 1, max = 100_000) long perMinute,
      @ForAll("steps") List<Step> steps) {
    // given: somebody always waits, so nothing is saved up beyond the next call
    ShareBucket bucket = new ShareBucket(share(perMinute), 0);
    long nowMs = 0;
    long taken = 0;

    for (Step step : steps) {
      // when
      ShareBucket.Amounts call = ShareBucket.Amounts.ofCall(step.input(), 0);
      long waitMs = bucket.waitMs(call, nowMs);
      assertThat(waitMs).isNotNegative().isLessThan(ShareBucket.NEVER);
      if (waitMs > 0) {
        assertThat(bucket.waitMs(call, nowMs + waitMs - 1)).as("waits no longer").isPositive();
      }
      nowMs += waitMs;
      assertThat(bucket.waitMs(call, nowMs)).as("waits as long as it said").isZero();
      bucket.take(call, nowMs);
      bucket.adjust(call, ShareBucket.Amounts.ofCall(step.used(), 0), nowMs);
      taken += step.used();

      // then: what a call used beyond its estimate is paid back by those after it
      long overdrawn = Math.max(0, step.used() - step.input());
      assertThat((taken - overdrawn) * 60_000.0).isLessThanOrEqualTo((double) perMinute * nowMs);
    }
  }

  @Property
  void shouldSaveUpNoMoreThanItMay(
      @ForAll @LongRange(min = 1, max = 1_000_000) long perMinute,
      @ForAll @LongRange(min = 0, max = 100_000_000) long idleMs) {
    // given
    ShareBucket bucket = new ShareBucket(share(perMinute), 0);
    bucket.waitMs(ShareBucket.Amounts.ofCall(0, 0), idleMs);

    // when
    long saved = perMinute * ShareBucket.SAVED_MS / 60_000;

    // then
    assertThat(bucket.waitMs(ShareBucket.Amounts.ofCall(saved + 1, 0), idleMs)).isPositive();
  }

  @Property
  void shouldNeverSpendMoreThanTheBudget(@ForAll @IntRange(min = 0, max = 1_000) int retries) {
    // given
    RetryBudget budget = RetryBudget.of(retries);

    // when
    int spent = 0;
    for (int i = 0; i < 2 * retries + 3; i++) {
      spent += budget.trySpend() ? 1 : 0;
    }

    // then
    assertThat(spent).isEqualTo(retries);
    assertThat(budget.toHeader()).isEqualTo("0");
  }

  @Property
  void shouldReadNoHeaderAsABudgetThatIsNone(@ForAll String header) {
    // when / then
    RetryBudget.ofHeader(header)
        .ifPresent(
            budget -> {
              assertThat(header.strip()).matches("[0-9]{1,9}");
              assertThat(budget.remaining()).isBetween(0, RetryBudget.RETRIES_MAX);
            });
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Long> tokens = Arbitraries.longs().between(0, 200_000);
    return Combinators.combine(Arbitraries.longs().between(0, 5_000), tokens, tokens)
        .as(Step::new)
        .list()
        .ofMaxSize(40);
  }

  private static ShareBucket.Amounts share(long inputPerMinute) {
    return new ShareBucket.Amounts(NONE, OptionalLong.of(inputPerMinute), NONE, NONE);
  }
}
