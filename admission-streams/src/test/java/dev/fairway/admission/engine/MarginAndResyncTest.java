package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.LimitLearned;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.MarginRestored;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MarginAndResyncTest {

  @Test
  void shouldCutOncePerEpisodeAndGiveBackSlowly() {
    // given
    EngineContext context = EngineContext.with(tokens(60_000), tokens(60_000));
    String first = granted(context, "r1", 100);
    String second = granted(context, "r2", 100);
    context.sleep(1000);

    // when
    List<Event> cut = limited(context, first, null);
    context.sleep(3_001);
    List<Event> sameEpisode = limited(context, second, null);
    context.sleep(1000);
    String third = granted(context, "r3", 100);
    List<Event> nextEpisode = limited(context, third, null);
    List<Event> recovery = context.sleep(400_000);

    // then
    assertThat(only(cut, MarginCut.class)).isEqualTo(new MarginCut("k/q", 10_000, 9_500));
    assertThat(sameEpisode).noneMatch(MarginCut.class::isInstance);
    assertThat(only(nextEpisode, MarginCut.class).toBp()).isEqualTo(9_000);
    assertThat(recovery)
        .filteredOn(MarginRestored.class::isInstance)
        .containsExactly(
            new MarginRestored("k/q", 9_000, 9_100), new MarginRestored("k/q", 9_100, 9_200));
  }

  @Test
  void shouldSayNothingOfAMarginThatLiesAtItsFloor() {
    // given: a floor of 0.6, and a cut of 0.05 from a start of 0.62
    EngineContext context =
        EngineContext.with(
            EngineContext.quota(
                tokens(60_000), null, MarginModeName.RATE, 0.62, Window.TOKEN_BUCKET));

    // when: two episodes
    List<Event> first = limited(context, granted(context, "r1", 100), null);
    context.sleep(5_000);
    List<Event> second = limited(context, granted(context, "r2", 100), null);

    // then: and the interval that was not clean gives nothing back
    assertThat(only(first, MarginCut.class).toBp()).isEqualTo(6_000);
    assertThat(second).noneMatch(MarginCut.class::isInstance);
    assertThat(context.sleep(179_999)).noneMatch(MarginRestored.class::isInstance);
    assertThat(only(context.sleep(1), MarginRestored.class).toBp()).isEqualTo(6_100);
  }

  @ParameterizedTest
  @CsvSource({"0,0", "0.00001,1", "0.02,200"})
  void shouldGiveBackWhatCreepSaysAndNothingWhereItIsZero(double creep, int step) {
    // given
    QuotaDefinition defined = EngineContext.quota(tokens(60_000), null);
    EngineContext context =
        EngineContext.with(
            Redefined.like(defined)
                .margin(new Margin(MarginModeName.RATE, 1.0, 0.6, null, creep, null))
                .definition());

    // when
    limited(context, granted(context, "r1", 100), null);
    List<Event> restored =
        context.sleep(180_000).stream().filter(MarginRestored.class::isInstance).toList();

    // then
    assertThat(restored)
        .isEqualTo(step == 0 ? List.of() : List.of(new MarginRestored("k/q", 9_500, 9_500 + step)));
  }

  @ParameterizedTest
  @CsvSource({"-1,", "60001,", "1000000000000,1000000000000", "10,9", "0,-1", "0,86400001"})
  void shouldReadNoHeadersOfAnImpossibleTime(long ageMs, Long msSinceSend) {
    // given
    EngineContext context = EngineContext.with(tokens(60_000), tokens(50_000));
    String lease = granted(context, "r1", 1_000);
    Reading reading = new Reading(30_000L, 100L, null);

    // when
    List<Event> settled =
        context.settle(
            lease, Outcome.SUCCEEDED, 400L, 0L, Dimension.TOKENS, reading, ageMs, msSinceSend);

    // then: the settlement itself counts
    assertThat(settled).hasSize(1);
    assertThat(only(settled, LeaseSettled.class).sendDelayMs()).isNull();
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(49_600);
  }

  @Test
  void shouldReadFreshHeadersOfALongCall() {
    // given: a call that is answered after 90 s, and another that was sent since
    EngineContext context = EngineContext.with(tokens(60_000), tokens(50_000));
    String lease = granted(context, "r1", 1_000);
    context.sleep(80_000);
    granted(context, "r2", 5_000);
    context.sleep(10_000);
    Reading reading = new Reading(60_000L, 20_000L, null);

    // when
    context.settle(lease, Outcome.IN_PROGRESS, null, null, Dimension.TOKENS, reading, 0, 90_000L);

    // then: what was sent after it is taken to be in no number of its
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(15_000);
  }

  @Test
  void shouldHoldForTheWholeRetryAfterOfAnImpossibleTime() {
    // given
    EngineContext context = EngineContext.with(tokens(60_000), tokens(50_000));
    String lease = granted(context, "r1", 1_000);
    Signal signal = new Signal(429, Kind.RATE_LIMITED, null, 5_000L, -1L, null, Map.of());

    // when
    List<Event> settled =
        context.settle(lease, "a1", Outcome.RATE_LIMITED, null, null, s -> withSignal(s, signal));

    // then
    assertThat(only(settled, QuotaHeld.class).untilMs()).isEqualTo(context.nowMs + 5_000);
  }

  @Test
  void shouldRefundTokensButNotTheRequestOfARefusedCall() {
    // given
    EngineContext context =
        EngineContext.with(
            Amounts.of(Dimension.REQUESTS, 10).with(Dimension.TOKENS, 600),
            Amounts.of(Dimension.REQUESTS, 5).with(Dimension.TOKENS, 500));
    String lease = granted(context, "r1", 400);

    // when
    List<Event> settled = limited(context, lease, null);

    // then
    assertThat(only(settled, LeaseSettled.class).adjusted())
        .isEqualTo(Amounts.of(Dimension.REQUESTS, 0).with(Dimension.TOKENS, 400));
  }

  @Test
  void shouldHoldEverybodyUntilRetryAfterAndRejectWhereThatIsTooLong() {
    // given
    EngineContext context = EngineContext.with(tokens(60_000), tokens(60_000));
    String lease = granted(context, "r1", 100);
    String other = granted(context, "r2", 100);

    // when
    List<Event> held = limited(context, lease, 30_000L);
    LeaseQueued queued = only(context.ask("r3", "a3", 10), LeaseQueued.class);
    List<Event> atEnd = context.sleep(30_000);
    List<Event> exhausted = limited(context, other, 171_000L);
    LeaseRejected rejected = only(context.ask("r4", "a4", 10), LeaseRejected.class);

    // then
    assertThat(only(held, QuotaHeld.class).reason()).isEqualTo(HoldReason.RATE_LIMITED);
    assertThat(queued.etaMs()).isEqualTo(30_000);
    assertThat(only(atEnd, LeaseGranted.class).grantedAtMs()).isEqualTo(context.nowMs);
    assertThat(only(exhausted, QuotaHeld.class).reason()).isEqualTo(HoldReason.QUOTA_EXHAUSTED);
    assertThat(rejected.reason()).isEqualTo(RejectReason.QUOTA_EXHAUSTED);
    assertThat(rejected.retryAtMs()).isEqualTo(context.nowMs + 171_000);
  }

  @Test
  void shouldMoveTheBalanceIntoTheProvidersIntervalAndAbsorbWhatItHolds() {
    // given: one call long before, one at about the same time as the signal's, one clearly after
    EngineContext context = EngineContext.with(tokens(60_000), tokens(50_000));
    String seen = granted(context, "seen", 1_000);
    context.sleep(1_000);
    String own = granted(context, "own", 2_000);
    context.sleep(50);
    granted(context, "ambiguous", 4_000);
    context.sleep(500);
    granted(context, "unseen", 8_000);

    // when: sent at its grant, 550 ms ago; the provider said 30000 just now
    List<Event> settled =
        context.settle(own, "a1", Outcome.SUCCEEDED, 2_000L, 0L, s -> withSignal(s, 550, 30_000));

    // then
    Event.Resync move = only(settled, BucketsResynced.class).dimensions().get(0);
    assertThat(move.high()).isEqualTo(30_000 - 8_000);
    assertThat(move.low()).isEqualTo(30_000 - 8_000 - 4_000);
    assertThat(move.after()).isEqualTo(22_000);
    List<Event> late = context.settle(seen, "a1", Outcome.SUCCEEDED, 400L, 0L);
    assertThat(only(late, LeaseSettled.class).adjusted()).isEqualTo(tokens(0));
  }

  @Test
  void shouldTakeSentinelsForUnknownAndLearnOnlyLowerLimits() {
    // given
    EngineContext context = EngineContext.with(tokens(120_000), null);
    String first = granted(context, "r1", 0);
    String second = granted(context, "r2", 0);

    // when
    List<Event> sentinel =
        context.settle(
            first, "a1", Outcome.SUCCEEDED, 0L, 0L, s -> withReading(s, new Reading(-1L, -1L, 0L)));
    List<Event> lower =
        context.settle(
            second,
            "a1",
            Outcome.SUCCEEDED,
            0L,
            0L,
            s -> withReading(s, new Reading(30_000L, null, null)));

    // then
    assertThat(sentinel).hasSize(1);
    assertThat(only(lower, LimitLearned.class).limitPerMinute()).isEqualTo(30_000);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(29_500);
  }

  @Test
  void shouldNotCutForACallThatNeverFitsAndLearnTheLimit() {
    // given
    EngineContext context = EngineContext.with(tokens(60_000), tokens(60_000));
    String lease = granted(context, "r1", 34_307);
    Signal signal =
        new Signal(
            429,
            Kind.NEVER_FITS,
            Dimension.TOKENS,
            null,
            0L,
            500L,
            Map.of(Dimension.TOKENS, new Reading(30_000L, null, null)));

    // when
    List<Event> settled =
        context.settle(
            lease,
            "a1",
            Outcome.RATE_LIMITED,
            null,
            null,
            s ->
                new Settlement(
                    s.leaseId(), null, "a1", s.quotaId(), s.outcome(), null, true, signal));

    // then
    assertThat(settled).noneMatch(MarginCut.class::isInstance);
    assertThat(settled).noneMatch(QuotaHeld.class::isInstance);
    assertThat(only(settled, LeaseRejected.class).reason()).isEqualTo(RejectReason.NEVER_FITS);
  }

  private static String granted(EngineContext context, String id, long input) {
    return only(context.ask(id, "a1", input), LeaseGranted.class).leaseId();
  }

  private static List<Event> limited(EngineContext context, String lease, Long retryAfterMs) {
    Signal signal = new Signal(429, Kind.RATE_LIMITED, null, retryAfterMs, 0L, null, Map.of());
    return context.settle(
        lease, "a1", Outcome.RATE_LIMITED, null, null, s -> withSignal(s, signal));
  }

  private static Settlement withSignal(Settlement s, Signal signal) {
    return new Settlement(
        s.leaseId(), null, s.agentId(), s.quotaId(), s.outcome(), s.usage(), false, signal);
  }

  private static Settlement withSignal(Settlement s, long msSinceSend, long remaining) {
    Signal signal =
        new Signal(
            200,
            Kind.OK,
            null,
            null,
            0L,
            msSinceSend,
            Map.of(Dimension.TOKENS, new Reading(null, remaining, null)));
    return withSignal(s, signal);
  }

  private static Settlement withReading(Settlement s, Reading reading) {
    Signal signal =
        new Signal(200, Kind.OK, null, null, 0L, 10L, Map.of(Dimension.TOKENS, reading));
    return withSignal(s, signal);
  }
}
