package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.lease.Forecast;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.engine.state.Taken;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Copies of steps with one thing changed: how broken engines are made. */
final class Tamper {
  private Tamper() {}

  static Step events(Step step, List<Event> events) {
    Handled h = step.handled();
    Handled changed =
        new Handled(h.key(), h.sequence(), h.epoch(), h.atMs(), events, h.changedRows());
    return new Step(step.command(), changed, step.rows(), step.snapshots(), step.dueMs());
  }

  static Step rows(Step step, UnaryOperator<Row> change) {
    List<Row> rows = step.rows().stream().map(change).toList();
    return new Step(step.command(), step.handled(), rows, step.snapshots(), step.dueMs());
  }

  static Step due(Step step, long dueMs) {
    return new Step(step.command(), step.handled(), step.rows(), step.snapshots(), dueMs);
  }

  static Step snapshots(Step step, UnaryOperator<QuotaSnapshot> change) {
    List<QuotaSnapshot> snapshots = step.snapshots().stream().map(change).toList();
    return new Step(step.command(), step.handled(), step.rows(), snapshots, step.dueMs());
  }

  static Step written(Step step, Predicate<RowId> kept) {
    Handled h = step.handled();
    Map<RowId, Row> rows = new LinkedHashMap<>(h.changedRows());
    rows.keySet().removeIf(kept.negate());
    Handled changed = new Handled(h.key(), h.sequence(), h.epoch(), h.atMs(), h.events(), rows);
    return new Step(step.command(), changed, step.rows(), step.snapshots(), step.dueMs());
  }

  /** Every event of a type, changed; null takes it away. */
  static <E extends Event> List<Step> each(
      List<Step> steps, Class<E> type, Function<E, Event> change) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        Event changed = type.isInstance(event) ? change.apply(type.cast(event)) : event;
        if (changed != null) {
          events.add(changed);
        }
      }
      result.add(events(step, events));
    }
    return result;
  }

  static Event.LeaseGranted granted(
      Event.LeaseGranted e, Amounts charged, long atMs, long virtualTime) {
    return new Event.LeaseGranted(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.leaseId(),
        e.attempt(),
        charged,
        e.coldCache(),
        atMs,
        e.expiresAtMs(),
        virtualTime,
        e.correlation(),
        e.order(),
        e.taken());
  }

  static Event.LeaseGranted asLease(Event.LeaseGranted e, String leaseId) {
    return as(e, leaseId, e.attempt());
  }

  static Event.LeaseGranted asAttempt(Event.LeaseGranted e, int attempt) {
    return as(e, e.leaseId(), attempt);
  }

  static Event.LeaseGranted asRequest(Event.LeaseGranted e, String requestId) {
    return new Event.LeaseGranted(
        e.quotaId(),
        requestId,
        e.agentId(),
        e.leaseId(),
        e.attempt(),
        e.charged(),
        e.coldCache(),
        e.grantedAtMs(),
        e.expiresAtMs(),
        e.virtualTime(),
        e.correlation(),
        e.order(),
        e.taken());
  }

  private static Event.LeaseGranted as(Event.LeaseGranted e, String leaseId, int attempt) {
    return new Event.LeaseGranted(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        leaseId,
        attempt,
        e.charged(),
        e.coldCache(),
        e.grantedAtMs(),
        e.expiresAtMs(),
        e.virtualTime(),
        e.correlation(),
        e.order(),
        e.taken());
  }

  static Event.LeaseGranted taken(Event.LeaseGranted e, Taken taken) {
    return new Event.LeaseGranted(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.leaseId(),
        e.attempt(),
        e.charged(),
        e.coldCache(),
        e.grantedAtMs(),
        e.expiresAtMs(),
        e.virtualTime(),
        e.correlation(),
        e.order(),
        taken);
  }

  static Event.LeaseSettled settled(Event.LeaseSettled e, Amounts adjusted) {
    return new Event.LeaseSettled(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.leaseId(),
        e.outcome(),
        e.actual(),
        adjusted,
        e.tagShift(),
        e.late(),
        e.sendDelayMs(),
        e.usedInput(),
        e.usedOutput(),
        e.shift());
  }

  static BucketsResynced resynced(
      BucketsResynced e, long sentAtMs, UnaryOperator<Event.Resync> change) {
    return new BucketsResynced(
        e.quotaId(),
        e.leaseId(),
        sentAtMs,
        e.answeredAtMs(),
        e.dimensions().stream().map(change).toList());
  }

  static Event.LeaseEnqueued enqueued(Event.LeaseEnqueued e, long startTag) {
    return new Event.LeaseEnqueued(placed(e.waiter(), startTag), e.retries());
  }

  /** The same request at another place in line. */
  static Waiter placed(Waiter w, long startTag) {
    return new Waiter(
        w.request(),
        w.contentHash(),
        w.appendedAtMs(),
        w.attempt(),
        w.arrival(),
        w.enqueuedAtMs(),
        w.deadlineMs(),
        w.estimate(),
        w.cost(),
        w.weightMilli(),
        startTag,
        w.finishTag() - w.startTag() + startTag,
        w.toldAtMs(),
        w.toldEtaMs(),
        w.firstEtaMs(),
        w.forecast(),
        w.standing(),
        w.flowShift());
  }

  /** The same request at another cost. */
  static Waiter costing(Waiter w, long cost) {
    return new Waiter(
        w.request(),
        w.contentHash(),
        w.appendedAtMs(),
        w.attempt(),
        w.arrival(),
        w.enqueuedAtMs(),
        w.deadlineMs(),
        w.estimate(),
        cost,
        w.weightMilli(),
        w.startTag(),
        w.finishTag(),
        w.toldAtMs(),
        w.toldEtaMs(),
        w.firstEtaMs(),
        w.forecast(),
        w.standing(),
        w.flowShift());
  }

  /** The same request with another forecast. */
  static Waiter expecting(Waiter w, Forecast forecast) {
    return new Waiter(
        w.request(),
        w.contentHash(),
        w.appendedAtMs(),
        w.attempt(),
        w.arrival(),
        w.enqueuedAtMs(),
        w.deadlineMs(),
        w.estimate(),
        w.cost(),
        w.weightMilli(),
        w.startTag(),
        w.finishTag(),
        w.toldAtMs(),
        w.toldEtaMs(),
        w.firstEtaMs(),
        forecast,
        w.standing(),
        w.flowShift());
  }

  /** A refusal with another time to come back, or none. */
  static Event.LeaseRejected comingBack(Event.LeaseRejected e, Long retryAtMs) {
    return new Event.LeaseRejected(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.reason(),
        e.detail(),
        retryAtMs,
        e.keptTag(),
        e.contentHash(),
        e.correlation(),
        e.attempt(),
        e.budgetTask(),
        e.tenant());
  }

  /** A lease that holds something else, or is in another state. */
  static Row lease(Lease old, Lease.Status status, Amounts charged, Long endedAtMs) {
    return new Row.LeaseRow(
        new Lease(
            old.request(),
            old.contentHash(),
            old.appendedAtMs(),
            old.deadlineMs(),
            old.leaseId(),
            old.attempt(),
            status,
            old.grantedAtMs(),
            old.expiresAtMs(),
            endedAtMs,
            charged,
            old.told(),
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

  /** A quota's row with its buckets changed. */
  static Row buckets(Row row, String quotaId, UnaryOperator<Row.BucketRow> change) {
    if (!(row instanceof Row.BalanceRow r) || !r.quotaId().equals(quotaId)) {
      return row;
    }
    return new Row.BalanceRow(
        r.quotaId(),
        r.removed(),
        r.buckets().stream().map(change).toList(),
        r.refilledAtMs(),
        r.marginBp(),
        r.lastCutAtMs(),
        r.restoreFromMs(),
        r.holdUntilMs(),
        r.holdReason(),
        r.overloads(),
        r.virtualTime(),
        r.arrivals(),
        r.sendDelayMeanUs(),
        r.sendDelayMaxMs(),
        r.lastSignalSentAtMs(),
        r.zMilli(),
        r.zFallsFromMs(),
        r.floorSinceMs(),
        r.order());
  }

  static Row.BucketRow bucket(Row.BucketRow b, long balance, long remainder, long clipped) {
    return new Row.BucketRow(
        b.dimension(),
        balance,
        remainder,
        b.learnedLimit(),
        b.absorbedBeforeMs(),
        clipped,
        b.mode(),
        b.answeredAtMs(),
        b.resetAtMs(),
        b.outside(),
        b.learnedAtMs());
  }

  static QuotaSnapshot snapshot(QuotaSnapshot q, Amounts levels, Amounts reserved) {
    return new QuotaSnapshot(
        q.definition(),
        q.atMs(),
        levels,
        q.caps(),
        q.marginBp(),
        q.marginMode(),
        q.openLeases(),
        q.waiting(),
        q.virtualTime(),
        reserved,
        q.outsideRate(),
        q.holdUntilMs(),
        q.holdReason(),
        q.oldestEnqueuedAtMs(),
        q.alerts(),
        q.breaker(),
        q.removed());
  }
}
