package dev.fairway.replay.invariants;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.QuotaDefinition.Preset;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The invariants over random runs of the real engine; a failure prints its seed and shrinks. */
class InvariantsPropertyTest {
  private static final int TRIES = 300;

  @Provide
  Arbitrary<List<Action>> actions() {
    return Actions.lists();
  }

  @Provide
  Arbitrary<List<Action>> storms() {
    return Actions.storms();
  }

  @Provide
  Arbitrary<List<Action>> silences() {
    return Actions.silences();
  }

  @Provide
  Arbitrary<List<Action>> comebacks() {
    return Actions.comebacks();
  }

  @Property(tries = TRIES)
  void shouldGiveOutInAnyWindowAtMostDepthAndRefill(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.chargesFitEveryWindow(EngineRun.exact(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldChangeEachBucketOnceForALease(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.eachLeaseChangesABucketOnce(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldNeverRefundAtExpiryNorAboveTheCap(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.refundsAreBounded(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldConserveEveryBalanceAtEveryPrefix(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.conserved(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldReserveWhatOpenLeasesHoldAndLeakNothing(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.reservedIsTheSumOfOpenLeases(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldGrantOrRejectEverybodyByTheDeadline(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(QueueInvariants.everybodyIsAnswered(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldKeepTagsFair(@ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(QueueInvariants.tagsAreFair(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldCountEveryLimitInASharedOrder(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(CostBook.sharedCostsCountEveryLimit(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldBoundWhatPassesAWaitingHead(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(QueueInvariants.passingIsBounded(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldDecideAJournalAgainTheSame(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(JournalInvariants.journalDecidesItselfAgain(EngineRun.of(preset, actions)))
        .isEmpty();
  }

  @Property(tries = TRIES)
  void shouldFollowLevelsWhileHeadersConfirmThem(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(MarginInvariants.losingHeadersFallsBack(steps)).isEmpty();
    assertThat(MarginInvariants.staleHeadersDoNothing(steps)).isEmpty();
    assertThat(MarginInvariants.whatIsAbsorbedMovesNothing(steps)).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldRaiseTheSafetyFactorOncePerEpisode(@ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(Preset.FAIRWAY, actions);
    assertThat(MarginInvariants.episodesRaiseTheSafetyFactor(steps)).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldWriteEveryRowThatChanged(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(JournalInvariants.writtenRowsAreTheState(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = 2 * TRIES)
  void shouldProbeOneByOneWhileABreakerIsOpen(
      @ForAll Preset preset, @ForAll("storms") List<Action> actions) {
    assertThat(QueueInvariants.oneProbeAtATime(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldTrickleAfterProbesThatToldNothing(
      @ForAll Preset preset, @ForAll("silences") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(QueueInvariants.oneProbeAtATime(steps)).isEmpty();
    assertThat(MarginInvariants.episodesRaiseTheSafetyFactor(steps)).isEmpty();
    assertThat(JournalInvariants.writtenRowsAreTheState(steps)).isEmpty();
    assertThat(JournalInvariants.journalDecidesItselfAgain(steps)).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldKeepPlacesInTheirTenants(
      @ForAll Preset preset, @ForAll("comebacks") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(QueueInvariants.tagsAreFair(steps)).isEmpty();
    assertThat(JournalInvariants.writtenRowsAreTheState(steps)).isEmpty();
    assertThat(JournalInvariants.journalDecidesItselfAgain(steps)).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldKeepAllOfItInAStorm(@ForAll Preset preset, @ForAll("storms") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(Invariants.eachLeaseChangesABucketOnce(steps)).isEmpty();
    assertThat(Invariants.conserved(steps)).isEmpty();
    assertThat(Invariants.reservedIsTheSumOfOpenLeases(steps)).isEmpty();
    assertThat(QueueInvariants.everybodyIsAnswered(steps)).isEmpty();
    assertThat(QueueInvariants.tagsAreFair(steps)).isEmpty();
    assertThat(JournalInvariants.journalDecidesItselfAgain(steps)).isEmpty();
    assertThat(JournalInvariants.writtenRowsAreTheState(steps)).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldDoNothingBeforeItsTime(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(TickInvariants.nothingIsOverdue(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldGrantNothingRightAfterAResetNorBeyondTheLastMinute(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(WindowBook.nothingGoesRightAfterAReset(steps)).isEmpty();
    assertThat(LastMinuteBook.grantsHaveRoom(steps)).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldNeverShareMoreThanTheFloorOfTheLimit(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(QueueInvariants.safeSharesFitTheLimit(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldForgetLimitsThatNobodyNames(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(LimitBook.learnedLimitsEnd(steps)).isEmpty();
    assertThat(LimitBook.nobodyIsRefusedForGood(steps)).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldLetNobodyGoSoonerAsTheMarginShrinks(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(ShrinkBook.shrinkingLetsNobodyGoSooner(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldStrandNobodyInAnyBucket(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(LastMinuteBook.whoMayGoGoes(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldReserveTheOutputThatCallsProduced(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(OutputBook.reservesWhatCallsProduced(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldCountWhatIsToldOfCalls(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(UseBook.whatIsToldCounts(steps)).isEmpty();
    assertThat(UseBook.endsCountAsTheQuotaSays(steps)).isEmpty();
    assertThat(UseBook.unleasedCallsCountOnce(steps)).isEmpty();
  }

  @Property(tries = TRIES)
  void shouldKeepTenantsAndReservesWithinTheirShares(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.exact(preset, actions);
    assertThat(PartInvariants.ceilingsFitEveryWindow(steps)).isEmpty();
    assertThat(PartInvariants.reservesFitEveryWindow(steps)).isEmpty();
  }
}
