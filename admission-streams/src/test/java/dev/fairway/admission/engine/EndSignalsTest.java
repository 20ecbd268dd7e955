package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.DuplicateIgnored;
import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Event.RefusalCounted;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the provider said is heeded by one rule, however a call ends, and before anybody goes. */
class EndSignalsTest {
  private static final long LIMIT = 60_000;
  private static final long WAIT_MS = 20_000;

  private final EngineContext context = EngineContext.with(tokens(LIMIT), tokens(LIMIT));

  // ---- a 429

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"RATE_LIMITED", "FAILED_AFTER_SEND", "NOT_SENT", "CANCELLED", "UNLEASED"})
  void shouldHeedA429HoweverItsCallEnds(Outcome outcome) {
    // given
    granted("r1");
    granted("r2");

    // when: two of them, close together
    List<Event> first = end("r1", outcome, null, refusal());
    context.sleep(100);
    List<Event> second = end("r2", outcome, null, refusal());

    // then
    assertThat(only(first, LeaseSettled.class).actual()).isEqualTo(tokens(0));
    only(first, MarginCut.class);
    only(first, RefusalCounted.class);
    assertThat(only(first, QuotaHeld.class).untilMs()).isEqualTo(context.nowMs - 100 + WAIT_MS);
    only(second, BreakerOpened.class);
  }

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"FAILED_AFTER_SEND", "CANCELLED", "UNLEASED"})
  void shouldChargeWhatA429UsedAndHeedItAllTheSame(Outcome outcome) {
    // given
    granted("r1");

    // when
    List<Event> ended = end("r1", outcome, usage(700), refusal());

    // then
    assertThat(only(ended, LeaseSettled.class).actual()).isEqualTo(tokens(700));
    only(ended, MarginCut.class);
    only(ended, QuotaHeld.class);
  }

  @Test
  void shouldHeedA429OfACallWithoutALease() {
    // when: the second is the first once more
    List<Event> reported = end("u1", Outcome.UNLEASED, null, refusal());
    List<Event> again = end("u1", Outcome.UNLEASED, null, refusal());
    context.sleep(100);
    List<Event> other = end("u2", Outcome.UNLEASED, null, refusal());

    // then
    assertThat(only(reported, UnleasedCharged.class).charged()).isEqualTo(tokens(0));
    only(reported, QuotaHeld.class);
    only(again, DuplicateIgnored.class);
    assertThat(again).hasSize(1);
    only(other, BreakerOpened.class);
    assertThat(context.level(Dimension.TOKENS))
        .isEqualTo(context.show().caps().get(Dimension.TOKENS));
  }

  @Test
  void shouldTakeTheReportOfARefusedCallForItsLeaseOnce() {
    // given
    granted("r1");
    end("r1", Outcome.UNLEASED, null, refusal());

    // when
    List<Event> again = end("r1", Outcome.UNLEASED, null, refusal());

    // then
    only(again, DuplicateIgnored.class);
    assertThat(again).hasSize(1);
  }

  @Test
  void shouldNotTakeAnOldRefusalForANewOneWhereNobodyTellsWhenItWasSent() {
    // given: an episode half a minute ago
    granted("r1");
    end("r1", Outcome.RATE_LIMITED, null, refusal());
    context.sleep(30_000);

    // when
    Signal undated = new Signal(429, Kind.RATE_LIMITED, null, null, null, null, Map.of());
    List<Event> reported = end("u1", Outcome.UNLEASED, null, undated);

    // then
    assertThat(reported).noneMatch(MarginCut.class::isInstance);
  }

  @Test
  void shouldDropTheSignalOfACancelUnderSeed() {
    // given
    EngineContext seed =
        EngineContext.with(
            Redefined.like(EngineContext.quota(tokens(LIMIT), tokens(LIMIT)))
                .preset(Preset.SEED)
                .withoutMargin()
                .definition());
    only(seed.ask("r1", "a1", 2_000), LeaseGranted.class);

    // when
    List<Event> cancelled = end(seed, "r1", Outcome.CANCELLED, null, refusal());

    // then
    assertThat(only(cancelled, LeaseSettled.class).outcome()).isEqualTo(Outcome.NOT_SENT);
    assertThat(cancelled).noneMatch(QuotaHeld.class::isInstance);
  }

  // ---- headers

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"NOT_SENT", "CANCELLED", "UNLEASED", "FAILED_AFTER_SEND", "SUCCEEDED"})
  void shouldTakeTheProvidersNumberHoweverItsCallEnds(Outcome outcome) {
    // given
    granted("r1");

    // when
    end("r1", outcome, null, headers(10_000));

    // then
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(10_000);
  }

  @Test
  void shouldTakeTheNumberOfACallWithoutALeaseIfItTellsWhenItWasSent() {
    // given
    Signal dated = headers(10_000);
    context.sleep(1_000);

    // when
    end("u1", Outcome.UNLEASED, usage(2_000), withoutSend(headers(5_000)));
    long undated = context.level(Dimension.TOKENS);
    end("u2", Outcome.UNLEASED, usage(2_000), dated);

    // then
    assertThat(undated).isGreaterThan(50_000);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(10_000);
  }

  // ---- told on the way

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"FAILED_AFTER_SEND", "NOT_SENT", "CANCELLED", "UNLEASED", "RATE_LIMITED"})
  void shouldCountA429ToldOnTheWayWhenItsCallEndsOnce(Outcome outcome) {
    // given
    String lease = granted("r1");
    List<Event> told = interim(lease, refusal());
    context.sleep(1_000);

    // when: the end says nothing of it
    List<Event> ended = end("r1", outcome, null, null);

    // then: the wait is counted from when it was told
    assertThat(told).noneMatch(QuotaHeld.class::isInstance);
    assertThat(only(ended, LeaseSettled.class).actual()).isEqualTo(tokens(0));
    only(ended, MarginCut.class);
    assertThat(only(ended, QuotaHeld.class).untilMs()).isEqualTo(context.nowMs - 1_000 + WAIT_MS);
  }

  @Test
  void shouldTakeACallThatSucceededAfterItAtItsWord() {
    // given
    String lease = granted("r1");
    interim(lease, refusal());

    // when
    List<Event> ended = end("r1", Outcome.SUCCEEDED, usage(2_000), null);

    // then
    assertThat(ended).noneMatch(QuotaHeld.class::isInstance).noneMatch(MarginCut.class::isInstance);
  }

  @Test
  void shouldCountItWhenItsLeaseExpiresAndNotOnceMoreLate() {
    // given
    String lease = granted("r1");
    interim(lease, refusal());

    // when
    List<Event> slept = context.sleep(120_500);
    List<Event> late = end("r1", Outcome.UNLEASED, null, null);

    // then: nothing is given back by who says nothing
    assertThat(only(slept, LeaseExpired.class).adjusted()).isEqualTo(Amounts.NONE);
    only(slept, MarginCut.class);
    only(slept, RefusalCounted.class);
    assertThat(only(late, LeaseSettled.class).adjusted()).isEqualTo(tokens(0));
    assertThat(late).noneMatch(QuotaHeld.class::isInstance);
  }

  @Test
  void shouldNotHoldForAPauseThatIsOver() {
    // given: nothing left for a minute, told two minutes before the end
    String lease = granted("r1");
    interim(lease, new Signal(403, Kind.QUOTA_EXHAUSTED, null, 60_000L, 0L, 10L, Map.of()));
    String other = granted("r2");
    interim(other, new Signal(403, Kind.QUOTA_EXHAUSTED, null, 60_000L, 0L, 10L, Map.of()));

    // when
    List<Event> soon = end("r1", Outcome.FAILED_AFTER_SEND, null, null);
    context.sleep(70_000);
    List<Event> later = end("r2", Outcome.FAILED_AFTER_SEND, null, null);

    // then
    assertThat(only(soon, QuotaHeld.class).reason()).isEqualTo(HoldReason.QUOTA_EXHAUSTED);
    assertThat(later).noneMatch(QuotaHeld.class::isInstance);
  }

  // ---- before anybody goes

  @Test
  void shouldChargeAReportThatWithdrawsItsRequestBeforeAnybodyGoes() {
    // given: a head that waits, and two behind it that would fit
    EngineContext half = EngineContext.with(tokens(LIMIT), tokens(30_000));
    half.ask("r1", "a1", 50_000);
    half.ask(retrying("r2", "a2", 15_000));
    half.ask(retrying("r3", "a3", 15_000));
    assertThat(half.show().waiting()).isEqualTo(3);

    // when
    List<Event> reported = end(half, "r1", Outcome.UNLEASED, usage(50_000), null);

    // then
    only(reported, UnleasedCharged.class);
    assertThat(reported).noneMatch(LeaseGranted.class::isInstance);
    assertThat(half.level(Dimension.TOKENS)).isEqualTo(-20_000);
  }

  @Test
  void shouldTellACallThatComesBackWhatItTakesOfOtherQuotasByNow() {
    // given: a quota that takes from another one since the call was granted
    Amounts requests = Amounts.of(Dimension.REQUESTS, 600);
    EngineContext own = EngineContext.with(EngineContext.quota(requests, null));
    own.submit(
        new Command.DefineQuota(
            Redefined.like(EngineContext.quota(tokens(LIMIT), tokens(1_000)))
                .id("k/s")
                .definition(),
            EngineContext.SALT));
    only(own.ask("r1", "a1", 30_000), LeaseGranted.class);
    own.submit(
        new Command.DefineQuota(
            Redefined.like(EngineContext.quota(requests, null)).takingFrom("k/s").definition(),
            EngineContext.SALT));

    // when
    List<Event> refused =
        own.submit(
            new Command.SettleLease(
                new Settlement(
                    lease(own, "r1"),
                    "r1",
                    "a1",
                    EngineContext.QUOTA,
                    Outcome.RATE_LIMITED,
                    null,
                    true,
                    new Signal(429, Kind.RATE_LIMITED, null, 1_000L, 0L, 10L, Map.of())),
                own.nowMs));

    // then
    long toldMs = only(refused, LeaseQueued.class).etaMs();
    long fromMs = own.nowMs;
    own.sleep(toldMs - 1_000);
    assertThat(own.show().openLeases()).isZero();
    assertThat(toldMs).isBetween(28_000L, 31_000L);
    LeaseGranted again = only(own.sleep(2_000), LeaseGranted.class);
    assertThat(again.grantedAtMs() - fromMs).isBetween(toldMs - 1_000, toldMs + 1_000);
  }

  // ---- one call is one call

  @Test
  void shouldBoundACallByWhatWasToldOnTheWayUnderItsRequestToo() {
    // given: ten minutes of output, told on the way
    String lease = granted("r1");
    context.settle(lease, "a1", Outcome.IN_PROGRESS, null, 100_000_000L);

    // when
    List<Event> reported =
        end("r1", Outcome.UNLEASED, new Usage(100_000_000L, 0L, 0L, null, true), null);

    // then
    assertThat(only(reported, LeaseSettled.class).actual()).isEqualTo(tokens(10 * LIMIT));
  }

  // ---- helpers

  private String granted(String id) {
    return only(context.ask(id, "a1", 2_000), LeaseGranted.class).leaseId();
  }

  /** A request that passes nobody: it repeats one that failed five times. */
  private static LeaseRequest retrying(String id, String agent, long input) {
    return new LeaseRequest(
        id,
        agent,
        EngineContext.QUOTA,
        null,
        "worker",
        "batch",
        null,
        5,
        null,
        new LeaseRequest.Estimate(input, 0, null, 0L, ""),
        null,
        null,
        null,
        null);
  }

  private List<Event> interim(String lease, Signal signal) {
    return context.settle(
        lease,
        "a1",
        Outcome.IN_PROGRESS,
        null,
        null,
        s ->
            new Settlement(
                lease, null, "a1", EngineContext.QUOTA, s.outcome(), null, false, signal));
  }

  private List<Event> end(String id, Outcome outcome, Usage usage, Signal signal) {
    return end(context, id, outcome, usage, signal);
  }

  private static List<Event> end(
      EngineContext context, String id, Outcome outcome, Usage usage, Signal signal) {
    boolean byRequest = outcome == Outcome.CANCELLED || outcome == Outcome.UNLEASED;
    Settlement end =
        new Settlement(
            byRequest ? null : lease(context, id),
            id,
            "a1",
            EngineContext.QUOTA,
            outcome,
            usage,
            false,
            signal);
    return context.submit(new Command.SettleLease(end, context.nowMs));
  }

  private static String lease(EngineContext context, String id) {
    List<String> leases = new ArrayList<>();
    for (Handled handled : context.journal) {
      for (Event event : handled.events()) {
        if (event instanceof LeaseGranted e && e.requestId().equals(id)) {
          leases.add(e.leaseId());
        }
      }
    }
    return leases.get(leases.size() - 1);
  }

  private static Usage usage(long input) {
    return new Usage(input, 0L, 0L, 0L, true);
  }

  private static Signal refusal() {
    return new Signal(429, Kind.RATE_LIMITED, null, WAIT_MS, 0L, 10L, Map.of());
  }

  private static Signal headers(long remaining) {
    return new Signal(
        200,
        Kind.OK,
        null,
        null,
        0L,
        10L,
        Map.of(Dimension.TOKENS, new Reading(LIMIT, remaining, null)));
  }

  private static Signal withoutSend(Signal s) {
    return new Signal(
        s.status(), s.kind(), s.binding(), s.retryAfterMs(), s.ageMs(), null, s.limits());
  }
}
