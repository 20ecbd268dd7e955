package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.tenant;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.DuplicateIgnored;
import dev.fairway.admission.engine.Event.LeaseCancelled;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What agents tell of their calls, on the way, at the end, and of calls without a lease. */
class ToldUseTest {
  private static final long LIMIT = 60_000;

  private final EngineContext context = EngineContext.with(limits(), null);

  // ---- on the way

  @Test
  void shouldChargeWhatWasToldOfACallThatIsCancelledOnItsWay() {
    // given
    String lease = granted("r1", 1_000, 500);
    context.settle(lease, "a1", Outcome.IN_PROGRESS, 900L, 10L);
    context.settle(lease, "a1", Outcome.IN_PROGRESS, null, 700L);

    // when
    List<Event> cancelled = cancel("r1");
    List<Event> next = context.ask(EngineContext.request("r2", "a1", 1, 0));

    // then: nobody has to retry what was not wanted any more
    LeaseSettled settled = only(cancelled, LeaseSettled.class);
    assertThat(settled.outcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(settled.actual()).isEqualTo(amounts(900, 700));
    assertThat(settled.adjusted()).isEqualTo(amounts(0, -200));
    assertThat(only(next, LeaseEnqueued.class).waiter().attempt()).isEqualTo(1);
    assertThat(context.level(Dimension.INPUT_TOKENS)).isEqualTo(cap() - 901);
  }

  @Test
  void shouldTakeAnEndAsNeverSentForAFailureWhereACallIsKnownToHaveBeenSent() {
    // given: told the input, answered with headers, and a mere renewal that tells when it was sent
    String told = granted("r1", 1_000, 500);
    String answered = granted("r2", 1_000, 500);
    String renewed = granted("r3", 1_000, 500);
    context.settle(told, "a1", Outcome.IN_PROGRESS, 900L, null);
    interim(answered, new Signal(200, Kind.OK, null, null, 0L, 10L, Map.of()));
    interim(renewed, new Signal(null, null, null, null, null, 10L, Map.of()));

    // when
    LeaseSettled afterTold = notSent(told);
    LeaseSettled afterAnswer = notSent(answered);
    LeaseSettled afterRenewal = notSent(renewed);

    // then
    assertThat(afterTold.outcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
    assertThat(afterTold.actual()).isEqualTo(amounts(900, 500));
    assertThat(afterAnswer.outcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
    assertThat(afterAnswer.adjusted()).isEqualTo(amounts(0, 0));
    assertThat(afterRenewal.outcome()).isEqualTo(Outcome.NOT_SENT);
    assertThat(afterRenewal.adjusted()).isEqualTo(amounts(1_000, 500));
  }

  @Test
  void shouldGiveBackOfARefusedCallWhatWasNotToldOnTheWay() {
    // given
    String lease = granted("r1", 1_000, 500);
    context.settle(lease, "a1", Outcome.IN_PROGRESS, 900L, 20L);

    // when
    List<Event> refused = context.settle(lease, "a1", Outcome.RATE_LIMITED, null, null);

    // then
    assertThat(only(refused, LeaseSettled.class).actual()).isEqualTo(amounts(900, 20));
  }

  @Test
  void shouldTakeTheMostThatIsToldOnTheWayAndTheEndAtItsWord() {
    // given
    String open = granted("r1", 1_000, 500);
    String ended = granted("r2", 1_000, 500);

    // when: a call takes more as it goes on, and its reports come out of order
    LeaseRenewed first = renewed(open, 900L);
    LeaseRenewed more = renewed(open, 5_000L);
    LeaseRenewed late = renewed(open, 1_200L);
    List<Event> untold = context.settle(open, "a1", Outcome.SUCCEEDED, null, 300L);
    renewed(ended, 5_000L);
    List<Event> told = context.settle(ended, "a1", Outcome.SUCCEEDED, 950L, 300L);

    // then
    assertThat(first.adjusted().get(Dimension.INPUT_TOKENS)).isEqualTo(100);
    assertThat(more.adjusted().get(Dimension.INPUT_TOKENS)).isEqualTo(-4_100);
    assertThat(late.adjusted()).isEqualTo(Amounts.NONE);
    assertThat(only(untold, LeaseSettled.class).actual()).isEqualTo(amounts(5_000, 300));
    assertThat(only(told, LeaseSettled.class).actual()).isEqualTo(amounts(950, 300));
  }

  @Test
  void shouldTakeTheFirstWordAndTheEndAtItsWordUnderSeed() {
    // given
    EngineContext seed = EngineContext.with(seed());
    String lease =
        only(seed.ask(EngineContext.request("r1", "a1", 1_000, 500)), LeaseGranted.class).leaseId();

    // when
    seed.settle(lease, "a1", Outcome.IN_PROGRESS, 900L, null);
    List<Event> again = seed.settle(lease, "a1", Outcome.IN_PROGRESS, 5_000L, null);
    List<Event> notSent = seed.settle(lease, "a1", Outcome.NOT_SENT, null, null);

    // then
    assertThat(only(again, LeaseRenewed.class).adjusted()).isEqualTo(Amounts.NONE);
    assertThat(only(notSent, LeaseSettled.class).adjusted()).isEqualTo(amounts(900, 500));
  }

  // ---- without a lease

  @Test
  void shouldChargeACallWithoutALeaseOnceWhateverItsIdStandsFor() {
    // given: a lease that is over, and a request that was withdrawn before it came
    notSent(granted("over", 1_000, 0));
    cancel("withdrawn");

    // when, then
    for (String id : List.of("over", "withdrawn", "new")) {
      assertThat(only(unleased(context, id, 700L), UnleasedCharged.class).charged())
          .as(id)
          .isEqualTo(amounts(700, 0));
      only(unleased(context, id, 700L), DuplicateIgnored.class);
    }
    assertThat(context.level(Dimension.INPUT_TOKENS)).isEqualTo(cap() - 3 * 700);
  }

  @Test
  void shouldSettleTheLeaseOfACallThatIsReportedWithoutOne() {
    // given: leases of which nothing was told, and something
    String open = granted("open", 1_000, 0);
    String told = granted("told", 1_000, 0);
    context.settle(told, "a1", Outcome.IN_PROGRESS, 2_000L, null);

    // when, then: each is one call, however often it is reported
    for (String id : List.of("open", "told")) {
      List<Event> reported = unleased(context, id, 700L);
      assertThat(only(reported, LeaseSettled.class).actual()).as(id).isEqualTo(amounts(700, 0));
      assertThat(reported).noneMatch(UnleasedCharged.class::isInstance);
      only(unleased(context, id, 700L), DuplicateIgnored.class);
    }
    only(context.settle(open, "a1", Outcome.SUCCEEDED, 700L, 0L), DuplicateIgnored.class);
    assertThat(context.level(Dimension.INPUT_TOKENS)).isEqualTo(cap() - 2 * 700);
  }

  @Test
  void shouldTakeACallWithoutALeaseForThatOfALeaseThatExpiredAsLongAsItMayBeSettled() {
    // given
    String lease = granted("r1", 30_000, 0);
    context.sleep(120_500);
    long before = context.level(Dimension.INPUT_TOKENS);

    // when
    List<Event> reported = unleased(context, "r1", 30_000L);
    List<Event> again = unleased(context, "r1", 30_000L);
    List<Event> late = context.settle(lease, "a1", Outcome.SUCCEEDED, 30_000L, 0L);

    // then: the call was charged when it was granted
    LeaseSettled settled = only(reported, LeaseSettled.class);
    assertThat(settled.late()).isTrue();
    assertThat(settled.adjusted()).isEqualTo(amounts(0, 0));
    assertThat(context.level(Dimension.INPUT_TOKENS)).isEqualTo(before);
    only(again, DuplicateIgnored.class);
    only(late, DuplicateIgnored.class);
  }

  // ---- a lease that expires

  @Test
  void shouldChargeTheOutputThatWasToldOfALeaseThatExpires() {
    // given: a hundred reserved, and much more produced
    String lease = granted("r1", 1_000, 100);
    context.settle(lease, "a1", Outcome.IN_PROGRESS, 1_000L, 9_000L);

    // when
    List<Event> slept = context.sleep(120_500);
    List<Event> late = context.settle(lease, "a1", Outcome.FAILED_AFTER_SEND, null, null);

    // then: what comes late finds it charged
    assertThat(only(slept, LeaseExpired.class).adjusted())
        .isEqualTo(Amounts.of(Dimension.OUTPUT_TOKENS, -8_900));
    assertThat(only(late, LeaseSettled.class).actual()).isEqualTo(amounts(1_000, 9_000));
    assertThat(only(late, LeaseSettled.class).adjusted()).isEqualTo(amounts(0, 0));
  }

  @Test
  void shouldChargeItToTheOtherQuotasAndToItsTenantAsWell() {
    // given: leases of a day
    OrderContext.Quota quota = OrderContext.quota().limits(limits());
    EngineContext shared =
        quota.tenants(Map.of("a", tenant(1, 0.5, "a*"))).takingFrom("k/o").start();
    quota.named("k/o").defineIn(shared);
    String lease =
        only(shared.ask(EngineContext.request("r1", "a1", 1_000, 100)), LeaseGranted.class)
            .leaseId();
    List<Event> told = shared.settle(lease, "a1", Outcome.IN_PROGRESS, 1_000L, 9_000L);

    // when
    LeaseExpired expired = only(shared.sleep(86_400_100), LeaseExpired.class);
    List<Event> late = shared.settle(lease, "a1", Outcome.FAILED_AFTER_SEND, null, null);

    // then: to its tenant on the way, for no header ever tells of that
    Amounts more = Amounts.of(Dimension.OUTPUT_TOKENS, -8_900);
    assertThat(only(told, LeaseRenewed.class).shift().ceiling()).isEqualTo(amounts(0, -8_900));
    assertThat(expired.shift().also()).isEqualTo(Map.of("k/o", more));
    assertThat(expired.shift().ceiling()).isEqualTo(Amounts.NONE);
    Event.Shift shift = only(late, LeaseSettled.class).shift();
    assertThat(shift.also()).isEqualTo(Map.of("k/o", amounts(0, 0)));
    assertThat(shift.ceiling().get(Dimension.OUTPUT_TOKENS)).isZero();
  }

  @Test
  void shouldTakeWhatIsToldLateOfAnExpiredLeaseAtItsWord() {
    // given: one limit of both, and more output than was reserved
    EngineContext both = EngineContext.with(EngineContext.quota(EngineContext.tokens(LIMIT), null));
    String untold = both(both, "r1");
    String told = both(both, "r2");

    // when
    both.sleep(120_500);
    List<Event> end = both.settle(untold, "a1", Outcome.FAILED_AFTER_SEND, null, null);
    List<Event> less = both.settle(told, "a1", Outcome.FAILED_AFTER_SEND, 900L, 200L);

    // then
    assertThat(only(end, LeaseSettled.class).actual()).isEqualTo(EngineContext.tokens(10_000));
    assertThat(only(end, LeaseSettled.class).adjusted()).isEqualTo(EngineContext.tokens(0));
    assertThat(only(less, LeaseSettled.class).adjusted()).isEqualTo(EngineContext.tokens(8_900));
  }

  private static String both(EngineContext context, String id) {
    String lease =
        only(context.ask(EngineContext.request(id, "a1", 1_000, 100)), LeaseGranted.class)
            .leaseId();
    context.settle(lease, "a1", Outcome.IN_PROGRESS, null, 9_000L);
    return lease;
  }

  @Test
  void shouldTakeTheRequestOfACallWithoutALeaseForTheSameCall() {
    // given: one that waits, and one that comes after the report
    unleased(context, "u1", 2 * LIMIT);
    context.sleep(20_000);
    context.ask(EngineContext.request("r1", "a1", 500, 0));

    // when
    List<Event> waiting = unleased(context, "r1", 10L);
    unleased(context, "r2", 10L);
    List<Event> late = context.ask(EngineContext.request("r2", "a1", 500, 0));

    // then
    only(waiting, UnleasedCharged.class);
    assertThat(only(waiting, LeaseCancelled.class).wasWaiting()).isTrue();
    assertThat(late).noneMatch(e -> e instanceof LeaseEnqueued);
  }

  @Test
  void shouldChargeItToItsTenantsCeiling() {
    // given: a tenant that may use a third
    EngineContext tenants =
        OrderContext.quota().full().tenants(Map.of("a", tenant(1, 1 / 3.0, "a*"))).start();

    // when
    List<Event> charged = unleased(tenants, "u1", 25_000L);
    List<Event> own = tenants.ask(EngineContext.request("r1", "a1", 1_000, 0));
    List<Event> others = tenants.ask(EngineContext.request("r2", "b1", 1_000, 0));

    // then
    assertThat(only(charged, UnleasedCharged.class).ceiling().get(Dimension.INPUT_TOKENS))
        .isEqualTo(25_000);
    only(own, LeaseQueued.class);
    only(others, LeaseGranted.class);
  }

  @Test
  void shouldTakeACallWithoutAWordForAsLargeAsCallsAre() {
    // given
    for (int i = 0; i < 10; i++) {
      context.settle(granted("r" + i, 5_000, 0), "a1", Outcome.SUCCEEDED, 5_000L, 0L);
    }

    // when
    List<Event> charged = unleased(context, "u1", null);

    // then
    assertThat(only(charged, UnleasedCharged.class).charged()).isEqualTo(amounts(5_000, 0));
  }

  // ---- absurd reports

  @Test
  void shouldCloseAQuotaForAMinuteByAnAbsurdReportWithoutALease() {
    // when: one, and many
    unleased(context, "u0", 100_000_000L);
    for (int i = 1; i < 20; i++) {
      unleased(context, "u" + i, 100_000_000L);
    }

    // then
    assertThat(context.level(Dimension.INPUT_TOKENS)).isEqualTo(-LIMIT);
    context.sleep(5_000);
    context.ask(EngineContext.request("r1", "b", 500, 0));
    only(context.sleep(56_000), LeaseGranted.class);
  }

  @Test
  void shouldCloseAQuotaForTenMinutesByAnAbsurdReportAndLearnNothingOfIt() {
    // given
    String lease = granted("r1", 1_000, 500);

    // when
    List<Event> settled = context.settle(lease, "a1", Outcome.SUCCEEDED, 100_000_000L, 0L);

    // then
    LeaseSettled e = only(settled, LeaseSettled.class);
    assertThat(e.actual()).isEqualTo(amounts(10 * LIMIT, 0));
    assertThat(e.usedInput()).isNull();
    assertThat(context.level(Dimension.INPUT_TOKENS)).isEqualTo(cap() - 10 * LIMIT);
  }

  @Test
  void shouldBoundInputAndOutputTogetherWhereALimitIsOfBoth() {
    // given: told at once, and one after the other
    EngineContext both = EngineContext.with(EngineContext.quota(EngineContext.tokens(LIMIT), null));
    List<String> leases = List.of(both(both, "r1"), both(both, "r2"), both(both, "r3"));
    both.settle(leases.get(1), "a1", Outcome.IN_PROGRESS, 100_000_000L, null);
    both.settle(leases.get(2), "a1", Outcome.IN_PROGRESS, null, 100_000_000L);

    // when, then
    for (String lease : leases) {
      List<Event> settled =
          both.settle(
              lease,
              "a1",
              Outcome.SUCCEEDED,
              lease.equals(leases.get(1)) ? null : (Long) 100_000_000L,
              lease.equals(leases.get(2)) ? null : (Long) 100_000_000L);
      assertThat(only(settled, LeaseSettled.class).actual())
          .isEqualTo(EngineContext.tokens(10 * LIMIT));
    }
  }

  @Test
  void shouldChargeAllOfACallThatUsedMoreThanItsLimit() {
    // given: what only output can do, or a limit below the provider's
    String lease = granted("r1", 1_000, 500);

    // when
    List<Event> settled = context.settle(lease, "a1", Outcome.SUCCEEDED, 5 * LIMIT, 2 * LIMIT);

    // then
    assertThat(only(settled, LeaseSettled.class).actual()).isEqualTo(amounts(5 * LIMIT, 2 * LIMIT));
  }

  // ---- helpers

  private long cap() {
    return context.show().caps().get(Dimension.INPUT_TOKENS);
  }

  private String granted(String id, long input, long output) {
    return only(context.ask(EngineContext.request(id, "a1", input, output)), LeaseGranted.class)
        .leaseId();
  }

  private LeaseRenewed renewed(String lease, Long input) {
    return only(context.settle(lease, "a1", Outcome.IN_PROGRESS, input, null), LeaseRenewed.class);
  }

  private LeaseSettled notSent(String lease) {
    return only(context.settle(lease, "a1", Outcome.NOT_SENT, null, null), LeaseSettled.class);
  }

  private void interim(String lease, Signal signal) {
    context.submit(
        new Command.SettleLease(
            new Settlement(
                lease, null, "a1", EngineContext.QUOTA, Outcome.IN_PROGRESS, null, false, signal),
            context.nowMs));
  }

  private List<Event> cancel(String id) {
    return context.submit(new Command.SettleLease(EngineContext.cancel(id, "a1"), context.nowMs));
  }

  private static List<Event> unleased(EngineContext context, String id, Long input) {
    Usage usage = input == null ? null : new Usage(input, 0L, 0L, 0L, true);
    Settlement report =
        new Settlement(null, id, "a1", EngineContext.QUOTA, Outcome.UNLEASED, usage, false, null);
    return context.submit(new Command.SettleLease(report, context.nowMs));
  }

  private static Amounts limits() {
    return amounts(LIMIT, LIMIT);
  }

  private static Amounts amounts(long input, long output) {
    return Amounts.of(Dimension.INPUT_TOKENS, input).with(Dimension.OUTPUT_TOKENS, output);
  }

  private static QuotaDefinition seed() {
    return Redefined.like(EngineContext.quota(limits(), null))
        .preset(Preset.SEED)
        .withoutMargin()
        .definition();
  }
}
