package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.DuplicateIgnored;
import dev.fairway.admission.engine.Event.LeaseCancelled;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.QuotaDefined;
import dev.fairway.admission.engine.Event.RequestIgnored;
import dev.fairway.admission.engine.Event.SettlementIgnored;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.CallTokens;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  @Test
  void shouldGrantNothingWhilePausedAndTakeNothingNewWhileDraining() {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    context.submit(new Command.DefineQuota(in(State.PAUSED), EngineContext.SALT));
    List<Event> paused = context.ask("r1", "a1", 10);

    // when
    List<Event> resumed =
        context.submit(new Command.DefineQuota(in(State.DRAINING), EngineContext.SALT));
    List<Event> next = context.ask("r2", "a1", 10);

    // then
    only(paused, LeaseQueued.class);
    only(resumed, QuotaDefined.class);
    assertThat(only(resumed, LeaseGranted.class).requestId()).isEqualTo("r1");
    assertThat(only(next, LeaseRejected.class).reason()).isEqualTo(RejectReason.QUOTA_DRAINING);
  }

  @Test
  void shouldSettleALeaseThatHoldsADimensionWhichIsNoLongerLimited() {
    // given
    Amounts both = Amounts.of(Dimension.INPUT_TOKENS, 6000).with(Dimension.OUTPUT_TOKENS, 3000);
    EngineContext context = EngineContext.with(both, null);
    String lease = granted(context.ask(EngineContext.request("r1", "a1", 10, 5)));
    context.submit(
        new Command.DefineQuota(
            EngineContext.quota(Amounts.of(Dimension.INPUT_TOKENS, 6000), null),
            EngineContext.SALT));

    // when
    List<Event> settled = context.settle(lease, "a1", Outcome.SUCCEEDED, 1L, 0L);

    // then
    assertThat(only(settled, LeaseSettled.class).adjusted().get(Dimension.INPUT_TOKENS))
        .isEqualTo(9);
  }

  @Test
  void shouldCountTheSlotsOfOpenLeasesWhereConcurrencyIsLimitedAgain() {
    // given
    Amounts slots = tokens(6000).with(Dimension.CONCURRENT_REQUESTS, 1);
    EngineContext context = EngineContext.with(slots, null);
    String lease = granted(context.ask("r1", "a1", 10));
    context.submit(
        new Command.DefineQuota(EngineContext.quota(tokens(6000), null), EngineContext.SALT));

    // when
    context.submit(new Command.DefineQuota(EngineContext.quota(slots, null), EngineContext.SALT));
    long whileOpen = context.level(Dimension.CONCURRENT_REQUESTS);
    context.settle(lease, "a1", Outcome.SUCCEEDED, 10L, 0L);

    // then
    assertThat(whileOpen).isZero();
    assertThat(context.level(Dimension.CONCURRENT_REQUESTS)).isEqualTo(1);
  }

  @Test
  void shouldCountLeasesThatWereGrantedBeforeConcurrencyWasLimited() {
    // given
    EngineContext context = EngineContext.with(tokens(6000), null);
    String lease = granted(context.ask("r1", "a1", 10));

    // when
    context.submit(
        new Command.DefineQuota(
            EngineContext.quota(tokens(6000).with(Dimension.CONCURRENT_REQUESTS, 1), null),
            EngineContext.SALT));
    List<Event> second = context.ask("r2", "a1", 10);
    List<Event> settled = context.settle(lease, "a1", Outcome.SUCCEEDED, 10L, 0L);

    // then
    only(second, LeaseQueued.class);
    assertThat(only(settled, LeaseGranted.class).requestId()).isEqualTo("r2");
  }

  @Test
  void shouldNotTakeAnEmptyBucketForAFullOneWhereItsCapIsBelowOne() {
    // given
    EngineContext context = EngineContext.with(Amounts.of(Dimension.REQUESTS, 1), null);
    String lease = granted(context.ask("r1", "a1", 1));
    context.ask("r2", "a2", 1);

    // when
    List<Event> refused = context.settle(lease, "a1", Outcome.RATE_LIMITED, null, null);
    List<Event> soon = context.sleep(60_000);

    // then
    assertThat(refused).noneMatch(LeaseGranted.class::isInstance);
    assertThat(soon).noneMatch(LeaseGranted.class::isInstance);
    only(context.sleep(5_000), LeaseGranted.class);
  }

  @Test
  void shouldChangeNothingWhereTheSameDefinitionComesAgain() {
    // given
    QuotaDefinition definition = EngineContext.quota(tokens(600), tokens(500));
    EngineContext context = EngineContext.with(definition);
    context.ask("r1", "a1", 400);

    // when
    List<Event> again = context.submit(new Command.DefineQuota(definition, EngineContext.SALT));

    // then
    assertThat(again).isEmpty();
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(100);
  }

  @Test
  void shouldRejectWhoWaitsWhenTheQuotaIsRemovedAndForgetItOnceItsLeasesEnded() {
    // given
    EngineContext context = EngineContext.with(tokens(60), tokens(50));
    String lease = granted(context.ask("r1", "a1", 50));
    context.ask("r2", "a2", 40);

    // when
    context.submit(new Command.RemoveQuota(EngineContext.QUOTA));
    List<Event> removed = context.sleep(1);
    context.settle(lease, "a1", Outcome.SUCCEEDED, 50L, 0L);
    context.sleep(60_000);
    List<Event> unknown = context.ask("r3", "a1", 10);

    // then
    assertThat(only(removed, LeaseRejected.class).requestId()).isEqualTo("r2");
    assertThat(only(unknown, LeaseRejected.class).reason()).isEqualTo(RejectReason.UNKNOWN_QUOTA);
    assertThat(context.engine.quotaIds(EngineContext.KEY)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, CallTokens.MOST + 1, 1L << 62})
  void shouldRejectAbsurdTokensAndTellWhy(long tokens) {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));

    // when
    List<Event> answered = context.ask("r1", "a1", tokens);

    // then
    assertThat(only(answered, LeaseRejected.class).reason()).isEqualTo(RejectReason.INVALID);
    assertThat(only(answered, LeaseRejected.class).detail())
        .contains("Expected input_tokens from 0 to", String.valueOf(tokens));
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(500);
  }

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"SUCCEEDED", "UNLEASED"})
  void shouldRefuseAnAbsurdUsageReport(Outcome outcome) {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    String lease = granted(context.ask("r1", "a1", 10));
    Settlement report =
        new Settlement(
            lease,
            "r2",
            "a1",
            EngineContext.QUOTA,
            outcome,
            new Settlement.Usage(CallTokens.MOST, 0L, 0L, CallTokens.MOST + 1, true),
            false,
            null);

    // when
    Command command = new Command.SettleLease(report, context.nowMs);

    // then
    assertThatThrownBy(() -> context.submit(command))
        .isInstanceOf(InvalidCommandException.class)
        .hasMessage("Expected usage.output_tokens from 0 to 100000000, but found 100000001");
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(490);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a/b", "ä", "a b"})
  void shouldRejectAnAgentsBadIdsAndRefuseABadAgent(String id) {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));

    // when
    LeaseRejected told = only(context.ask(id, "a1", 10), LeaseRejected.class);

    // then
    assertThat(told.reason()).isEqualTo(RejectReason.INVALID);
    assertThat(told.detail()).contains("Expected a request_id");
    assertThat(told.requestId()).isEqualTo(id);
    assertThatThrownBy(() -> context.ask("r1", id, 10))
        .isInstanceOf(InvalidCommandException.class)
        .hasMessageContaining("Expected an agent_id");
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(500);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 4_102_444_800_000L})
  void shouldRejectADeadlineBeforeTheEpochOrInTheYear2100(long deadlineMs) {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    LeaseRequest r = EngineContext.request("r1", "a1", 10, 0);

    // when
    List<Event> answered =
        context.ask(
            new LeaseRequest(
                r.requestId(),
                r.agentId(),
                r.quotaId(),
                null,
                r.role(),
                r.leaseClass(),
                null,
                0,
                null,
                r.estimate(),
                null,
                deadlineMs,
                null,
                null));

    // then
    assertThat(only(answered, LeaseRejected.class).reason()).isEqualTo(RejectReason.INVALID);
  }

  @Test
  void shouldRejectAStaleRequestUnlessItIsKnown() {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    LeaseRequest known = EngineContext.request("r1", "a1", 10, 0);
    LeaseRequest unknown = EngineContext.request("r2", "a1", 10, 0);
    context.ask(known);
    long old = context.nowMs - 600_001;

    // when
    List<Event> repeated = context.submit(new Command.RequestLease(known, old));
    List<Event> stale = context.submit(new Command.RequestLease(unknown, old));

    // then
    only(repeated, DecisionRepeated.class);
    assertThat(only(stale, LeaseRejected.class).reason()).isEqualTo(RejectReason.STALE);
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
    LeaseRequest r = EngineContext.request(id, agent, 5, 0);
    return new LeaseRequest(
        id,
        agent,
        r.quotaId(),
        null,
        r.role(),
        r.leaseClass(),
        retryOf,
        0,
        null,
        r.estimate(),
        null,
        null,
        null,
        null);
  }

  private static LeaseRequest with(LeaseRequest r, Estimate estimate) {
    return new LeaseRequest(
        r.requestId(),
        r.agentId(),
        r.quotaId(),
        null,
        r.role(),
        r.leaseClass(),
        null,
        0,
        null,
        estimate,
        null,
        null,
        null,
        null);
  }

  private static LeaseRequest ofTask(String id) {
    LeaseRequest r = EngineContext.request(id, "a1", 10, 0);
    return new LeaseRequest(
        id,
        "a1",
        r.quotaId(),
        "task-1",
        r.role(),
        r.leaseClass(),
        null,
        0,
        null,
        r.estimate(),
        null,
        null,
        null,
        null);
  }

  private static QuotaDefinition seed(Amounts limits) {
    return Redefined.like(EngineContext.quota(limits, null))
        .preset(Preset.SEED)
        .withoutMargin()
        .definition();
  }

  private static QuotaDefinition in(State state) {
    return Redefined.like(EngineContext.quota(tokens(600), tokens(500))).state(state).definition();
  }
}
