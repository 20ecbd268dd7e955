package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.MarginModeChanged;
import dev.fairway.admission.engine.Event.SafetyFactorChanged;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The balance that follows the provider's own level, and what is kept free of it. */
class AdaptiveMarginTest {
  private static final Dimension INPUT = Dimension.INPUT_TOKENS;

  private static EngineContext with(MarginModeName mode, long limit, Long level) {
    return EngineContext.with(
        EngineContext.quota(
            Amounts.of(INPUT, limit),
            level == null ? null : Amounts.of(INPUT, level),
            mode,
            0.85,
            Window.TOKEN_BUCKET));
  }

  private static String granted(EngineContext context, String id, long input) {
    return only(context.ask(id, "a1", input), LeaseGranted.class).leaseId();
  }

  private static List<Event> header(EngineContext context, String lease, long used, long left) {
    return context.settle(
        lease, Outcome.SUCCEEDED, used, 0L, INPUT, new Reading(null, left, null), 0, 500L);
  }

  @Test
  void shouldFollowHeadersWhileTheyAreFreshAndFallBackAtAMinute() {
    // given
    EngineContext context = with(MarginModeName.AUTO, 60_000, null);
    String lease = granted(context, "r1", 1_000);
    long capBefore = context.show().caps().get(INPUT);

    // when
    context.sleep(1_000);
    List<Event> settled = header(context, lease, 1_000, 58_000);
    long levelAfter = context.level(INPUT);
    List<Event> fresh = context.sleep(59_999);
    List<Event> old = context.sleep(1);

    // then
    assertThat(capBefore).isEqualTo(50_150);
    assertThat(only(settled, MarginModeChanged.class))
        .isEqualTo(
            new MarginModeChanged("k/q", INPUT, MarginModeName.RATE, MarginModeName.ADAPTIVE));
    assertThat(settled.indexOf(only(settled, MarginModeChanged.class)))
        .isLessThan(settled.indexOf(only(settled, BucketsResynced.class)));
    assertThat(levelAfter).isEqualTo(58_000);
    assertThat(fresh).isEmpty();
    assertThat(only(old, MarginModeChanged.class).to()).isEqualTo(MarginModeName.RATE);
    assertThat(context.level(INPUT)).isEqualTo(capBefore);
  }

  @Test
  void shouldShowWhatAFullBucketHasForUsualCallsAndNothingOfOthersAfterTwoMinutes() {
    // given: a bucket no deeper than a call and a half
    QuotaDefinition definition =
        Redefined.like(
                EngineContext.quota(
                    Amounts.of(INPUT, 60_000),
                    null,
                    MarginModeName.ADAPTIVE,
                    0.85,
                    Window.TOKEN_BUCKET))
            .depth(Amounts.of(INPUT, 6_000))
            .definition();
    EngineContext context = EngineContext.with(definition);

    // when: each header tells less than is assumed
    for (int i = 0; i < 8; i++) {
      String lease = granted(context, "r" + i, 4_500);
      context.sleep(1_000);
      header(context, lease, 4_500, 2_000);
      context.sleep(9_000);
    }
    QuotaSnapshot now = context.show();
    context.sleep(120_000);
    QuotaSnapshot later = context.show();

    // then: 4,500 of the 5,820 that such a call needs
    assertThat(now.marginBp()).isEqualTo(7_800);
    assertThat(now.outsideRate().get(INPUT)).isPositive();
    assertThat(later.outsideRate().has(INPUT)).isFalse();
  }

  @Test
  void shouldNotBeMovedByAHeaderThatIsOlderThanTheOneApplied() {
    // given: two calls, the second sent a second after the first
    EngineContext context = with(MarginModeName.AUTO, 60_000, null);
    String first = granted(context, "r1", 1_000);
    context.sleep(1_000);
    String second = granted(context, "r2", 1_000);
    context.sleep(1_000);
    context.settle(
        second, Outcome.SUCCEEDED, 1_000L, 0L, INPUT, new Reading(null, 40_000L, null), 0, 1_000L);
    long level = context.level(INPUT);

    // when
    List<Event> stale =
        context.settle(
            first, Outcome.SUCCEEDED, 700L, 0L, INPUT, new Reading(null, 9L, null), 0, 2_000L);

    // then: it settles its own lease, which the other header has already
    assertThat(stale).noneMatch(BucketsResynced.class::isInstance);
    assertThat(only(stale, LeaseSettled.class).adjusted().get(INPUT)).isZero();
    assertThat(context.level(INPUT)).isEqualTo(level);
  }

  @Test
  void shouldTakeAReservationOfTheProviderForCountedWhenTheCallBegan() {
    // given: two calls that may produce 7000, of which the provider's number has all
    Dimension output = Dimension.OUTPUT_TOKENS;
    EngineContext context =
        EngineContext.with(
            Redefined.like(
                    EngineContext.quota(
                        Amounts.of(output, 12_000),
                        null,
                        MarginModeName.ADAPTIVE,
                        0.85,
                        Window.TOKEN_BUCKET))
                .provider("bedrock")
                .definition());
    context.ask(EngineContext.request("r1", "a1", 0, 4_000));
    context.sleep(1_000);
    LeaseGranted second =
        only(context.ask(EngineContext.request("r2", "a1", 0, 3_000)), LeaseGranted.class);
    context.sleep(1_000);

    // when
    context.settle(
        second.leaseId(),
        Outcome.IN_PROGRESS,
        0L,
        null,
        output,
        new Reading(null, 4_000L, null),
        0,
        1_000L);
    long level = context.level(output);
    context.settle(second.leaseId(), "a1", Outcome.SUCCEEDED, 0L, 100L);

    // then: 4000 or a second's refill more, less the 1770 kept free; and what was not used comes
    // back
    assertThat(level).isEqualTo(2_430);
    assertThat(context.level(output)).isEqualTo(5_330);
  }

  @Test
  void shouldAskForWhatIsUncertainBeyondTheEstimateAndChargeTheEstimate() {
    // given: depth 59000, of which a sixteenth (3687) is kept free; sigma 0.2 and z 2.5 to begin
    EngineContext context = with(MarginModeName.ADAPTIVE, 60_000, 10_000L);

    // when: exp(2.5 x 0.2) - 1 = 0.6487, and sqrt((0.6487 x 5807)^2 + 3687.5^2) = 5271 beside 5807
    LeaseQueued tooMuch = only(context.ask("r1", "a1", 5_807), LeaseQueued.class);
    context.settle(
        null, "a1", Outcome.CANCELLED, null, null, s -> EngineContext.cancel("r1", "a1"));
    LeaseGranted fits = only(context.ask("r2", "a1", 4_000), LeaseGranted.class);
    List<Event> next = context.ask("r3", "a1", 1_000);

    // then
    assertThat(tooMuch.etaMs()).isEqualTo(1_078);
    assertThat(fits.charged().get(INPUT)).isEqualTo(4_000);
    // 6000 are left, and sqrt((0.6487 x 1000)^2 + (0.5 x 4000)^2 + 3687.5^2) = 4245 kept free
    assertThat(next).anyMatch(LeaseGranted.class::isInstance);
    // then of 5000 sqrt((0.6487 x 800)^2 + (0.5 x 1000)^2 + (0.5 x 4000)^2 + 3687.5^2) = 4256
    List<Event> after = context.ask("r4", "a1", 800);
    assertThat(only(after, LeaseQueued.class).etaMs()).isEqualTo(56);
  }

  @Test
  void shouldGrantAnOversizeCallFromABucketThatIsNearlyFull() {
    // given: depth 59000
    EngineContext context = with(MarginModeName.ADAPTIVE, 60_000, 57_229L);

    // when: 97 % of the depth are asked for, and 57230 are there a millisecond later
    LeaseQueued queued = only(context.ask("r1", "a1", 55_000), LeaseQueued.class);
    List<Event> later = context.sleep(1);

    // then
    assertThat(queued.etaMs()).isEqualTo(1);
    assertThat(only(later, LeaseGranted.class).charged().get(INPUT)).isEqualTo(55_000);
  }

  @Test
  void shouldNotTakeNothingLeftForMoreThanItKnowsItselfToOwe() {
    // given: a call that was let through by a nearly full bucket, and used more than all of it
    EngineContext context = with(MarginModeName.ADAPTIVE, 60_000, 58_000L);
    String lease = granted(context, "r1", 57_000);
    context.sleep(1_000);

    // when: the provider shows its debt as nothing left
    header(context, lease, 75_000, 0);

    // then: 58000 + 1000 - 75000
    assertThat(context.level(INPUT)).isEqualTo(-16_000);
  }

  @Test
  void shouldLetACallLargerThanAShallowBucketWaitUntilThatWasFullForAWhile() {
    // given: a provider 15 s deep, of which 14 s are counted on; 14000, and full
    EngineContext context =
        EngineContext.with(
            Redefined.like(
                    EngineContext.quota(
                        Amounts.of(INPUT, 60_000),
                        Amounts.of(INPUT, 14_000),
                        MarginModeName.ADAPTIVE,
                        0.85,
                        Window.TOKEN_BUCKET))
                .depth(Amounts.of(INPUT, 14_000))
                .definition());

    // when
    LeaseQueued queued = only(context.ask("r1", "a1", 40_000), LeaseQueued.class);
    List<Event> later = context.sleep(1_500);

    // then: a second and a half of the rate later
    assertThat(queued.etaMs()).isEqualTo(1_500);
    assertThat(only(later, LeaseGranted.class).charged().get(INPUT)).isEqualTo(40_000);
    assertThat(context.level(INPUT)).isEqualTo(15_500 - 40_000);
  }

  @Test
  void shouldRaiseTheSafetyFactorOncePerEpisodeAndLowerItByCleanMinutes() {
    // given
    EngineContext context = with(MarginModeName.ADAPTIVE, 600_000, null);
    String first = granted(context, "r1", 100);
    String second = granted(context, "r2", 100);
    context.sleep(1_000);

    // when
    List<Event> raised =
        context.settle(first, Outcome.RATE_LIMITED, null, null, INPUT, null, 0, 900L);
    List<Event> sameEpisode =
        context.settle(second, Outcome.RATE_LIMITED, null, null, INPUT, null, 0, 900L);
    List<Event> minutes = context.sleep(120_000);
    int left = (int) context.sleep(3_600_000).stream().filter(isSafety()).count();

    // then
    assertThat(only(raised, SafetyFactorChanged.class))
        .isEqualTo(new SafetyFactorChanged("k/q", 2_500, 2_750));
    assertThat(raised).noneMatch(MarginCut.class::isInstance);
    assertThat(sameEpisode).noneMatch(isSafety());
    assertThat(minutes)
        .filteredOn(isSafety())
        .containsExactly(
            new SafetyFactorChanged("k/q", 2_750, 2_740),
            new SafetyFactorChanged("k/q", 2_740, 2_730));
    assertThat(left).isEqualTo(23);
  }

  private static java.util.function.Predicate<Event> isSafety() {
    return SafetyFactorChanged.class::isInstance;
  }

  @Test
  void shouldLearnWhatOthersTakeAndRefillLess() {
    // given: 60000 a minute, of which others take a fifth
    EngineContext context = with(MarginModeName.AUTO, 60_000, null);

    // when: of the 2000 that two seconds refill, we take 1600, and the level stays
    for (int i = 0; i < 100; i++) {
      String lease = granted(context, "r" + i, 1_600);
      context.sleep(2_000);
      context.settle(
          lease, Outcome.SUCCEEDED, 1_600L, 0L, INPUT, new Reading(null, 30_000L, null), 0, 2_000L);
    }
    long level = context.level(INPUT);
    context.sleep(2_000);

    // then
    assertThat(context.show().outsideRate().get(INPUT)).isBetween(11_300L, 12_000L);
    assertThat(context.level(INPUT) - level).isBetween(1_600L, 1_625L);
  }

  @Test
  void shouldAllowForALevelThatWasReadWhenTheCallWasAdmitted() {
    // given: 1000 a second, and a first token two seconds after the send
    EngineContext context = with(MarginModeName.ADAPTIVE, 60_000, 40_000L);
    String lease = granted(context, "r1", 10_000);
    context.sleep(2_000);

    // when: 30000 were left, when the call was admitted or when it was answered
    List<Event> settled =
        context.settle(
            lease,
            Outcome.IN_PROGRESS,
            10_000L,
            null,
            INPUT,
            new Reading(null, 30_000L, null),
            0,
            2_000L);

    // then: the balance has counted the refill since the grant, and that stands
    Event.Resync move = only(settled, BucketsResynced.class).dimensions().get(0);
    assertThat(move.low()).isEqualTo(30_000);
    assertThat(move.high()).isEqualTo(32_000);
    assertThat(move.after()).isEqualTo(32_000);
  }

  @Test
  void shouldKeepAReserveOfOutput() {
    // given
    EngineContext context =
        EngineContext.with(
            EngineContext.quota(
                Amounts.of(Dimension.OUTPUT_TOKENS, 6_000),
                null,
                MarginModeName.ADAPTIVE,
                1.0,
                Window.TOKEN_BUCKET));

    // then
    assertThat(context.level(Dimension.OUTPUT_TOKENS)).isEqualTo(5_015);
  }
}
