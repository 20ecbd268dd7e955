package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.QuotaDefinition.Preset;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import net.jqwik.api.Arbitrary;

/**
 * Faults of the engine itself: a line of one of its sources, and what stands there instead. Unlike
 * a {@link Mutant}, which is a run of the sound engine with the journal changed, a broken engine
 * decides by its fault, replays alike, and shows it only in runs that come to where it matters.
 */
enum EngineFault {
  /** Unbounded backfill: a waiting head is passed by any number of small calls. */
  LETS_ANY_NUMBER_PASS(
      QueueInvariants::passingIsBounded,
      Actions::passers,
      "queue/Backfill.java",
      "return charge <= (lane == Lane.BACKFILL_SMALL ? leftSmall : leftOthers);",
      "return charge <= Long.MAX_VALUE && lane != null;"),
  /** What passes is bounded in another dimension than the one that the head waits for. */
  BOUNDS_WHAT_NOBODY_WAITS_FOR(
      QueueInvariants::passingIsBounded,
      Actions::passers,
      "queue/Backfill.java",
      "    Dimension d = fit.dimension();\n",
      """
          boolean in = front.takes().own().has(Dimension.INPUT_TOKENS);
          Dimension d = in ? Dimension.INPUT_TOKENS : fit.dimension();
      """),
  /** Who is ahead of its share passes all the same. */
  LETS_PASS_WHO_IS_AHEAD(
      QueueInvariants::tagsAreFair,
      Actions::passers,
      "queue/Backfill.java",
      "    TenantState tenant = quota.tenant(waiter.standing().tenant());\n    Waiter head",
      "    if (waiter.cost() >= 0) {\n      return true;\n    }\n"
          + "    TenantState tenant = quota.tenant(waiter.standing().tenant());\n    Waiter head"),
  /** A cut for each 429 of one episode. */
  CUTS_AGAIN_IN_AN_EPISODE(
      MarginInvariants::episodesCutOnce,
      Actions::storms,
      "margin/Aimd.java",
      "if (!every && sameEpisode(quota, lease)) {",
      "if (!every && lease == null) {"),
  CUTS_BELOW_THE_FLOOR(
      MarginInvariants::marginsStayInBounds,
      Actions::refusals,
      "margin/Aimd.java",
      "Math.max(quota.policy().marginFloorBp(), from - quota.policy().marginCutBp())",
      "Math.max(1, from - quota.policy().marginCutBp())"),
  /** Its class goes out of turn whether its reserve has anything or not. */
  DOES_NOT_ASK_THE_RESERVE(
      PartInvariants::reservesPayWhatTheyHave,
      Actions::reserves,
      "queue/Fit.java",
      "      if (reserve.has(d)) {",
      "      if (reserve == null) {"),
  /** The reserve as strict priority: its class goes before everybody, as long as tokens last. */
  PUTS_THE_RESERVE_FIRST(
      PartInvariants::reservesPayWhatTheyHave,
      Actions::reserves,
      "queue/Turns.java",
      "      Turn turn = over.contains(front.quota())",
      """
            QuotaState quota = front.quota();
            List<QuotaState> also = quota.also();
            boolean any = also != null && !quota.policy().order().reserves().isEmpty();
            for (TenantState tenant : quota.order().tenants()) {
              Waiter first = any && mayGrant(quota, also) ? tenant.nextInLane(1L, null) : null;
              Takes takes = first == null ? null : Takes.of(quota, first, atMs);
              if (takes != null && Fit.of(quota, first, takes, atMs).dueMs() <= atMs) {
                return new Turn(quota, first, takes, Lane.RESERVE, null);
              }
            }
            Turn turn = over.contains(front.quota())"""),
  /** Under-estimates pay: a settlement moves no tag. */
  LEAVES_TAGS_AT_THE_ESTIMATE(
      UseBook::tagsFollowUse,
      Actions::lists,
      "lease/ActualUse.java",
      "return cost == null\n",
      "return cost == null || lease != null\n"),
  /** A line keeps starts that are spaced by what its calls cost before. */
  SPACES_LINES_BY_OLD_LIMITS(
      RemeasureBook::definitionsMeasureAnew,
      Actions::redefinitions,
      "state/Remeasure.java",
      "shift = Amounts.saturatedSubtract(placed.finishTag(), w.finishTag());",
      "shift = 0;"),
  /** A call is settled by other limits than it was granted at. */
  SETTLES_BY_OTHER_LIMITS(
      RemeasureBook::definitionsMeasureAnew,
      Actions::redefinitions,
      "state/Remeasure.java",
      "if (before != null && now != before) {",
      "if (before != null && now < 0) {"),
  /** Who takes from a quota is not measured anew with it. */
  MEASURES_ITS_OWN_LINE_ALONE(
      RemeasureBook::definitionsMeasureAnew,
      Actions::redefinitions,
      "state/Remeasure.java",
      "if (defined.policy.limits().equals(limitsBefore)) {",
      "if (defined.policy != null) {"),
  GRANTS_IN_A_HOLD(
      HoldBook::nothingIsGranted,
      Actions::storms,
      "queue/Turns.java",
      "if (each.holdReason(atMs) != null) {",
      "if (each.holdReason(atMs) != null && each.holdUntilMs() == null) {"),
  GRANTS_WHILE_PAUSED(
      HoldBook::nothingIsGranted,
      Actions::pauses,
      "queue/Turns.java",
      "if (each.definition().state() == State.PAUSED) {",
      "if (each.definition().state() == State.PAUSED && each.removed()) {"),
  /** Traffic comes back at once after a pause. */
  NEVER_RAMPS(
      RampBook::rampsPaceGrants,
      Actions::outages,
      "breaker/Ramps.java",
      "return ramp == null ? atMs : atMs",
      "return ramp == null || !ramp.trickle() ? atMs : atMs"),
  BOUNDS_NO_RETRIES(
      BudgetBook::budgetsHold,
      Actions::retries,
      "lease/CallBudgets.java",
      "return key.retriesOf(budgetTask) >= most\n",
      "return key.retriesOf(budgetTask) == Integer.MAX_VALUE\n"),
  BOUNDS_NO_CALLS(
      BudgetBook::budgetsHold,
      Actions::retries,
      "lease/CallBudgets.java",
      "key.callsOf(taskId) >= calls",
      "key.callsOf(taskId) == Integer.MAX_VALUE"),
  BOUNDS_NO_RETRIES_OF_AGENTS(
      BudgetBook::agentsRetryWithinTheirHour,
      Actions::failures,
      "lease/CallBudgets.java",
      "if (times.size() < bound) {",
      "if (times.size() < Integer.MAX_VALUE) {"),
  BOUNDS_NO_SHARE_OF_RETRIES(
      RetryShareBook::retriesAreAFewOfAllCalls,
      Actions::failures,
      "lease/CallBudgets.java",
      "if (hasRoom(quota, share, nowMs)) {",
      "if (share >= 0) {"),
  /** Refund on reap. */
  GIVES_BACK_AT_EXPIRY(
      Invariants::refundsAreBounded,
      Actions::lists,
      "lease/UntoldUse.java",
      "moves.adjusted(),",
      "SettlementHandler.withoutSlot(lease.charged()),"),
  /** No debt. */
  OWES_NOTHING(
      Invariants::refundsAreBounded,
      Actions::lists,
      "bucket/Bucket.java",
      "return new Bucket(Amounts.saturatedSubtract(balance, amount), remainder, clipped);",
      "return new Bucket(\n"
          + "Math.max(0, Amounts.saturatedSubtract(balance, amount)), remainder, clipped);"),
  /** A tag from zero. */
  STARTS_FLOWS_AT_ZERO(
      QueueInvariants::tagsAreFair,
      Actions::lists,
      "state/TenantState.java",
      "return flow == null ? virtualTime : Math.max(virtualTime, flow);",
      "return flow == null ? 0 : flow;"),
  /** Double settlement. */
  SETTLES_AGAIN(
      Invariants::eachLeaseChangesABucketOnce,
      Actions::lists,
      "lease/SettlementHandler.java",
      "lease.status() == Status.SETTLED",
      "lease.status() == null"),
  /** Refund of what the provider's number has already. */
  MOVES_WHAT_IS_ABSORBED(
      MarginInvariants::whatIsAbsorbedMovesNothing,
      Actions::lists,
      "state/QuotaState.java",
      "if (before == null || d == Dimension.OUTPUT_TOKENS) {",
      "if (before == null || d != null) {"),
  /** A wedged probe. */
  WAITS_FOR_A_PROBE_FOR_EVER(
      QueueInvariants::oneProbeAtATime,
      Actions::silences,
      "breaker/Breaker.java",
      "if (gone || breaker.untilMs() <= tx.nowMs()) {",
      "if (gone && breaker.untilMs() <= tx.nowMs()) {",
      "return breaker.phase() == Phase.HALF_OPEN ? breaker.untilMs() : Long.MAX_VALUE;",
      "return Long.MAX_VALUE;");

  private final Function<List<Step>, List<String>> check;
  private final Supplier<Arbitrary<List<Action>>> actions;
  private final String source;
  private final List<String> edits;

  EngineFault(
      Function<List<Step>, List<String>> check,
      Supplier<Arbitrary<List<Action>>> actions,
      String source,
      String... edits) {
    this.check = check;
    this.actions = actions;
    this.source = source;
    this.edits = List.of(edits);
  }

  /** Loads the engine with this fault. */
  ClassLoader engine() {
    return new PatchedLoader(source, edits);
  }

  /** The scripts of the property that has to find it. */
  Arbitrary<List<Action>> actions() {
    return actions.get();
  }

  /** What that property finds in a run of the n-th script. */
  List<String> check(int n, List<Action> script) {
    Preset[] presets = Preset.values();
    return check.apply(EngineRun.of(presets[n % presets.length], script));
  }
}
