package dev.fairway.admission.engine;

import dev.fairway.admission.engine.Event.EtaRevised;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.alert.Alerts;
import dev.fairway.admission.engine.breaker.Breaker;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.lease.CacheClaims;
import dev.fairway.admission.engine.lease.Heed;
import dev.fairway.admission.engine.lease.UntoldUse;
import dev.fairway.admission.engine.margin.Aimd;
import dev.fairway.admission.engine.margin.LearnedLimits;
import dev.fairway.admission.engine.margin.ModeChange;
import dev.fairway.admission.engine.queue.CacheBump;
import dev.fairway.admission.engine.queue.Departures;
import dev.fairway.admission.engine.queue.Drain;
import dev.fairway.admission.engine.queue.Eta;
import dev.fairway.admission.engine.queue.Wait;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.List;

/**
 * Time passed: leases expire, the margin recovers, deadlines pass, the queue drains, ETAs are
 * reviewed.
 */
final class TickHandler {
  /** ETAs are reviewed on this beat, and no agent is told more often. */
  private static final long REVIEW_MS = 5_000;

  /** Most agents told of a new ETA in one review; the next review goes on. */
  private static final int MAX_REVISIONS = 200;

  private static final long SMALLEST_MOVE_MS = 1_000;

  private TickHandler() {}

  static void handle(Transaction tx) {
    for (QuotaState quota : List.copyOf(tx.state().quotas())) {
      expireLeases(tx, quota);
      LearnedLimits.forgetDue(tx, quota);
      ModeChange.due(tx, quota);
      Aimd.restoreDue(tx, quota);
      Breaker.timeOut(tx, quota);
      Ramps.end(tx, quota);
      Drain.run(tx, quota);
      departures(tx, quota);
      Alerts.review(tx, quota);
      if (reviewDueMs(quota, tx.previousNowMs()) <= tx.nowMs()) {
        reviewEtas(tx, quota);
      }
    }
  }

  /** When the next tick of a quota is due, seen from the time of the last command. */
  static long dueMs(KeyState key, QuotaState quota, long nowMs) {
    long due = Math.min(quota.nextExpiryMs(), quota.restoreDueMs());
    due = Math.min(due, Math.min(quota.zFallDueMs(), ModeChange.dueMs(quota)));
    due = Math.min(due, LearnedLimits.dueMs(quota));
    due = Math.min(due, Alerts.dueMs(quota, nowMs));
    due = Math.min(due, Math.min(Breaker.timeOutDueMs(quota), Ramps.endDueMs(quota)));
    if (quota.order().size() > 0) {
      due = Math.min(due, quota.removed() ? nowMs : quota.nextWaiterDeadlineMs());
      due = Math.min(due, Drain.dueMs(key, quota, nowMs));
      due = Math.min(due, reviewDueMs(quota, nowMs));
    }
    return due;
  }

  private static long reviewDueMs(QuotaState quota, long fromMs) {
    return quota.order().size() == 0
        ? Long.MAX_VALUE
        : (Math.floorDiv(fromMs, REVIEW_MS) + 1) * REVIEW_MS;
  }

  private static void expireLeases(Transaction tx, QuotaState quota) {
    while (quota.nextExpiryMs() <= tx.nowMs() && tx.hasRoom()) {
      Lease lease = quota.nextToExpire();
      tx.emit(UntoldUse.expired(tx.state(), quota, lease));
      CacheClaims.expired(tx, quota, lease);
      Heed.expired(tx, quota, lease);
    }
  }

  private static void departures(Transaction tx, QuotaState quota) {
    while (quota.nextWaiterDeadlineMs() <= tx.nowMs() && tx.hasRoom()) {
      Departures.atDeadline(tx, quota, tx.state().waiter(quota.nextWaiterAtDeadline()));
    }
    while (quota.removed() && quota.order().size() > 0 && tx.hasRoom()) {
      Departures.quotaRemoved(tx, quota, quota.order().head());
    }
  }

  private static void reviewEtas(Transaction tx, QuotaState quota) {
    List<Event> revised = new ArrayList<>();
    Eta.Review etas = new Eta.Review(tx.state(), quota, tx.nowMs());
    boolean standing = Drain.dueMs(tx.state(), quota, tx.nowMs()) == Long.MAX_VALUE;
    quota
        .order()
        .forEach(
            (waiter, ahead) -> {
              WaiterReweighted bump = CacheBump.of(tx.state(), quota, waiter, tx.nowMs());
              if (bump != null) {
                revised.add(bump);
              } else if (waiter.toldAtMs() != null && tx.nowMs() - waiter.toldAtMs() >= REVIEW_MS) {
                Wait wait = etas.until(waiter, ahead);
                if (moved(waiter, wait.ms(), standing, tx.nowMs())) {
                  WaitsFor waitsFor = etas.waitsFor(waiter, wait);
                  revised.add(revision(quota, waiter, ahead.count() + 1, wait.ms(), waitsFor));
                }
              }
              return revised.size() < MAX_REVISIONS;
            });
    revised.forEach(tx::emit);
    Drain.run(tx, quota);
  }

  /**
   * Whether the time of the grant moved by more than a quarter of the wait that was told. Who waits
   * for a concurrency slot alone was told 0, and still is. Where time alone lets nobody go, in a
   * paused quota say, that time moves along for ever: there the wait has to have moved as well.
   */
  private static boolean moved(Waiter waiter, long etaMs, boolean standing, long nowMs) {
    long told = waiter.toldEtaMs();
    boolean stillNow = etaMs == 0 && told == 0;
    return !stillNow
        && isMove(told, Amounts.saturatedSubtract(nowMs + etaMs, waiter.toldAtMs() + told))
        && (!standing || isMove(told, Amounts.saturatedSubtract(etaMs, told)));
  }

  private static boolean isMove(long toldMs, long byMs) {
    return Math.abs(byMs) > toldMs / 4 && Math.abs(byMs) >= SMALLEST_MOVE_MS;
  }

  private static EtaRevised revision(
      QuotaState quota, Waiter waiter, int position, long etaMs, WaitsFor waitsFor) {
    return new EtaRevised(
        quota.id(),
        waiter.request().requestId(),
        waiter.request().agentId(),
        position,
        etaMs,
        Eta.p90Ms(quota, waiter, etaMs),
        waitsFor,
        waiter.request().correlation());
  }
}
