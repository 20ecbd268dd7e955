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
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.SafeCapacityTold;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.capacity.Share;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.engine.state.Taken;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Broken engines, made from runs of the real one: what each would have written. The check beside it
 * is the invariant that has to find it.
 */
enum Mutant {
  GRANTS_WITHOUT_WAITING(Invariants::chargesFitEveryWindow, Mutant::grantAtOnce),
  SETTLES_TWICE(Invariants::eachLeaseChangesABucketOnce, Mutant::settleTwice),
  REFUNDS_ONE_TOO_MANY(
      Invariants::eachLeaseChangesABucketOnce,
      steps ->
          Tamper.each(
              steps,
              LeaseSettled.class,
              e -> Tamper.settled(e, e.adjusted().plus(Amounts.of(Dimension.INPUT_TOKENS, 1))))),
  REFUNDS_ON_REAP(Invariants::refundsAreBounded, Mutant::refundOnReap),
  FORGIVES_DEBT(
      Invariants::refundsAreBounded,
      steps ->
          eachBucket(
              steps, b -> Tamper.bucket(b, Math.max(0, b.balance()), b.remainder(), b.clipped()))),
  REFUNDS_ABOVE_THE_CAP(Invariants::refundsAreBounded, Mutant::refundAboveTheCap),
  FORGETS_THE_REMAINDER(Invariants::conserved, Mutant::forgetRemainder),
  DOES_NOT_COUNT_WHAT_IS_CLIPPED(
      Invariants::conserved,
      steps -> eachBucket(steps, b -> Tamper.bucket(b, b.balance(), b.remainder(), 0))),
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
      steps -> steps.stream().map(step -> Tamper.rows(step, Mutant::reopen)).toList()),
  STARVES_SOMEBODY(
      Invariants::everybodyIsAnswered,
      steps -> Tamper.each(steps, LeaseGranted.class, e -> e.attempt() > 1 ? null : e)),
  REJECTS_LATE(Invariants::everybodyIsAnswered, Mutant::rejectLate),
  STARTS_A_NEWCOMER_AT_ZERO(
      Invariants::tagsAreFair,
      steps ->
          Tamper.each(
              steps,
              LeaseEnqueued.class,
              e -> e.waiter().attempt() == 1 ? Tamper.enqueued(e, 0) : e)),
  GIVES_A_RETRY_A_NEW_TAG(
      Invariants::tagsAreFair,
      steps ->
          Tamper.each(
              steps,
              LeaseEnqueued.class,
              e -> e.waiter().attempt() > 1 ? Tamper.enqueued(e, e.waiter().startTag() + 1) : e)),
  LETS_VIRTUAL_TIME_FALL(
      Invariants::tagsAreFair,
      steps ->
          Tamper.each(
              steps,
              LeaseGranted.class,
              e -> Tamper.granted(e, e.charged(), e.grantedAtMs(), -e.virtualTime()))),
  CHARGES_FOR_A_REJECT(Invariants::tagsAreFair, Mutant::chargeForReject),
  SAVES_UP_CREDIT(Invariants::tagsAreFair, Mutant::saveUpCredit),
  PASSES_WITHOUT_BOUND(
      Invariants::passingIsBounded,
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
  GIVES_THE_RESERVE_PRIORITY(Invariants::conserved, Mutant::everythingOutOfReserve),
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
      Invariants::oneProbeAtATime,
      steps ->
          Tamper.each(
              steps, BreakerOpened.class, e -> e.cause() == BreakerCause.PROBE_SILENT ? null : e)),
  KEEPS_A_PROBE_THAT_WAS_NOT_SENT(
      Invariants::oneProbeAtATime,
      steps ->
          Tamper.each(
              steps,
              BreakerOpened.class,
              e -> e.cause() == BreakerCause.PROBE_NOT_SENT ? null : e)),
  GRANTS_PAST_AN_OPEN_BREAKER(
      Invariants::oneProbeAtATime, steps -> Tamper.each(steps, BreakerHalfOpen.class, e -> null)),
  NEVER_CLOSES(
      Invariants::oneProbeAtATime, steps -> Tamper.each(steps, BreakerClosed.class, e -> null)),
  DOES_NOT_WAIT_LONGER(
      Invariants::oneProbeAtATime,
      steps ->
          Tamper.each(
              steps,
              BreakerOpened.class,
              e -> new BreakerOpened(e.quotaId(), e.cause(), e.failures() + 1, e.probeAtMs()))),
  OPENS_AT_ONE_429(Invariants::oneProbeAtATime, Mutant::openAtOne429),
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
  SHARES_BY_HEADCOUNT(Invariants::safeSharesFitTheLimit, Mutant::shareByHeadcount),
  CUTS_ON_EVERY_429(Invariants::journalDecidesItselfAgain, Mutant::cutOnEvery429),
  DECIDES_BY_SOMETHING_ELSE(
      Invariants::journalDecidesItselfAgain,
      steps ->
          Tamper.each(
              steps, LeaseEnqueued.class, e -> Tamper.enqueued(e, e.waiter().startTag() + 1))),
  FOLLOWS_LEVELS_FOR_EVER(MarginInvariants::losingHeadersFallsBack, Mutant::followForEver),
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
                              r.low(),
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
  DOES_NOT_WRITE_WHAT_IT_LEARNS(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.ROLE)),
  DOES_NOT_WRITE_AN_AGENT(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.AGENT)),
  DOES_NOT_WRITE_A_WAITER(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.WAITER)),
  DOES_NOT_WRITE_A_LEASE(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.LEASE)),
  DOES_NOT_WRITE_A_BALANCE(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.BALANCE)),
  DOES_NOT_WRITE_A_FLOW(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.FLOW)),
  DOES_NOT_WRITE_A_TENANT(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.TENANT)),
  DOES_NOT_WRITE_A_RESERVE(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.RESERVE)),
  DOES_NOT_WRITE_A_TASK(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.TASK)),
  DOES_NOT_COUNT_TRAFFIC(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.TRAFFIC)),
  DOES_NOT_WRITE_A_SHARE(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.SHARE)),
  DOES_NOT_WRITE_A_BREAKER(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.BREAKER)),
  DOES_NOT_REMEMBER(Invariants::writtenRowsAreTheState, withoutRows(Row.Kind.REMEMBERED));

  private final Function<List<Step>, List<String>> check;
  private final UnaryOperator<List<Step>> tamper;

  Mutant(Function<List<Step>, List<String>> check, UnaryOperator<List<Step>> tamper) {
    this.check = check;
    this.tamper = tamper;
  }

  /** Whether it takes 429s in a row to tell it from the sound engine. */
  boolean needsAStorm() {
    return EnumSet.range(WEDGES_A_PROBE, REFUNDS_A_REFUSAL_TWICE).contains(this)
        || this == DOES_NOT_WRITE_A_BREAKER;
  }

  List<String> check(List<Step> steps) {
    return check.apply(steps);
  }

  List<Step> tamper(List<Step> steps) {
    return tamper.apply(steps);
  }

  private static List<Step> followForEver(List<Step> steps) {
    return eachBucket(
        steps,
        b ->
            b.answeredAtMs() == null
                ? b
                : new Row.BucketRow(
                    b.dimension(),
                    b.balance(),
                    b.remainder(),
                    b.learnedLimit(),
                    b.absorbedBeforeMs(),
                    b.clipped(),
                    MarginModeName.ADAPTIVE,
                    b.answeredAtMs(),
                    b.resetAtMs(),
                    b.outside(),
                    b.learnedAtMs()));
  }

  private static List<Step> grantAtOnce(List<Step> steps) {
    Map<String, Long> enqueuedAtMs = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseEnqueued e) {
          enqueuedAtMs.put(e.waiter().request().requestId(), step.atMs());
        }
      }
    }
    return Tamper.each(
        steps,
        LeaseGranted.class,
        e -> Tamper.granted(e, e.charged(), enqueuedAtMs.get(e.requestId()), e.virtualTime()));
  }

  /** Every interactive request is let in as if its reserve paid. */
  private static List<Step> everythingOutOfReserve(List<Step> steps) {
    return Tamper.each(
        steps,
        LeaseGranted.class,
        e ->
            Tamper.taken(
                e,
                new Taken(e.taken().also(), e.charged(), e.taken().ceiling(), true, null, false)));
  }

  private static List<Step> settleTwice(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>(step.handled().events());
      step.handled().events().stream().filter(LeaseSettled.class::isInstance).forEach(events::add);
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  private static List<Step> refundOnReap(List<Step> steps) {
    Map<String, Amounts> charged = new HashMap<>();
    Map<String, Amounts> refunded = new HashMap<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseGranted e) {
          charged.put(e.leaseId(), e.charged());
        } else if (event instanceof LeaseExpired e) {
          refunded.merge(e.quotaId(), charged.get(e.leaseId()), Amounts::plus);
        }
      }
      Step changed = step;
      for (Map.Entry<String, Amounts> entry : Map.copyOf(refunded).entrySet()) {
        UnaryOperator<Row.BucketRow> raise =
            b ->
                Tamper.bucket(
                    b,
                    b.balance() + entry.getValue().get(b.dimension()),
                    b.remainder(),
                    b.clipped());
        changed = Tamper.rows(changed, row -> Tamper.buckets(row, entry.getKey(), raise));
      }
      result.add(changed);
    }
    return result;
  }

  private static List<Step> refundAboveTheCap(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      Set<String> refunds = new LinkedHashSet<>();
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e && e.adjusted().get(Dimension.INPUT_TOKENS) > 0) {
          refunds.add(e.quotaId());
        }
      }
      result.add(
          Tamper.snapshots(
              step,
              q ->
                  refunds.contains(q.definition().id())
                      ? Tamper.snapshot(
                          q,
                          q.levels()
                              .with(
                                  Dimension.INPUT_TOKENS, q.caps().get(Dimension.INPUT_TOKENS) + 1),
                          q.reserved())
                      : q));
    }
    return result;
  }

  /** Each time a bucket is refilled, the fraction is dropped instead of carried. */
  private static List<Step> forgetRemainder(List<Step> steps) {
    long partsPerToken = 600_000_000L;
    Map<String, Long> lost = new HashMap<>();
    Map<String, Long> refilledAtMs = new HashMap<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      for (Row row : step.rows()) {
        if (row instanceof Row.BalanceRow r) {
          Long before = refilledAtMs.put(r.quotaId(), r.refilledAtMs());
          if (before != null && before != r.refilledAtMs()) {
            r.buckets()
                .forEach(b -> lost.merge(r.quotaId() + b.dimension(), b.remainder(), Long::sum));
          }
        }
      }
      result.add(
          Tamper.rows(
              step,
              row ->
                  row instanceof Row.BalanceRow r
                      ? Tamper.buckets(
                          row,
                          r.quotaId(),
                          b ->
                              Tamper.bucket(
                                  b,
                                  b.balance()
                                      - lost.getOrDefault(r.quotaId() + b.dimension(), 0L)
                                          / partsPerToken,
                                  0,
                                  b.clipped()))
                      : row));
    }
    return result;
  }

  private static Row reopen(Row row) {
    if (!(row instanceof Row.LeaseRow r) || r.lease().status() != Lease.Status.EXPIRED) {
      return row;
    }
    Lease old = r.lease();
    return new Row.LeaseRow(
        new Lease(
            old.request(),
            old.contentHash(),
            old.appendedAtMs(),
            old.deadlineMs(),
            old.leaseId(),
            old.attempt(),
            Lease.Status.OPEN,
            old.grantedAtMs(),
            old.expiresAtMs(),
            null,
            old.charged(),
            old.inputKnown(),
            old.coldCache(),
            old.cost(),
            old.weightMilli(),
            old.startTag(),
            old.sentAtMs(),
            old.sendKnown(),
            old.sendGuardMs(),
            old.forecast(),
            old.errorMilli(),
            old.signalled(),
            old.standing(),
            old.taken()));
  }

  private static List<Step> rejectLate(List<Step> steps) {
    List<LeaseRejected> held = new ArrayList<>();
    List<Step> rest =
        Tamper.each(
            steps,
            LeaseRejected.class,
            e -> {
              held.add(e);
              return null;
            });
    List<Step> result = new ArrayList<>(rest);
    Step last = rest.get(rest.size() - 1);
    List<Event> events = new ArrayList<>(last.handled().events());
    events.addAll(held);
    result.set(rest.size() - 1, Tamper.events(last, events));
    return result;
  }

  private static List<Step> chargeForReject(List<Step> steps) {
    long taken = 0;
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      taken += step.handled().events().stream().filter(LeaseRejected.class::isInstance).count();
      long sum = taken;
      result.add(Tamper.snapshots(step, q -> Tamper.snapshot(q, lowered(q, sum), q.reserved())));
    }
    return result;
  }

  private static Amounts lowered(QuotaSnapshot quota, long by) {
    Amounts levels = quota.levels();
    for (Dimension d : Dimension.values()) {
      levels = levels.has(d) ? levels.with(d, levels.get(d) - by) : levels;
    }
    return levels;
  }

  /** Tags of flows stay when virtual time passes them. */
  private static List<Step> saveUpCredit(List<Step> steps) {
    Map<RowId, Row> flows = new HashMap<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Row> rows = new ArrayList<>();
      for (Row row : step.rows()) {
        if (row instanceof Row.FlowRow) {
          flows.put(row.id(), row);
        } else {
          rows.add(row);
        }
      }
      rows.addAll(flows.values());
      result.add(new Step(step.command(), step.handled(), rows, step.snapshots()));
    }
    return result;
  }

  /** Everybody is told the limit over the agents seen so far, whoever was told more before. */
  private static List<Step> shareByHeadcount(List<Step> steps) {
    Map<String, Set<String>> seen = new HashMap<>();
    return Tamper.each(
        steps,
        SafeCapacityTold.class,
        e -> {
          Set<String> agents = seen.computeIfAbsent(e.quotaId(), id -> new LinkedHashSet<>());
          agents.add(e.agentId());
          Amounts share = Amounts.NONE;
          for (Dimension d : Dimension.values()) {
            share = share.with(d, e.perMinute().get(d) * (Share.WHOLE / Math.max(1, e.part())));
            share = share.with(d, share.get(d) / agents.size());
          }
          return new SafeCapacityTold(
              e.quotaId(), e.agentId(), e.part(), share, e.validUntilMs(), e.countedUntilMs());
        });
  }

  private static List<Step> openAtOne429(List<Step> steps) {
    Set<String> opened = new LinkedHashSet<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>(step.handled().events());
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e
            && e.outcome() == Outcome.RATE_LIMITED
            && opened.add(e.quotaId())) {
          events.add(new BreakerOpened(e.quotaId(), BreakerCause.REFUSALS, 0, step.atMs() + 1_000));
        }
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  private static List<Step> cutOnEvery429(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>(step.handled().events());
      boolean cut = events.stream().anyMatch(MarginCut.class::isInstance);
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e && e.outcome() == Outcome.RATE_LIMITED && !cut) {
          int bp = Invariants.snapshot(step, e.quotaId()).marginBp();
          events.add(new MarginCut(e.quotaId(), bp, bp - 700));
        }
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  private static UnaryOperator<List<Step>> withoutRows(Row.Kind kind) {
    return steps ->
        steps.stream().map(step -> Tamper.written(step, id -> id.kind() != kind)).toList();
  }

  private static List<Step> eachBucket(List<Step> steps, UnaryOperator<Row.BucketRow> change) {
    return steps.stream()
        .map(
            step ->
                Tamper.rows(
                    step,
                    row ->
                        row instanceof Row.BalanceRow r
                            ? Tamper.buckets(row, r.quotaId(), change)
                            : row))
        .toList();
  }
}
