package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BreakerCause;
import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.BreakerHalfOpen;
import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Taken;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import net.jqwik.api.Arbitrary;

/**
 * Broken engines, made from runs of the real one: what each would have written. The check beside it
 * is the invariant that has to find it; {@code docs/invariants.md} lists them by invariant. Engines
 * that really are broken, and the scripts that bring it out, are {@link EngineFault}s.
 *
 * <p>The classic faults by name: refund on reap {@link #REFUNDS_ON_REAP}, no debt {@link
 * #FORGIVES_DEBT}, a tag from zero {@link #STARTS_A_NEWCOMER_AT_ZERO}, double settlement {@link
 * #SETTLES_TWICE}, unbounded backfill {@link #PASSES_WITHOUT_BOUND}, a cut for each 429 of one
 * episode {@link #CUTS_ON_EVERY_429}, refund of what is absorbed {@link #REFUNDS_WHAT_IS_ABSORBED},
 * the reserve as strict priority {@link #GIVES_THE_RESERVE_PRIORITY}, a wedged probe {@link
 * #WEDGES_A_PROBE}.
 */
enum Mutant {
  GRANTS_WITHOUT_WAITING(Invariants::chargesFitEveryWindow, BrokenBuckets::grantAtOnce),
  SETTLES_TWICE(Invariants::eachLeaseChangesABucketOnce, BrokenBuckets::settleTwice),
  REFUNDS_ONE_TOO_MANY(
      Invariants::eachLeaseChangesABucketOnce,
      steps ->
          Tamper.each(
              steps,
              LeaseSettled.class,
              e -> Tamper.settled(e, e.adjusted().plus(Amounts.of(Dimension.INPUT_TOKENS, 1))))),
  REFUNDS_ON_REAP(Invariants::refundsAreBounded, BrokenBuckets::refundOnReap),
  FORGIVES_DEBT(
      Invariants::refundsAreBounded,
      steps ->
          BrokenBuckets.eachBucket(
              steps, b -> Tamper.bucket(b, Math.max(0, b.balance()), b.remainder(), b.clipped()))),
  REFUNDS_ABOVE_THE_CAP(Invariants::refundsAreBounded, BrokenBuckets::refundAboveTheCap),
  FORGETS_THE_REMAINDER(Invariants::conserved, BrokenBuckets::forgetRemainder),
  DOES_NOT_COUNT_WHAT_IS_CLIPPED(
      Invariants::conserved,
      steps ->
          BrokenBuckets.eachBucket(steps, b -> Tamper.bucket(b, b.balance(), b.remainder(), 0))),
  JOURNALS_ANOTHER_CHARGE(
      Invariants::conserved,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e -> {
                Dimension d =
                    e.charged().has(Dimension.TOKENS) ? Dimension.TOKENS : Dimension.OUTPUT_TOKENS;
                Amounts charged = e.charged().with(d, e.charged().get(d) + 1);
                return Tamper.granted(e, charged, e.grantedAtMs(), e.virtualTime());
              })),
  LEAKS_A_LEASE(
      Invariants::reservedIsTheSumOfOpenLeases,
      steps -> Tamper.each(steps, LeaseExpired.class, e -> null)),
  RESERVES_FOR_EXPIRED_LEASES(
      Invariants::reservedIsTheSumOfOpenLeases,
      steps -> steps.stream().map(step -> Tamper.rows(step, BrokenBuckets::reopen)).toList()),
  STARVES_SOMEBODY(
      QueueInvariants::everybodyIsAnswered,
      steps -> Tamper.each(steps, LeaseGranted.class, e -> e.attempt() > 1 ? null : e)),
  REJECTS_LATE(QueueInvariants::everybodyIsAnswered, BrokenOrder::rejectLate),
  STARTS_A_NEWCOMER_AT_ZERO(
      QueueInvariants::tagsAreFair,
      steps ->
          Tamper.each(
              steps,
              LeaseEnqueued.class,
              e -> e.waiter().attempt() == 1 ? Tamper.enqueued(e, 0) : e)),
  GIVES_A_RETRY_A_NEW_TAG(
      QueueInvariants::tagsAreFair,
      steps ->
          Tamper.each(
              steps,
              LeaseEnqueued.class,
              e -> e.waiter().attempt() > 1 ? Tamper.enqueued(e, e.waiter().startTag() + 1) : e)),
  LETS_VIRTUAL_TIME_FALL(
      QueueInvariants::tagsAreFair,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e -> Tamper.granted(e, e.charged(), e.grantedAtMs(), -e.virtualTime()))),
  CHARGES_FOR_A_REJECT(QueueInvariants::tagsAreFair, BrokenOrder::chargeForReject),
  SAVES_UP_CREDIT(QueueInvariants::tagsAreFair, BrokenOrder::saveUpCredit),
  /** Of quotas that share one, each counts what a call takes of itself. */
  COUNTS_ITS_OWN_LIMITS_ALONE(CostBook::sharedCostsCountEveryLimit, CostBook::ofItsOwnLimits),
  /** Kept places of one agent are taken up side by side. */
  KEEPS_PLACES_SIDE_BY_SIDE(QueueInvariants::tagsAreFair, BrokenOrder::keepPlacesSideBySide),
  CARRIES_PLACES_ACROSS_TENANTS(QueueInvariants::tagsAreFair, BrokenOrder::carryPlacesAcross),
  /** What is told on the way moves the line less than the tag. */
  MOVES_NO_LINE_ON_THE_WAY(
      QueueInvariants::tagsAreFair,
      steps ->
          Tamper.each(
              steps,
              Event.LeaseRenewed.class,
              e ->
                  new Event.LeaseRenewed(
                      e.quotaId(),
                      e.requestId(),
                      e.agentId(),
                      e.leaseId(),
                      e.adjusted(),
                      e.told(),
                      e.expiresAtMs(),
                      e.sendDelayMs(),
                      e.shift(),
                      e.tagShift() + 1,
                      e.cost()))),
  LEAVES_THE_LINE_BEHIND(QueueInvariants::tagsAreFair, BrokenOrder::leaveTheLineBehind),
  PASSES_WITHOUT_BOUND(
      QueueInvariants::passingIsBounded,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e -> {
                Amounts more = e.charged();
                for (Dimension d : Dimension.values()) {
                  more = more.has(d) ? more.with(d, more.get(d) + 1_000) : more;
                }
                return Tamper.granted(e, more, e.grantedAtMs(), e.virtualTime());
              })),
  GIVES_THE_RESERVE_PRIORITY(Invariants::conserved, BrokenBuckets::everythingOutOfReserve),
  TAKES_NOTHING_FROM_THE_OTHER_QUOTA(
      Invariants::conserved,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e ->
                  Tamper.taken(
                      e,
                      new Taken(
                          Map.of(),
                          e.taken().reserve(),
                          e.taken().ceiling(),
                          false,
                          null,
                          false)))),
  LETS_A_TENANT_ABOVE_ITS_CEILING(
      Invariants::conserved,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e ->
                  Tamper.taken(
                      e,
                      new Taken(
                          e.taken().also(),
                          e.taken().reserve(),
                          Amounts.NONE,
                          false,
                          null,
                          false)))),
  WEDGES_A_PROBE(
      QueueInvariants::oneProbeAtATime,
      steps ->
          Tamper.each(
              steps, BreakerOpened.class, e -> e.cause() == BreakerCause.PROBE_SILENT ? null : e)),
  KEEPS_A_PROBE_THAT_WAS_NOT_SENT(
      QueueInvariants::oneProbeAtATime,
      steps ->
          Tamper.each(
              steps,
              BreakerOpened.class,
              e -> e.cause() == BreakerCause.PROBE_NOT_SENT ? null : e)),
  GRANTS_PAST_AN_OPEN_BREAKER(
      QueueInvariants::oneProbeAtATime,
      steps -> Tamper.each(steps, BreakerHalfOpen.class, e -> null)),
  NEVER_CLOSES(
      QueueInvariants::oneProbeAtATime,
      steps -> Tamper.each(steps, BreakerClosed.class, e -> null)),
  DOES_NOT_WAIT_LONGER(
      QueueInvariants::oneProbeAtATime,
      steps ->
          Tamper.each(
              steps,
              BreakerOpened.class,
              e -> new BreakerOpened(e.quotaId(), e.cause(), e.failures() + 1, e.probeAtMs()))),
  OPENS_AT_ONE_429(QueueInvariants::oneProbeAtATime, BrokenBreaker::openAtOne429),
  /** The probe is charged to virtual time, as if it had been its turn. */
  PROBE_MOVES_VIRTUAL_TIME(
      QueueInvariants::tagsAreFair,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e ->
                  e.order().lane() == Event.Lane.PROBE
                      ? Tamper.granted(e, e.charged(), e.grantedAtMs(), e.virtualTime() + 1)
                      : e)),
  PROBES_TWICE_AT_ONCE(QueueInvariants::oneProbeAtATime, BrokenBreaker::twoProbes),
  NEVER_TRICKLES(QueueInvariants::oneProbeAtATime, BrokenBreaker::probeAgain),
  FLOODS_IN_A_TRICKLE(QueueInvariants::oneProbeAtATime, BrokenBreaker::flood),
  FORGETS_EARLIER_REFUSALS(QueueInvariants::oneProbeAtATime, BrokenBreaker::beginAnew),
  /** Whoever is first in line probes, however often he was refused. */
  PROBES_WITH_WHO_WAS_REFUSED_MOST(
      QueueInvariants::oneProbeAtATime,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e -> e.order().lane() == Event.Lane.PROBE ? e : Tamper.asAttempt(e, 9))),
  REFUNDS_A_REFUSAL_TWICE(
      Invariants::eachLeaseChangesABucketOnce,
      steps ->
          Tamper.each(
              steps,
              LeaseSettled.class,
              e ->
                  e.outcome() == Outcome.RATE_LIMITED
                      ? Tamper.settled(e, e.adjusted().plus(e.adjusted()))
                      : e)),
  SHARES_BY_HEADCOUNT(QueueInvariants::safeSharesFitTheLimit, BrokenOrder::shareByHeadcount),
  SHARES_WITHOUT_THE_OTHER_QUOTA(
      QueueInvariants::safeSharesFitTheLimit, BrokenOrder::shareOfTheQuotaAlone),
  CUTS_ON_EVERY_429(MarginInvariants::episodesCutOnce, BrokenBreaker::cutOnEvery429),
  DECIDES_BY_SOMETHING_ELSE(
      JournalInvariants::journalDecidesItselfAgain,
      steps ->
          Tamper.each(
              steps, LeaseEnqueued.class, e -> Tamper.enqueued(e, e.waiter().startTag() + 1))),
  FOLLOWS_LEVELS_FOR_EVER(MarginInvariants::losingHeadersFallsBack, BrokenBuckets::followForEver),
  APPLIES_OLD_HEADERS(
      MarginInvariants::staleHeadersDoNothing,
      steps ->
          Tamper.each(
              steps,
              BucketsResynced.class,
              e -> Tamper.resynced(e, -e.sentAtMs(), UnaryOperator.identity()))),
  REFUNDS_WHAT_IS_ABSORBED(
      MarginInvariants::whatIsAbsorbedMovesNothing,
      steps ->
          Tamper.each(
              steps,
              LeaseSettled.class,
              e ->
                  e.adjusted().has(Dimension.INPUT_TOKENS)
                      ? Tamper.settled(
                          e,
                          e.adjusted()
                              .with(
                                  Dimension.INPUT_TOKENS,
                                  e.adjusted().get(Dimension.INPUT_TOKENS) + 1))
                      : e)),
  ADOPTS_WHAT_IT_IS_TOLD(
      Invariants::conserved,
      steps ->
          Tamper.each(
              steps,
              BucketsResynced.class,
              e ->
                  Tamper.resynced(
                      e,
                      e.sentAtMs(),
                      r ->
                          new Event.Resync(
                              r.dimension(),
                              r.before(),
                              r.low(),
                              r.high(),
                              r.low() == null ? r.after() : r.low(),
                              r.outsideMilli())))),
  DOES_NOT_JOURNAL_WHAT_OTHERS_TAKE(
      Invariants::conserved,
      steps ->
          Tamper.each(
              steps,
              BucketsResynced.class,
              e ->
                  Tamper.resynced(
                      e,
                      e.sentAtMs(),
                      r ->
                          new Event.Resync(
                              r.dimension(), r.before(), r.low(), r.high(), r.after(), null)))),
  DOES_NOT_RAISE_THE_SAFETY_FACTOR(
      MarginInvariants::episodesRaiseTheSafetyFactor,
      steps -> Tamper.each(steps, Event.SafetyFactorChanged.class, e -> null)),
  CHANGES_ITS_MODE_SILENTLY(
      Invariants::conserved, steps -> Tamper.each(steps, Event.MarginModeChanged.class, e -> null)),
  DOES_NOT_WRITE_WHAT_IT_LEARNS(
      JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.ROLE)),
  DOES_NOT_WRITE_AN_AGENT(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.AGENT)),
  DOES_NOT_WRITE_A_WAITER(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.WAITER)),
  DOES_NOT_WRITE_A_LEASE(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.LEASE)),
  DOES_NOT_WRITE_A_BALANCE(
      JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.BALANCE)),
  DOES_NOT_WRITE_A_FLOW(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.FLOW)),
  DOES_NOT_WRITE_A_TENANT(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.TENANT)),
  DOES_NOT_WRITE_A_RESERVE(
      JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.RESERVE)),
  DOES_NOT_WRITE_A_TASK(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.TASK)),
  DOES_NOT_COUNT_TRAFFIC(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.TRAFFIC)),
  DOES_NOT_WRITE_A_SHARE(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.SHARE)),
  DOES_NOT_WRITE_A_BREAKER(
      JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.BREAKER)),
  DOES_NOT_REMEMBER(JournalInvariants::writtenRowsAreTheState, withoutRows(Row.Kind.REMEMBERED)),
  /** Every other minute of a provider begins before its time. */
  TAKES_TWO_MINUTES_FOR_ONE(WindowBook::providersRefuseNothing, BrokenWindows::mergeMinutes),
  /** Nothing of the last minute keeps anybody waiting. */
  FORGETS_THE_LAST_MINUTE(LastMinuteBook::grantsHaveRoom, BrokenWindows::grantAtOnce),
  DROPS_THE_GUARD(WindowBook::nothingGoesRightAfterAReset, BrokenWindows::withoutGuard),
  FORGETS_USE_ON_REFUND_TWICE(LastMinuteBook::nothingIsForgotten, BrokenWindows::refundAgain),
  FORGETS_A_CALL_THAT_ENDED(
      LastMinuteBook::nothingIsForgotten,
      steps ->
          steps.stream().map(step -> BrokenWindows.without(step, Lease.Status.SETTLED)).toList()),
  FORGETS_A_CALL_THAT_EXPIRED(
      LastMinuteBook::nothingIsForgotten,
      steps ->
          steps.stream().map(step -> BrokenWindows.without(step, Lease.Status.EXPIRED)).toList()),
  FORGETS_A_CALL_WITHOUT_A_LEASE(
      LastMinuteBook::nothingIsForgotten,
      steps -> steps.stream().map(BrokenWindows::withoutUnleased).toList()),
  LETS_NOBODY_GO(LastMinuteBook::whoMayGoGoes, BrokenWindows::idle),
  TELLS_ITS_TIME_TOO_LATE(
      TickInvariants::nothingIsOverdue,
      steps -> steps.stream().map(step -> Tamper.due(step, step.dueMs() + 1_000)).toList()),
  KEEPS_A_LEARNED_LIMIT(
      LimitBook::learnedLimitsEnd,
      steps -> Tamper.each(steps, Event.LimitForgotten.class, e -> null)),
  /** What an answer names is taken over, also above the operator's limit. */
  LEARNS_A_HIGHER_LIMIT(
      LimitBook::learnedLimitsEnd,
      steps ->
          Tamper.each(
              steps,
              Event.LimitLearned.class,
              e ->
                  new Event.LimitLearned(
                      e.quotaId(), e.dimension(), e.limitPerMinute() + 1_000_000))),
  REFUSES_FOR_GOOD_BY_WHAT_IS_LEARNED(
      LimitBook::nobodyIsRefusedForGood,
      steps -> Tamper.each(steps, Event.LeaseRejected.class, e -> Tamper.comingBack(e, null))),
  CALLS_BACK_WHO_NEVER_FITS(
      LimitBook::nobodyIsRefusedForGood,
      steps ->
          Tamper.each(
              steps,
              Event.LeaseRejected.class,
              e -> e.retryAtMs() != null ? e : Tamper.comingBack(e, Long.MAX_VALUE))),
  REFILLS_AS_IF_NOTHING_WAS_LEARNED(
      Invariants::conserved, steps -> Tamper.each(steps, Event.LimitLearned.class, e -> null)),
  ONLY_CLIPS_AS_THE_MARGIN_SHRINKS(
      ShrinkBook::shrinkingLetsNobodyGoSooner, BrokenMargins::onlyClip),
  STRANDS_WHO_IS_LARGER_THAN_THE_MARGIN(
      LastMinuteBook::whoMayGoGoes, BrokenMargins::strandTheLarge),
  RESERVES_MORE_THAN_MAX_TOKENS(
      OutputBook::reservesWhatCallsProduced,
      steps -> BrokenMargins.reserve(steps, output -> output + 300)),
  RESERVES_WHAT_NO_CALL_PRODUCED(
      OutputBook::reservesWhatCallsProduced,
      steps -> BrokenMargins.reserve(steps, output -> output / 2)),
  /** An end without a word gives back what was told before it. */
  GIVES_BACK_WHAT_WAS_TOLD(UseBook::whatIsToldCounts, BrokenUse::giveBackWhatWasTold),
  FORGETS_THE_BURNDOWN(UseBook::endsCountAsTheQuotaSays, BrokenUse::forgetTheBurndown),
  FORGETS_CACHE_READS(UseBook::endsCountAsTheQuotaSays, BrokenUse::forgetCacheReads),
  BELIEVES_NEVER_SENT(UseBook::whatIsToldCounts, BrokenUse::believeNeverSent),
  TAKES_THE_LAST_WORD(UseBook::whatIsToldCounts, BrokenUse::takeTheLastWord),
  /** A call without a lease is dropped where its id is that of a request. */
  DROPS_UNLEASED_CALLS_OF_KNOWN_IDS(UseBook::unleasedCallsCountOnce, BrokenUse::dropKnownIds),
  CHARGES_UNLEASED_CALLS_TWICE(UseBook::unleasedCallsCountOnce, BrokenUse::chargeTwice),
  /** The lease of its own request is given back, and the call is charged beside it. */
  CHARGES_A_LEASED_CALL_AS_ANOTHER(
      UseBook::unleasedCallsCountOnce, BrokenUse::chargeBesideItsLease),
  CHARGES_ABSURD_USE(UseBook::unleasedCallsCountOnce, BrokenUse::chargeAbsurdUse),
  FORGETS_THE_CEILING_OF_UNLEASED_CALLS(
      Invariants::conserved,
      steps ->
          Tamper.each(
              steps, Event.UnleasedCharged.class, e -> BrokenUse.charging(e, Amounts.NONE))),
  GRANTS_ABOVE_A_CEILING(PartInvariants::ceilingsFitEveryWindow, BrokenBuckets::grantAtOnce),
  PAYS_FOR_EVERYBODY_OUT_OF_A_RESERVE(
      PartInvariants::reservesFitEveryWindow, BrokenBuckets::everythingOutOfReserve),
  PAYS_TWICE_OUT_OF_A_RESERVE(
      PartInvariants::reservesFitEveryWindow,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e ->
                  Tamper.taken(
                      e,
                      new Taken(
                          e.taken().also(),
                          e.taken().reserve().plus(e.taken().reserve()),
                          e.taken().ceiling(),
                          e.taken().outOfReserve(),
                          e.taken().passed(),
                          e.taken().passedSmall()))));

  /** Mutants of windows, found in minutes of truthful providers. */
  private static final Set<Mutant> OF_MINUTES =
      EnumSet.range(TAKES_TWO_MINUTES_FOR_ONE, LETS_NOBODY_GO);

  /** Mutants that probes show which tell nothing. */
  private static final Set<Mutant> OF_SILENCE =
      EnumSet.of(NEVER_TRICKLES, FLOODS_IN_A_TRICKLE, FORGETS_EARLIER_REFUSALS);

  /** Mutants that only runs with exact estimates tell from the sound engine. */
  private static final Set<Mutant> OF_EXACT =
      EnumSet.of(
          GRANTS_WITHOUT_WAITING,
          GRANTS_ABOVE_A_CEILING,
          PAYS_FOR_EVERYBODY_OUT_OF_A_RESERVE,
          PAYS_TWICE_OUT_OF_A_RESERVE);

  private final Function<List<Step>, List<String>> check;
  private final UnaryOperator<List<Step>> tamper;

  Mutant(Function<List<Step>, List<String>> check, UnaryOperator<List<Step>> tamper) {
    this.check = check;
    this.tamper = tamper;
  }

  /** The run that shows it, the n-th of them. */
  List<Step> run(int n, List<Action> actions) {
    Preset[] presets = Preset.values();
    Preset preset = needsAStorm() ? Preset.FAIRWAY : presets[n % presets.length];
    if (OF_MINUTES.contains(this)) {
      return WindowRun.of(preset, n % 4 >= 2, actions);
    }
    return OF_EXACT.contains(this)
        ? EngineRun.exact(preset, actions)
        : EngineRun.of(preset, actions);
  }

  /** The actions that show it. */
  Arbitrary<List<Action>> actions() {
    if (OF_MINUTES.contains(this)) {
      return Actions.minutes();
    }
    if (OF_SILENCE.contains(this)) {
      return Actions.silences();
    }
    if (this == CARRIES_PLACES_ACROSS_TENANTS) {
      return Actions.comebacks();
    }
    return needsAStorm() ? Actions.storms() : Actions.lists();
  }

  /** Whether it takes 429s in a row to tell it from the sound engine. */
  private boolean needsAStorm() {
    return EnumSet.range(WEDGES_A_PROBE, REFUNDS_A_REFUSAL_TWICE).contains(this)
        || this == DOES_NOT_WRITE_A_BREAKER;
  }

  List<String> check(List<Step> steps) {
    return check.apply(steps);
  }

  List<Step> tamper(List<Step> steps) {
    return tamper.apply(steps);
  }

  private static UnaryOperator<List<Step>> withoutRows(Row.Kind kind) {
    return steps ->
        steps.stream().map(step -> Tamper.written(step, id -> id.kind() != kind)).toList();
  }
}
