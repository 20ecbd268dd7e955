package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.SafeCapacityTold;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.capacity.Share;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What engines would have written whose queue or shares are broken. */
final class BrokenOrder {
  private BrokenOrder() {}

  static List<Step> rejectLate(List<Step> steps) {
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

  static List<Step> chargeForReject(List<Step> steps) {
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
  static List<Step> saveUpCredit(List<Step> steps) {
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
      result.add(new Step(step.command(), step.handled(), rows, step.snapshots(), step.dueMs()));
    }
    return result;
  }

  /** What a call turned out to be moves its agent's tag, and not its calls in line. */
  static List<Step> leaveTheLineBehind(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Row> rows = new ArrayList<>();
      for (Row row : step.rows()) {
        rows.add(
            row instanceof Row.FlowRow r
                ? new Row.FlowRow(
                    r.quotaId(), r.agentId(), r.finishTag(), r.tenant(), 0, r.keptUntilMs())
                : row);
      }
      result.add(new Step(step.command(), step.handled(), rows, step.snapshots(), step.dueMs()));
    }
    return result;
  }

  /** Every place that was kept is taken up as if it were the only one. */
  static List<Step> keepPlacesSideBySide(List<Step> steps) {
    Map<String, Long> kept = new HashMap<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseRejected e && e.keptTag() != null) {
          kept.put(Invariants.id(e.agentId(), e.requestId()), e.keptTag());
        }
        boolean retry =
            event instanceof Event.LeaseEnqueued e && e.waiter().request().retryOf() != null;
        events.add(retry ? atItsKeptTag((Event.LeaseEnqueued) event, kept) : event);
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  private static Event atItsKeptTag(Event.LeaseEnqueued e, Map<String, Long> kept) {
    String before = Invariants.id(e.waiter().request().agentId(), e.waiter().request().retryOf());
    Long tag = kept.get(before);
    return tag == null ? e : Tamper.enqueued(e, tag);
  }

  /** A place that was kept in one tenant is taken up in another one. */
  static List<Step> carryPlacesAcross(List<Step> steps) {
    Map<String, LeaseRejected> kept = new HashMap<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseRejected e && e.keptTag() != null) {
          kept.put(Invariants.id(e.agentId(), e.requestId()), e);
        }
        events.add(event instanceof Event.LeaseEnqueued e ? carried(e, kept) : event);
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  private static Event carried(Event.LeaseEnqueued e, Map<String, LeaseRejected> kept) {
    String retryOf = e.waiter().request().retryOf();
    LeaseRejected before =
        retryOf == null ? null : kept.get(Invariants.id(e.waiter().request().agentId(), retryOf));
    boolean elsewhere = before != null && !before.tenant().equals(e.waiter().standing().tenant());
    return elsewhere ? Tamper.enqueued(e, before.keptTag()) : e;
  }

  /** Who asks for k/c is told its share of k/c, as if nobody else took from k/o. */
  static List<Step> shareOfTheQuotaAlone(List<Step> steps) {
    long limit =
        Definitions.of("k/c", QuotaDefinition.Preset.FAIRWAY, 1, QuotaDefinition.State.ACTIVE)
            .limits()
            .get(Dimension.INPUT_TOKENS);
    return Tamper.each(
        steps,
        SafeCapacityTold.class,
        e -> {
          long share = limit / 2 * e.part() / Share.WHOLE;
          return !e.quotaId().equals("k/c")
              ? e
              : new SafeCapacityTold(
                  e.quotaId(),
                  e.agentId(),
                  e.part(),
                  e.perMinute().with(Dimension.INPUT_TOKENS, share),
                  e.validUntilMs(),
                  e.countedUntilMs());
        });
  }

  /** Everybody is told the limit over the agents seen so far, whoever was told more before. */
  static List<Step> shareByHeadcount(List<Step> steps) {
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
}
