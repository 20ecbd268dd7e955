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

  @Provide
  Arbitrary<List<Action>> passers() {
    return Actions.passers();
  }

  @Provide
  Arbitrary<List<Action>> reserves() {
    return Actions.reserves();
  }

  @Provide
  Arbitrary<List<Action>> refusals() {
    return Actions.refusals();
  }

  @Provide
  Arbitrary<List<Action>> pauses() {
    return Actions.pauses();
  }

  @Provide
  Arbitrary<List<Action>> outages() {
    return Actions.outages();
  }

  @Provide
  Arbitrary<List<Action>> retries() {
    return Actions.retries();
  }

  @Provide
  Arbitrary<List<Action>> redefinitions() {
    return Actions.redefinitions();
  }

  @Provide
  Arbitrary<List<Action>> failures() {
    return Actions.failures();
  }

  @Property
  void shouldGiveOutInAnyWindowAtMostDepthAndRefill(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.chargesFitEveryWindow(EngineRun.exact(preset, actions))).isEmpty();
  }

  @Property
  void shouldChangeEachBucketOnceForALease(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.eachLeaseChangesABucketOnce(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldNeverRefundAtExpiryNorAboveTheCap(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.refundsAreBounded(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldConserveEveryBalanceAtEveryPrefix(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.conserved(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldReserveWhatOpenLeasesHoldAndLeakNothing(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(Invariants.reservedIsTheSumOfOpenLeases(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldGrantOrRejectEverybodyByTheDeadline(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(QueueInvariants.everybodyIsAnswered(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldKeepTagsFair(@ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(QueueInvariants.tagsAreFair(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldCountEveryLimitInASharedOrder(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(CostBook.sharedCostsCountEveryLimit(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldBoundWhatPassesAWaitingHead(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(QueueInvariants.passingIsBounded(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldDecideAJournalAgainTheSame(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(JournalInvariants.journalDecidesItselfAgain(EngineRun.of(preset, actions)))
        .isEmpty();
  }

  @Property
  void shouldFollowLevelsWhileHeadersConfirmThem(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(MarginInvariants.losingHeadersFallsBack(steps)).isEmpty();
    assertThat(MarginInvariants.staleHeadersDoNothing(steps)).isEmpty();
    assertThat(MarginInvariants.whatIsAbsorbedMovesNothing(steps)).isEmpty();
  }

  @Property
  void shouldRaiseTheSafetyFactorOncePerEpisode(@ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(Preset.FAIRWAY, actions);
    assertThat(MarginInvariants.episodesRaiseTheSafetyFactor(steps)).isEmpty();
  }

  @Property
  void shouldWriteEveryRowThatChanged(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(JournalInvariants.writtenRowsAreTheState(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldProbeOneByOneWhileABreakerIsOpen(
      @ForAll Preset preset, @ForAll("storms") List<Action> actions) {
    assertThat(QueueInvariants.oneProbeAtATime(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldTrickleAfterProbesThatToldNothing(
      @ForAll Preset preset, @ForAll("silences") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(QueueInvariants.oneProbeAtATime(steps)).isEmpty();
    assertThat(MarginInvariants.episodesRaiseTheSafetyFactor(steps)).isEmpty();
    assertThat(JournalInvariants.writtenRowsAreTheState(steps)).isEmpty();
    assertThat(JournalInvariants.journalDecidesItselfAgain(steps)).isEmpty();
  }

  @Property
  void shouldKeepPlacesInTheirTenants(
      @ForAll Preset preset, @ForAll("comebacks") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(QueueInvariants.tagsAreFair(steps)).isEmpty();
    assertThat(JournalInvariants.writtenRowsAreTheState(steps)).isEmpty();
    assertThat(JournalInvariants.journalDecidesItselfAgain(steps)).isEmpty();
  }

  @Property
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

  @Property
  void shouldDoNothingBeforeItsTime(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(TickInvariants.nothingIsOverdue(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldGrantNothingRightAfterAResetNorBeyondTheLastMinute(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(WindowBook.nothingGoesRightAfterAReset(steps)).isEmpty();
    assertThat(LastMinuteBook.grantsHaveRoom(steps)).isEmpty();
  }

  @Property
  void shouldNeverShareMoreThanTheFloorOfTheLimit(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(QueueInvariants.safeSharesFitTheLimit(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldForgetLimitsThatNobodyNames(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(LimitBook.learnedLimitsEnd(steps)).isEmpty();
    assertThat(LimitBook.nobodyIsRefusedForGood(steps)).isEmpty();
  }

  @Property
  void shouldLetNobodyGoSoonerAsTheMarginShrinks(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(ShrinkBook.shrinkingLetsNobodyGoSooner(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldStrandNobodyInAnyBucket(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(LastMinuteBook.whoMayGoGoes(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldReserveTheOutputThatCallsProduced(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    assertThat(OutputBook.reservesWhatCallsProduced(EngineRun.of(preset, actions))).isEmpty();
  }

  @Property
  void shouldCountWhatIsToldOfCalls(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(UseBook.whatIsToldCounts(steps)).isEmpty();
    assertThat(UseBook.endsCountAsTheQuotaSays(steps)).isEmpty();
    assertThat(UseBook.unleasedCallsCountOnce(steps)).isEmpty();
  }

  @Property
  void shouldKeepTenantsAndReservesWithinTheirShares(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.exact(preset, actions);
    assertThat(PartInvariants.ceilingsFitEveryWindow(steps)).isEmpty();
    assertThat(PartInvariants.reservesFitEveryWindow(steps)).isEmpty();
  }

  @Property
  void shouldLetLittlePassAndNobodyAheadOfItsShare(
      @ForAll Preset preset, @ForAll("passers") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(QueueInvariants.passingIsBounded(steps)).isEmpty();
    assertThat(QueueInvariants.tagsAreFair(steps)).isEmpty();
  }

  @Property
  void shouldCutOnceAnEpisode(@ForAll Preset preset, @ForAll("storms") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(MarginInvariants.episodesCutOnce(steps)).isEmpty();
    assertThat(MarginInvariants.marginsStayInBounds(steps)).isEmpty();
  }

  @Property
  void shouldKeepMarginsBetweenFloorAndStart(
      @ForAll Preset preset, @ForAll("refusals") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(MarginInvariants.episodesCutOnce(steps)).isEmpty();
    assertThat(MarginInvariants.marginsStayInBounds(steps)).isEmpty();
  }

  @Property
  void shouldPayOutOfReservesWhatTheyHave(
      @ForAll Preset preset, @ForAll("reserves") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(PartInvariants.reservesPayWhatTheyHave(steps)).isEmpty();
  }

  @Property
  void shouldMoveTagsByWhatCallsUsed(
      @ForAll Preset preset, @ForAll("actions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(UseBook.tagsFollowUse(steps)).isEmpty();
  }

  @Property
  void shouldGrantNothingInAHold(@ForAll Preset preset, @ForAll("storms") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(HoldBook.nothingIsGranted(steps)).isEmpty();
  }

  @Property
  void shouldGrantNothingWhilePaused(
      @ForAll Preset preset, @ForAll("pauses") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(HoldBook.nothingIsGranted(steps)).isEmpty();
  }

  @Property
  void shouldComeBackSlowlyAfterAPause(
      @ForAll Preset preset, @ForAll("outages") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(RampBook.rampsPaceGrants(steps)).isEmpty();
    assertThat(HoldBook.nothingIsGranted(steps)).isEmpty();
  }

  @Property
  void shouldTakeNoMoreCallsAndRetriesThanBudgeted(
      @ForAll Preset preset, @ForAll("retries") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(BudgetBook.budgetsHold(steps)).isEmpty();
    assertThat(BudgetBook.agentsRetryWithinTheirHour(steps)).isEmpty();
    assertThat(RetryShareBook.retriesAreAFewOfAllCalls(steps)).isEmpty();
  }

  @Property
  void shouldBoundRetriesWhereMostCallsFail(
      @ForAll Preset preset, @ForAll("failures") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(BudgetBook.agentsRetryWithinTheirHour(steps)).isEmpty();
    assertThat(RetryShareBook.retriesAreAFewOfAllCalls(steps)).isEmpty();
  }

  @Property
  void shouldMeasureAnewWhereADefinitionChangesCosts(
      @ForAll Preset preset, @ForAll("redefinitions") List<Action> actions) {
    List<Step> steps = EngineRun.of(preset, actions);
    assertThat(RemeasureBook.definitionsMeasureAnew(steps)).isEmpty();
    assertThat(QueueInvariants.tagsAreFair(steps)).isEmpty();
    assertThat(QueueInvariants.everybodyIsAnswered(steps)).isEmpty();
    assertThat(UseBook.tagsFollowUse(steps)).isEmpty();
    assertThat(JournalInvariants.writtenRowsAreTheState(steps)).isEmpty();
    assertThat(JournalInvariants.journalDecidesItselfAgain(steps)).isEmpty();
  }
}
