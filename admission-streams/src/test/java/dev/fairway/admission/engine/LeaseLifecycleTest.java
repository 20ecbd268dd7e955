package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.DuplicateIgnored;
import dev.fairway.admission.engine.Event.LeaseCancelled;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.RequestIgnored;
import dev.fairway.admission.engine.Event.SettlementIgnored;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class LeaseLifecycleTest {

  @Test
  void shouldRefundEverythingForACallThatWasNeverSent() {
    // given
    EngineContext context =
        EngineContext.with(
            tokens(600).with(Dimension.REQUESTS, 10), tokens(500).with(Dimension.REQUESTS, 5));
    String lease = granted(context.ask("r1", "a1", 400));

    // when
    List<Event> settled = context.settle(lease, "a1", Outcome.NOT_SENT, null, null);

    // then
    assertThat(only(settled, LeaseSettled.class).adjusted())
        .isEqualTo(tokens(400).with(Dimension.REQUESTS, 1));
  }

  @Test
  void shouldRefundNothingWhereUsageIsUnknownAfterSending() {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    String lease = granted(context.ask("r1", "a1", 400));

    // when
    List<Event> settled = context.settle(lease, "a1", Outcome.FAILED_AFTER_SEND, null, null);

    // then
    assertThat(only(settled, LeaseSettled.class).adjusted()).isEqualTo(tokens(0));
  }

  @Test
  void shouldSetTheInputOnceAtStreamStartAndRenewTheLease() {
    // given
    EngineContext context =
        EngineContext.with(
            Amounts.of(Dimension.INPUT_TOKENS, 6000).with(Dimension.OUTPUT_TOKENS, 6000), null);
    String lease = granted(context.ask(EngineContext.request("r1", "a1", 1000, 500)));
    context.sleep(100_000);

    // when
    List<Event> interim = context.settle(lease, "a1", Outcome.IN_PROGRESS, 900L, null);
    List<Event> again = context.settle(lease, "a1", Outcome.IN_PROGRESS, 5L, null);
    context.sleep(119_999);
    List<Event> done = context.settle(lease, "a1", Outcome.SUCCEEDED, 900L, 200L);

    // then
    assertThat(only(interim, LeaseRenewed.class).adjusted().get(Dimension.INPUT_TOKENS))
        .isEqualTo(100);
    assertThat(only(again, LeaseRenewed.class).adjusted()).isEqualTo(Amounts.NONE);
    assertThat(only(done, LeaseSettled.class).adjusted())
        .isEqualTo(Amounts.of(Dimension.INPUT_TOKENS, 0).with(Dimension.OUTPUT_TOKENS, 300));
  }

  @Test
  void shouldReconcileALateSettlementOnceWithinItsWindow() {
    // given
    EngineContext context = EngineContext.with(tokens(60), tokens(50));
    String lease = granted(context.ask("r1", "a1", 50));
    context.sleep(120_000);

    // when
    List<Event> late = context.settle(lease, "a1", Outcome.SUCCEEDED, 70L, 0L);
    List<Event> second = context.settle(lease, "a1", Outcome.SUCCEEDED, 0L, 0L);

    // then
    assertThat(only(late, LeaseSettled.class).late()).isTrue();
    assertThat(only(late, LeaseSettled.class).adjusted()).isEqualTo(tokens(-20));
    only(second, DuplicateIgnored.class);
  }

  @Test
  void shouldIgnoreALateSettlementAfterItsWindowAndUnderSeedAlways() {
    // given
    EngineContext fairway = EngineContext.with(tokens(600), tokens(500));
    EngineContext seed = EngineContext.with(seed(tokens(600)));
    String first = granted(fairway.ask("r1", "a1", 50));
    String second = granted(seed.ask("r1", "a1", 50));
    fairway.sleep(120_000 + 600_001);
    seed.sleep(120_001);

    // when
    List<Event> tooLate = fairway.settle(first, "a1", Outcome.SUCCEEDED, 0L, 0L);
    List<Event> underSeed = seed.settle(second, "a1", Outcome.SUCCEEDED, 0L, 0L);

    // then
    only(tooLate, SettlementIgnored.class);
    assertThat(only(underSeed, SettlementIgnored.class).reason()).isEqualTo("LEASE_EXPIRED");
  }

  @Test
  void shouldIgnoreASettlementByAnotherAgent() {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    String lease = granted(context.ask("r1", "a1", 400));

    // when
    List<Event> foreign = context.settle(lease, "a2", Outcome.NOT_SENT, null, null);

    // then
    assertThat(only(foreign, SettlementIgnored.class).reason()).isEqualTo("NOT_AUTHORISED");
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(100);
  }

  @Test
  void shouldLetACancelledRequestLeaveTheQueueAndACancelOvertakeItsRequest() {
    // given
    EngineContext context = EngineContext.with(tokens(60), tokens(0));
    context.ask("r1", "a1", 50);

    // when
    List<Event> left = cancel(context, "r1");
    List<Event> overtook = cancel(context, "r2");
    List<Event> arrived = context.ask("r2", "a1", 10);

    // then
    assertThat(only(left, LeaseCancelled.class).wasWaiting()).isTrue();
    assertThat(only(overtook, LeaseCancelled.class).wasWaiting()).isFalse();
    assertThat(arrived).hasSize(1);
    only(arrived, RequestIgnored.class);
    assertThat(context.sleep(60_000)).isEmpty();
  }

  @Test
  void shouldTakeACancelThatTheGrantOvertookForNotSent() {
    // given
    EngineContext context = EngineContext.with(tokens(60), tokens(50));
    granted(context.ask("r1", "a1", 50));

    // when
    List<Event> settled = cancel(context, "r1");

    // then
    assertThat(only(settled, LeaseSettled.class).outcome()).isEqualTo(Outcome.NOT_SENT);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(50);
  }

  @Test
  void shouldPutARefusedCallBackInLineAsItsNextAttempt() {
    // given
    EngineContext context = EngineContext.with(tokens(60_000), tokens(50_000));
    LeaseGranted first = only(context.ask("r1", "a1", 400), LeaseGranted.class);

    // when
    List<Event> requeued =
        context.settle(
            first.leaseId(),
            "a1",
            Outcome.RATE_LIMITED,
            null,
            null,
            s ->
                new Settlement(
                    s.leaseId(),
                    null,
                    "a1",
                    s.quotaId(),
                    s.outcome(),
                    null,
                    true,
                    new Signal(429, null, null, 2_000L, 0L, null, java.util.Map.of())));
    List<Event> later = context.sleep(2_000);

    // then
    only(requeued, LeaseEnqueued.class);
    assertThat(only(requeued, LeaseQueued.class).etaMs()).isEqualTo(2_000);
    LeaseGranted second = only(later, LeaseGranted.class);
    assertThat(second.requestId()).isEqualTo("r1");
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.leaseId()).isNotEqualTo(first.leaseId());
  }

  @Test
  void shouldLetARejectedRequestComeBackAtItsOldPlaceOnce() {
    // given: a wait that is too long for the next one, and others who come in meanwhile
    EngineContext context = EngineContext.with(tokens(60), tokens(0));
    context.ask("first", "a1", 25);
    context.ask("second", "a4", 25);
    LeaseRejected rejected = only(context.ask("r1", "a2", 28), LeaseRejected.class);
    context.sleep(58_000);
    context.ask("other", "a3", 20);

    // when
    List<Event> back = context.ask(retry("r2", "a2", "r1"));
    List<Event> again = context.ask(retry("r3", "a2", "r1"));

    // then
    assertThat(rejected.reason()).isEqualTo(RejectReason.QUEUE_WAIT_TOO_LONG);
    assertThat(only(back, LeaseEnqueued.class).waiter().startTag()).isEqualTo(rejected.keptTag());
    assertThat(only(again, LeaseEnqueued.class).waiter().startTag())
        .isGreaterThan(rejected.keptTag());
  }

  @Test
  void shouldChargeTheCachedPrefixOnlyWhereTheCacheIsColdAtTheGrant() {
    // given
    EngineContext context = EngineContext.with(tokens(6_000), tokens(0));
    Estimate warm = new Estimate(1_000L, 500, context.nowMs + 5_000, 0L, "");

    // when: it waits until its cache has gone
    List<Event> queued = context.ask(with(EngineContext.request("r1", "a1", 0, 0), warm));
    List<Event> later = context.sleep(30_000);

    // then
    assertThat(only(queued, LeaseQueued.class).etaMs()).isEqualTo(10_000);
    LeaseGranted granted = only(later, LeaseGranted.class);
    assertThat(granted.coldCache()).isTrue();
    assertThat(granted.charged()).isEqualTo(tokens(1_500));
    assertThat(granted.grantedAtMs()).isEqualTo(1_000_000 + 15_000);
  }

  @Test
  void shouldChargeTheDefaultEstimateForAMissingOneAndNothingForAZero() {
    // given
    EngineContext context = EngineContext.with(tokens(10_000), tokens(10_000));
    Estimate missing = new Estimate(null, 0, null, null, "");

    // when
    List<Event> unknown = context.ask(with(EngineContext.request("r1", "a1", 0, 0), missing));
    List<Event> zero = context.ask("r2", "a1", 0);

    // then
    assertThat(only(unknown, LeaseGranted.class).charged()).isEqualTo(tokens(2_000));
    assertThat(only(zero, LeaseGranted.class).charged()).isEqualTo(tokens(0));
  }

  @Test
  void shouldChargeACallMadeWithoutALeaseOnce() {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    UnaryOperator<Settlement> unleased =
        s ->
            new Settlement(
                null,
                "u1",
                "a1",
                s.quotaId(),
                Outcome.UNLEASED,
                new Usage(700L, null, null, 50L, true),
                false,
                null);

    // when
    List<Event> first = context.settle(null, "a1", Outcome.UNLEASED, null, null, unleased);
    List<Event> second = context.settle(null, "a1", Outcome.UNLEASED, null, null, unleased);

    // then
    assertThat(only(first, UnleasedCharged.class).charged()).isEqualTo(tokens(750));
    only(second, DuplicateIgnored.class);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(-250);
  }

  @Test
  void shouldSpendTwelveCallsATaskUnderSeedAndGiveBackWhatWasNotSent() {
    // given
    EngineContext context = EngineContext.with(seed(tokens(60_000)));
    String last = null;
    for (int i = 0; i < 12; i++) {
      last = granted(context.ask(ofTask("r" + i)));
    }

    // when
    List<Event> thirteenth = context.ask(ofTask("r12"));
    context.settle(last, "a1", Outcome.NOT_SENT, null, null);
    List<Event> afterwards = context.ask(ofTask("r13"));

    // then
    assertThat(only(thirteenth, LeaseRejected.class).reason()).isEqualTo(RejectReason.BUDGET_SPENT);
    only(afterwards, LeaseGranted.class);
  }

  private static String granted(List<Event> events) {
    return only(events, LeaseGranted.class).leaseId();
  }

  private static List<Event> cancel(EngineContext context, String requestId) {
    return context.settle(
        null,
        "a1",
        Outcome.CANCELLED,
        null,
        null,
        s -> new Settlement(null, requestId, "a1", s.quotaId(), s.outcome(), null, false, null));
  }

  private static LeaseRequest retry(String id, String agent, String retryOf) {
    return Asking.like(EngineContext.request(id, agent, 5, 0)).retryOf(retryOf).request();
  }

  private static LeaseRequest with(LeaseRequest r, Estimate estimate) {
    return Asking.like(r).estimate(estimate).request();
  }

  private static LeaseRequest ofTask(String id) {
    return Asking.like(EngineContext.request(id, "a1", 10, 0)).task("task-1").request();
  }

  private static QuotaDefinition seed(Amounts limits) {
    return Redefined.like(EngineContext.quota(limits, null))
        .preset(Preset.SEED)
        .withoutMargin()
        .definition();
  }
}
