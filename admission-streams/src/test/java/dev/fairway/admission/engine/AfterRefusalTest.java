package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.DuplicateIgnored;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What becomes of who waits, and of the call itself, when a provider refuses. */
class AfterRefusalTest {
  private final EngineContext context = EngineContext.with(tokens(60_000), tokens(1_000));

  @Test
  void shouldRejectWhoWaitsWhenTheHoldIsLongerThanAnybodyIsPromised() {
    // given
    LeaseGranted lease = granted("r1", 1_000);
    context.ask("waits", "a2", 20_000);

    // when
    List<Event> refused = refused(lease, Kind.RATE_LIMITED, 171_000L, false);

    // then
    LeaseRejected rejected = only(refused, LeaseRejected.class);
    assertThat(rejected.requestId()).isEqualTo("waits");
    assertThat(rejected.reason()).isEqualTo(RejectReason.QUOTA_EXHAUSTED);
    assertThat(rejected.detail()).contains("for another 171000 ms").doesNotContain("key");
    assertThat(rejected.retryAtMs()).isEqualTo(context.nowMs + 171_000);
    assertThat(rejected.keptTag()).isNotNull();
  }

  @Test
  void shouldRejectWhoWaitsUntilTheResetOrForAsLongAsNobodyClearsIt() {
    for (Kind kind : List.of(Kind.QUOTA_EXHAUSTED, Kind.DAILY_QUOTA, Kind.BILLING)) {
      // given
      EngineContext fresh = EngineContext.with(tokens(60_000), tokens(1_000));
      LeaseGranted lease = only(fresh.ask("r1", "a1", 1_000), LeaseGranted.class);
      fresh.ask("waits", "a2", 20_000);

      // when
      List<Event> refused = refused(fresh, lease, kind, null, false);

      // then
      LeaseRejected rejected = only(refused, LeaseRejected.class);
      assertThat(rejected.reason()).isEqualTo(RejectReason.QUOTA_EXHAUSTED);
      assertThat(rejected.retryAtMs()).isNull();
    }
  }

  @Test
  void shouldRejectWhoWaitsInEveryQuotaOfAKeyThatIsNotPaidFor() {
    // given
    QuotaDefinition other =
        Redefined.like(EngineContext.quota(tokens(60_000), tokens(0))).id("k/other").definition();
    context.submit(new Command.DefineQuota(other, EngineContext.SALT));
    LeaseGranted lease = granted("r1", 1_000);
    context.submit(new Command.RequestLease(to("k/other", "w1", 500), context.nowMs));
    context.ask("w2", "a2", 500);

    // when
    List<Event> refused = refused(lease, Kind.BILLING, null, false);

    // then
    assertThat(refused)
        .filteredOn(LeaseRejected.class::isInstance)
        .extracting(e -> ((LeaseRejected) e).requestId())
        .containsExactlyInAnyOrder("w1", "w2");
  }

  @Test
  void shouldNameTheQuotaThatIsNotPaidFor() {
    // given: a quota that takes from another, and both are held
    EngineContext both = OrderContext.quota().full().takingFrom("k/s").start();
    OrderContext.quota().named("k/s").full().defineIn(both);
    LeaseGranted lease = only(both.ask("r1", "a1", 1_000), LeaseGranted.class);
    both.settle(
        lease.leaseId(), "a1", Outcome.RATE_LIMITED, null, null, s -> with(s, Kind.BILLING));

    // when: one of them is cleared
    QuotaDefinition cleared =
        Redefined.like(OrderContext.quota().full().takingFrom("k/s").definition())
            .cleared()
            .definition();
    both.submit(new Command.DefineQuota(cleared, EngineContext.SALT));

    // then: the other one is named
    LeaseRejected rejected = only(both.ask("r2", "a1", 1_000), LeaseRejected.class);
    assertThat(rejected.reason()).isEqualTo(RejectReason.QUOTA_EXHAUSTED);
    assertThat(rejected.detail()).contains("'k/s'").contains("BILLING").contains("clear");
  }

  private static Settlement with(Settlement s, Kind kind) {
    return new Settlement(
        s.leaseId(),
        s.requestId(),
        s.agentId(),
        s.quotaId(),
        s.outcome(),
        s.usage(),
        s.requeue(),
        new Signal(429, kind, null, null, 0L, null, Map.of()));
  }

  @Test
  void shouldRejectALongQueueInCommandsOfBoundedSize() {
    // given
    LeaseGranted lease = granted("r1", 1_000);
    for (int i = 0; i < 1_200; i++) {
      context.ask("w" + i, "a" + i % 10, 40);
    }
    int waiting = context.engine.show("k/q", context.nowMs).waiting();

    // when
    List<Event> refused = refused(lease, Kind.RATE_LIMITED, 90_000L, false);
    long dueMs = context.engine.nextDeadlineMs();
    int from = context.journal.size();
    context.sleep(0);

    // then
    assertThat(waiting).isGreaterThan(1_100);
    assertThat(refused).hasSizeLessThanOrEqualTo(510);
    assertThat(dueMs).isLessThanOrEqualTo(context.nowMs);
    assertThat(context.journal.subList(from, context.journal.size()))
        .allMatch(handled -> handled.events().size() <= 510);
    assertThat(context.engine.show("k/q", context.nowMs).waiting()).isZero();
    assertThat(context.engine.nextDeadlineMs()).isGreaterThan(context.nowMs);
  }

  @Test
  void shouldPutTheCallBackInLineByItself() {
    // given
    LeaseGranted first = granted("r1", 900);
    Waiter before = enqueued("r1");
    context.sleep(500);

    // when
    List<Event> refused = refused(first, Kind.RATE_LIMITED, 2_000L, true);
    List<Event> again = context.ask("r1", "a1", 900);
    LeaseGranted second = only(context.sleep(2_000), LeaseGranted.class);

    // then
    Waiter waiter = only(refused, LeaseEnqueued.class).waiter();
    assertThat(waiter.attempt()).isEqualTo(2);
    assertThat(waiter.startTag()).isEqualTo(before.startTag());
    assertThat(waiter.deadlineMs()).isEqualTo(before.deadlineMs());
    assertThat(only(refused, LeaseQueued.class).etaMs()).isEqualTo(2_000);
    assertThat(only(again, DecisionRepeated.class).decision()).isInstanceOf(LeaseQueued.class);
    assertThat(second.requestId()).isEqualTo("r1");
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.leaseId()).isNotEqualTo(first.leaseId());
  }

  @Test
  void shouldNeverRefundOrRequeueARefusalTwice() {
    // given
    LeaseGranted first = granted("r1", 900);
    refused(first, Kind.RATE_LIMITED, 2_000L, true);
    long level = context.level(Dimension.TOKENS);

    // when: the same settlement again, another one, then both once more after the next grant
    List<Event> later = new ArrayList<>(refused(first, Kind.RATE_LIMITED, 2_000L, true));
    later.addAll(context.settle(first.leaseId(), "a1", Outcome.SUCCEEDED, 5L, 0L));
    long unchanged = context.level(Dimension.TOKENS);
    LeaseGranted second = only(context.sleep(2_000), LeaseGranted.class);
    later.addAll(refused(first, Kind.RATE_LIMITED, 2_000L, true));
    context.sleep(70_000);
    List<Event> afterSweep = refused(first, Kind.RATE_LIMITED, 2_000L, true);
    List<Event> settled = context.settle(second.leaseId(), "a1", Outcome.SUCCEEDED, 900L, 0L);

    // then
    assertThat(later).hasSize(3).allMatch(DuplicateIgnored.class::isInstance);
    assertThat(unchanged).isEqualTo(level);
    assertThat(afterSweep).hasSize(1).noneMatch(LeaseSettled.class::isInstance);
    assertThat(only(settled, LeaseSettled.class).adjusted()).isEqualTo(tokens(0));
  }

  @Test
  void shouldNotRepeatACallThatIsTooLarge() {
    // given
    LeaseGranted lease = granted("r1", 900);

    // when
    List<Event> refused = refused(lease, Kind.NEVER_FITS, null, true);

    // then
    assertThat(only(refused, LeaseRejected.class).reason()).isEqualTo(RejectReason.NEVER_FITS);
    assertThat(refused).noneMatch(LeaseEnqueued.class::isInstance);
  }

  @Test
  void shouldLeaveAnIdThatCameAgainAlone() {
    // given: a lease that may still be settled late when its id is forgotten and comes again
    QuotaDefinition definition = EngineContext.quota(tokens(60_000), tokens(1_000));
    EngineContext patient =
        EngineContext.with(Redefined.like(definition).lateWindowMs(3_600_000L).definition());
    LeaseGranted old = only(patient.ask("r1", "a1", 900), LeaseGranted.class);
    patient.sleep(120_000 + 600_001);
    LeaseGranted now = only(patient.ask("r1", "a1", 800), LeaseGranted.class);

    // when
    List<Event> late = refused(patient, old, Kind.RATE_LIMITED, null, true);

    // then
    assertThat(only(late, LeaseSettled.class).late()).isTrue();
    assertThat(late).noneMatch(LeaseEnqueued.class::isInstance);
    only(patient.settle(now.leaseId(), "a1", Outcome.SUCCEEDED, 800L, 0L), LeaseSettled.class);
  }

  @Test
  void shouldWaitForTheLaterResetOfWhatIsExhausted() {
    // given
    EngineContext two =
        EngineContext.with(
            Amounts.of(Dimension.REQUESTS, 100).with(Dimension.TOKENS, 60_000),
            Amounts.of(Dimension.REQUESTS, 50).with(Dimension.TOKENS, 1_000));
    LeaseGranted lease = only(two.ask("r1", "a1", 900), LeaseGranted.class);
    Signal signal =
        new Signal(
            429,
            Kind.RATE_LIMITED,
            null,
            null,
            0L,
            null,
            Map.of(
                Dimension.REQUESTS, new Reading(100L, 0L, 4_000L),
                Dimension.TOKENS, new Reading(60_000L, 0L, 7_000L)));

    // when
    two.settle(
        lease.leaseId(), "a1", Outcome.RATE_LIMITED, null, null, s -> with(s, signal, false));
    LeaseQueued queued = only(two.ask("r2", "a2", 10), LeaseQueued.class);

    // then
    assertThat(queued.etaMs()).isEqualTo(7_000);
  }

  private LeaseGranted granted(String id, long input) {
    return only(context.ask(id, "a1", input), LeaseGranted.class);
  }

  private Waiter enqueued(String id) {
    return context.journal.stream()
        .flatMap(handled -> handled.events().stream())
        .filter(LeaseEnqueued.class::isInstance)
        .map(e -> ((LeaseEnqueued) e).waiter())
        .filter(waiter -> waiter.request().requestId().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private List<Event> refused(LeaseGranted lease, Kind kind, Long retryAfterMs, boolean requeue) {
    return refused(context, lease, kind, retryAfterMs, requeue);
  }

  private static List<Event> refused(
      EngineContext context, LeaseGranted lease, Kind kind, Long retryAfterMs, boolean requeue) {
    Signal signal = new Signal(429, kind, null, retryAfterMs, 0L, null, Map.of());
    return context.settle(
        lease.leaseId(),
        lease.agentId(),
        Outcome.RATE_LIMITED,
        null,
        null,
        s -> with(s, signal, requeue));
  }

  private static Settlement with(Settlement s, Signal signal, boolean requeue) {
    return new Settlement(
        s.leaseId(),
        s.requestId(),
        s.agentId(),
        s.quotaId(),
        s.outcome(),
        s.usage(),
        requeue,
        signal);
  }

  private static LeaseRequest to(String quotaId, String id, long input) {
    return Asking.like(EngineContext.request(id, "a1", input, 0)).of(quotaId).request();
  }
}
