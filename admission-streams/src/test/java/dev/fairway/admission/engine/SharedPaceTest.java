package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.ask;
import static dev.fairway.admission.engine.OrderContext.quota;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.RampStarted;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A ramp and a trickle go by the rate of what binds, be it a quota that others take from too. */
class SharedPaceTest extends BreakerFixture {
  private static final String SHARED = "k/s";
  private static final Amounts WIDE = Amounts.of(Dimension.INPUT_TOKENS, 600_000);

  @Test
  void shouldRampAtTheRateOfTheQuotaThatItTakesFrom() {
    // given: ten times the rate of what it takes from, and a hold of a minute
    EngineContext wide = wide();
    EngineContext alone = quota().full().start();

    // when
    List<Long> shared = grantedAfterAHold(wide);

    // then: as a quota of that rate itself, but for the margin, which the 429 cut there alone
    assertThat(shared).hasSizeBetween(18, 22);
    assertThat(shared.size()).isCloseTo(grantedAfterAHold(alone).size(), within(4));
  }

  @Test
  void shouldTellWhenTheRampLetsSomebodyGo() {
    // given
    EngineContext wide = wide();
    grantedAfterAHold(wide);

    // when
    long atMs = wide.nowMs;
    LeaseQueued told = only(ask("late", "b", 1_000).of(wide), LeaseQueued.class);
    List<Event> later = wide.sleep(120_000);

    // then
    long wentMs =
        grants(later).stream()
            .filter(e -> e.requestId().equals("late"))
            .mapToLong(e -> e.grantedAtMs() - atMs)
            .findFirst()
            .orElseThrow();
    assertThat(told.etaMs()).isGreaterThan(1_000);
    assertThat((double) told.etaMs()).isCloseTo(wentMs, within(0.1 * wentMs));
  }

  @Test
  void shouldTrickleAtTheRateOfTheQuotaThatItTakesFrom() {
    // given
    EngineContext wide = wide();
    open(wide);
    for (int i = 0; i < 100; i++) {
      ask("x" + i, "x", 2_000).of(wide);
    }

    // when: three probes stay silent
    only(wide.sleep(1_000 + 3 * 15_000), BreakerClosed.class);
    int trickled = grants(wide.sleep(60_000)).size();

    // then: a quarter of 60,000 a minute
    assertThat(trickled).isBetween(5, 8);
  }

  @Test
  void shouldKeepNobodyBackForWhatTheTrickleOfAnotherQuotaGetsBack() {
    // given: a trickle in the quota that it takes from
    EngineContext context = quota().full().start();
    quota().named("k/t").limits(WIDE).takingFrom("k/q").defineIn(context);
    open(context);
    for (int i = 0; i < 3; i++) {
      ask("x" + i, "x", 100).of(context);
    }
    only(context.sleep(1_000 + 3 * 15_000), BreakerClosed.class);
    context.sleep(60_000);
    LeaseGranted given = only(ask("t1", "t", 3_000).in("k/t").of(context), LeaseGranted.class);
    assertThat(grants(ask("t2", "t", 3_000).in("k/t").of(context))).isEmpty();

    // when
    List<Event> back = end(context, given, Outcome.NOT_SENT);

    // then
    assertThat(only(back, LeaseGranted.class).requestId()).isEqualTo("t2");
  }

  private static EngineContext wide() {
    EngineContext context = quota().limits(WIDE).takingFrom(SHARED).start();
    quota().named(SHARED).full().defineIn(context);
    return context;
  }

  /** When, in the first half of a minute after a long hold. */
  private static List<Long> grantedAfterAHold(EngineContext context) {
    String first = only(context.ask("first", "a1", 100), LeaseGranted.class).leaseId();
    only(refused(context, first, 60_000L), RampStarted.class);
    for (int i = 0; i < 60; i++) {
      ask("w" + i, "w", 1_000).of(context);
    }
    context.sleep(59_999);
    long fromMs = context.nowMs + 1;
    return grants(context.sleep(30_001)).stream().map(e -> e.grantedAtMs() - fromMs).toList();
  }

  private static List<Event> end(EngineContext context, LeaseGranted lease, Outcome outcome) {
    return context.settle(
        lease.leaseId(),
        lease.agentId(),
        outcome,
        null,
        null,
        s ->
            new Settlement(
                s.leaseId(), null, s.agentId(), lease.quotaId(), outcome, null, false, null));
  }
}
