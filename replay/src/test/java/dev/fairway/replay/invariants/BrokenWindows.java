package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;

/** What engines would have written that count fixed or rolling windows wrong. */
final class BrokenWindows {
  private static final long GUARD_MS = 150;

  private BrokenWindows() {}

  /** What goes in an odd minute goes in the one before already. */
  static List<Step> mergeMinutes(List<Step> steps) {
    return Tamper.each(
        steps,
        LeaseGranted.class,
        e -> {
          boolean odd = e.grantedAtMs() / WindowProvider.MINUTE_MS % 2 == 1;
          return at(e, e.grantedAtMs() - (odd ? WindowProvider.MINUTE_MS : 0));
        });
  }

  /** Who comes is granted in the same command, whatever the last minute took. */
  static List<Step> grantAtOnce(List<Step> steps) {
    Map<String, LeaseGranted> grants = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseGranted e) {
          grants.putIfAbsent(e.requestId(), e);
        }
      }
    }
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        if (!(event instanceof LeaseGranted)) {
          events.add(event);
        }
        if (event instanceof LeaseEnqueued e
            && grants.containsKey(e.waiter().request().requestId())) {
          events.add(at(grants.get(e.waiter().request().requestId()), step.atMs()));
        }
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  /** What waits for the end of the guard does not. */
  static List<Step> withoutGuard(List<Step> steps) {
    return Tamper.each(steps, LeaseGranted.class, e -> at(e, e.grantedAtMs() - GUARD_MS));
  }

  /** A refund takes as much again out of the last minute. */
  static List<Step> refundAgain(List<Step> steps) {
    Map<String, Amounts> refunds = new HashMap<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e && e.adjusted().get(Dimension.INPUT_TOKENS) > 0) {
          refunds.put(e.leaseId(), e.adjusted());
        }
      }
      result.add(Tamper.rows(step, row -> lowered(row, refunds)));
    }
    return result;
  }

  private static Row lowered(Row row, Map<String, Amounts> refunds) {
    if (row instanceof Row.LeaseRow r && refunds.containsKey(r.lease().leaseId())) {
      Lease lease = r.lease();
      Amounts held = lease.charged().minus(refunds.get(lease.leaseId()));
      return Tamper.lease(lease, lease.status(), held, lease.endedAtMs());
    }
    return row;
  }

  /** Leases are forgotten when they end in that way. */
  static Step without(Step step, Lease.Status status) {
    List<Row> rows =
        step.rows().stream()
            .filter(row -> !(row instanceof Row.LeaseRow r && r.lease().status() == status))
            .toList();
    return new Step(step.command(), step.handled(), rows, step.snapshots(), step.dueMs());
  }

  /** Calls without a lease are charged and not kept. */
  static Step withoutUnleased(Step step) {
    List<Row> rows =
        step.rows().stream()
            .filter(row -> !(row instanceof Row.LeaseRow r && r.lease().attempt() == 0))
            .toList();
    return new Step(step.command(), step.handled(), rows, step.snapshots(), step.dueMs());
  }

  /** Who waited and is granted now waits on, and what it takes stays there. */
  static List<Step> idle(List<Step> steps) {
    return idle(steps, (step, grant) -> true);
  }

  /** The same for some of them. */
  static List<Step> idle(List<Step> steps, BiPredicate<Step, LeaseGranted> who) {
    List<Step> result = new ArrayList<>();
    Step before = steps.get(0);
    for (Step step : steps) {
      Map<String, Row> waiting = new HashMap<>();
      for (Row row : before.rows()) {
        if (row instanceof Row.WaiterRow r) {
          waiting.put(r.waiter().request().requestId(), r);
        }
      }
      List<Row> rows = new ArrayList<>(step.rows());
      List<Event> events = new ArrayList<>();
      Map<String, Amounts> left = new HashMap<>();
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseGranted e
            && waiting.containsKey(e.requestId())
            && who.test(step, e)) {
          rows.add(waiting.get(e.requestId()));
          left.merge(e.quotaId(), e.charged(), Amounts::plus);
        } else {
          events.add(event);
        }
      }
      Step idle = new Step(step.command(), step.handled(), rows, step.snapshots(), step.dueMs());
      result.add(
          Tamper.snapshots(
              Tamper.events(idle, events),
              q ->
                  Tamper.snapshot(
                      q,
                      q.levels().plus(left.getOrDefault(q.definition().id(), Amounts.NONE)),
                      q.reserved())));
      before = step;
    }
    return result;
  }

  private static LeaseGranted at(LeaseGranted e, long atMs) {
    return Tamper.granted(e, e.charged(), atMs, e.virtualTime());
  }
}
