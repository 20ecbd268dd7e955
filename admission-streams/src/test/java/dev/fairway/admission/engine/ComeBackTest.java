package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.EtaRevised;
import dev.fairway.admission.engine.Event.LeaseCancelled;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.RequestIgnored;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.queue.RetryAt;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What they are told who wait for others alone, and who ask again after they left. */
class ComeBackTest {
  private static final Amounts SLOT = tokens(6_000_000).with(Dimension.CONCURRENT_REQUESTS, 1);

  @Test
  void shouldNotCallAFullQueueBackAtOnceWhereASlotAloneIsWaitedFor() {
    // given
    EngineContext context = EngineContext.with(definition(State.ACTIVE, 1));
    context.ask("r1", "a1", 10);
    LeaseQueued waits = only(context.ask("r2", "a2", 10), LeaseQueued.class);

    // when
    LeaseRejected rejected = only(context.ask("r3", "a3", 10), LeaseRejected.class);

    // then
    assertThat(waits.etaMs()).isZero();
    assertThat(waits.etaP90Ms()).isNull();
    assertThat(rejected.reason()).isEqualTo(RejectReason.QUEUE_FULL);
    assertThat(rejected.retryAtMs()).isEqualTo(context.nowMs + RetryAt.SOONEST_MS);
  }

  @Test
  void shouldNotCallBackAtOnceFromAPausedQuota() {
    // given
    EngineContext context = EngineContext.with(definition(State.PAUSED, 10));
    context.ask("r1", "a1", 10);

    // when
    LeaseRejected rejected = only(context.sleep(1_000_000), LeaseRejected.class);

    // then
    long leftAtMs = context.nowMs - 1_000_000 + 120_000;
    assertThat(rejected.reason()).isEqualTo(RejectReason.DEADLINE_PASSED);
    assertThat(rejected.retryAtMs()).isBetween(leftAtMs + 1_000, leftAtMs + 1_001);
    assertThat(rejected.detail())
        .contains("named none: twice the longest wait")
        .contains("is paused")
        .doesNotContain("turn");
  }

  @Test
  void shouldNotCallBackAtOnceWhoAsksAgainAfterThatTime() {
    // given: a rejection whose time to come back is long over
    EngineContext context = EngineContext.with(definition(State.PAUSED, 10));
    context.ask("r1", "a1", 10);
    context.sleep(300_000);

    // when
    List<Event> again = context.ask("r1", "a1", 10);

    // then
    LeaseRejected told = (LeaseRejected) only(again, DecisionRepeated.class).decision();
    assertThat(told.reason()).isEqualTo(RejectReason.DEADLINE_PASSED);
    assertThat(told.retryAtMs()).isEqualTo(context.nowMs + RetryAt.SOONEST_MS);
  }

  @Test
  void shouldNotSayPausedToWhoseTurnDidNotCome() {
    // given
    EngineContext context = EngineContext.with(definition(State.ACTIVE, 10));
    context.ask("r1", "a1", 10);
    context.ask(
        Asking.like(EngineContext.request("r2", "a2", 10, 0))
            .deadlineMs(context.nowMs + 5_000)
            .request());

    // when
    LeaseRejected rejected = only(context.sleep(6_000), LeaseRejected.class);

    // then
    assertThat(rejected.reason()).isEqualTo(RejectReason.DEADLINE_PASSED);
    assertThat(rejected.detail())
        .contains("until its deadline, before its turn came")
        .doesNotContain("paused");
  }

  @Test
  void shouldTellAnEtaOnceWhereTimeAloneLetsNobodyGo() {
    // given: a paused quota, and one whose only slot is taken; both have all their tokens
    EngineContext paused =
        EngineContext.with(
            Redefined.like(EngineContext.quota(tokens(60_000), null))
                .state(State.PAUSED)
                .definition());
    EngineContext taken =
        EngineContext.with(
            EngineContext.quota(
                tokens(60_000).with(Dimension.CONCURRENT_REQUESTS, 1), tokens(59_000)));
    taken.ask("r0", "a1", 0);

    for (EngineContext context : List.of(paused, taken)) {
      // when: the second waits for 11 s of refill behind the first, once the first may go
      context.ask("r1", "a1", 30_000);
      LeaseQueued told = only(context.ask("r2", "a2", 40_000), LeaseQueued.class);

      // then
      assertThat(told.etaMs()).isEqualTo(11_000);
      assertThat(context.sleep(110_000)).noneMatch(EtaRevised.class::isInstance);
    }
  }

  @Test
  void shouldTellAgainHowMuchIsLeftToWaitAfterAPause() {
    // given: a paused quota whose bucket is empty
    EngineContext context =
        EngineContext.with(
            Redefined.like(EngineContext.quota(tokens(60_000), tokens(0)))
                .state(State.PAUSED)
                .definition());
    LeaseQueued told = only(context.ask("r1", "a1", 20_000), LeaseQueued.class);

    // when
    List<Event> meanwhile = context.sleep(100_000);

    // then
    assertThat(told.etaMs()).isEqualTo(20_000);
    assertThat(only(meanwhile, EtaRevised.class).etaMs()).isZero();
  }

  @Test
  void shouldAnswerACancelledRequestThatIsSentAgain() {
    // given
    EngineContext context = EngineContext.with(tokens(60), tokens(0));
    context.ask("r1", "a1", 50);
    cancel(context, "r1");

    // when
    List<Event> again = context.ask("r1", "a1", 50);
    List<Event> other = context.ask("r1", "a1", 40);

    // then
    LeaseRejected told = (LeaseRejected) only(again, DecisionRepeated.class).decision();
    assertThat(told.reason()).isEqualTo(RejectReason.ALREADY_SETTLED);
    assertThat(told.detail()).contains("cancelled").contains("new id");
    assertThat(told.retryAtMs()).isNull();
    assertThat(only(other, LeaseRejected.class).reason()).isEqualTo(RejectReason.INVALID);
    assertThat(context.show().waiting()).isZero();
  }

  @Test
  void shouldIgnoreARequestThatItsCancelOvertook() {
    // given
    EngineContext context = EngineContext.with(tokens(60), tokens(0));
    assertThat(only(cancel(context, "r1"), LeaseCancelled.class).wasWaiting()).isFalse();

    // when
    List<Event> arrived = context.ask("r1", "a1", 50);

    // then
    assertThat(arrived).hasSize(1);
    only(arrived, RequestIgnored.class);
  }

  private static List<Event> cancel(EngineContext context, String requestId) {
    return context.submit(
        new Command.SettleLease(EngineContext.cancel(requestId, "a1"), context.nowMs));
  }

  private static QuotaDefinition definition(State state, int queueMax) {
    QuotaDefinition d = EngineContext.quota(SLOT, null);
    return new QuotaDefinition(
        d.id(),
        d.provider(),
        d.preset(),
        d.models(),
        d.also(),
        d.window(),
        d.limits(),
        d.depth(),
        d.level(),
        d.margin(),
        d.leaseTtlMs(),
        d.maxQueueWaitMs(),
        d.outputReservation(),
        d.defaultEstimate(),
        d.outputBurndown(),
        d.cacheReadsCount(),
        d.lateSettlementWindowMs(),
        queueMax,
        d.queueMaxPerAgent(),
        d.budgets(),
        d.classes(),
        d.tenants(),
        d.roles(),
        null,
        state,
        d.clearCount());
  }
}
