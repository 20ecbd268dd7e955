package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import dev.fairway.admission.engine.state.Waiter;
import java.util.Map;

/**
 * The wait for one dimension of a quota that is shared out in parts. Who is ahead by tag takes no
 * more than its tenant's ceiling lets it by then; and requests that a reserve pays for take from
 * that, while what the reserve keeps is not there for others. Each of these moves with time, so the
 * wait is the first time at which all that is taken by then has come in. A call goes by its tag or
 * by its reserve, in all dimensions the same way.
 */
final class PartsEta {
  private static final int STEPS = 20;
  private static final long FOREVER_MS = 366L * 24 * 3_600_000;

  /** A step by less than this part ends the search. */
  private static final int ENOUGH = 200;

  private final QuotaState quota;
  private final Waiter waiter;
  private final Ahead ahead;
  private final Dimension d;
  private final long atMs;
  private final String reserveOf;
  private final ReserveLanes lanes;

  /** {@code lanes} is null where no reserves are defined. */
  PartsEta(
      QuotaState quota, Waiter waiter, Ahead ahead, ReserveLanes lanes, Dimension d, long atMs) {
    this.quota = quota;
    this.waiter = waiter;
    this.ahead = ahead;
    this.d = d;
    this.atMs = atMs;
    this.reserveOf = Fit.reserveClass(quota, waiter);
    this.lanes = lanes;
  }

  /**
   * Its own reserve serves who may use it, in their order, as far as the quota itself has what the
   * reserve promises. Never where it has none, where the call is larger than that, or where a drain
   * does not look at it.
   */
  long byReserveMs() {
    ShareBuckets reserve = reserveOf == null ? null : quota.reserves().of(reserveOf);
    long own = waiter.estimate().get(d);
    if (reserve == null || !reserve.has(d) || own > reserve.cap(quota, d) || lanes.outOfSight()) {
      return Long.MAX_VALUE;
    }
    long before = lanes.ahead(reserveOf, d);
    long need = quota.need(d, waiter.standing().role(), waiter.estimate());
    return Math.max(
        reserve.msUntil(quota, d, Amounts.saturatedAdd(before, own), atMs),
        quota.expectedMsUntil(d, Amounts.saturatedAdd(before, need), atMs));
  }

  /**
   * What is needed grows with time, slower than it comes in. So from the wait for all that can ever
   * be needed, each step down stays at or above the answer; few steps come within a percent.
   */
  long byTagMs() {
    long wait = quota.expectedMsUntil(d, needed(FOREVER_MS), atMs);
    for (int step = 0; step < STEPS; step++) {
      long next = quota.expectedMsUntil(d, needed(wait), atMs);
      if (wait - next <= wait / ENOUGH) {
        return next;
      }
      wait = next;
    }
    return wait;
  }

  /** What must have come in by then. */
  private long needed(long inMs) {
    long before = ahead.demand().get(d);
    for (Map.Entry<String, Amounts> tenant : ahead.byTenant().entrySet()) {
      if (!tenant.getKey().equals(waiter.standing().tenant())) {
        long takes = tenant.getValue().get(d);
        before -= Math.max(0, takes - comesIn(quota.tenant(tenant.getKey()).ceiling(), inMs));
      }
    }
    long own = quota.need(d, waiter.standing().role(), waiter.estimate());
    if (!quota.reserves().any()) {
      return Amounts.saturatedAdd(before, own);
    }
    long beside =
        Math.min(own, Math.max(0, quota.usableCap(d) - quota.reserves().capOfOthers(reserveOf, d)));
    long reserved = 0;
    long kept = 0;
    long byTag = 0;
    long inLanes = 0;
    for (var reserve : quota.policy().order().reserves()) {
      if (!reserve.leaseClass().equals(reserveOf)) {
        ShareBuckets bucket = quota.reserves().of(reserve.leaseClass());
        long paid = Math.min(lanes.all(reserve.leaseClass(), d), comesIn(bucket, inMs));
        long first = lanes.ahead(reserve.leaseClass(), d);
        inLanes += first;
        byTag += Math.max(0, first - paid);
        reserved += paid;
        kept += Math.min(bucket.cap(quota, d), comesIn(bucket, inMs) - paid);
      }
    }
    long others = before - inLanes + byTag;
    long all = Amounts.saturatedAdd(Amounts.saturatedAdd(others, reserved), own);
    return Math.max(
        all, Amounts.saturatedAdd(Amounts.saturatedAdd(others, beside), reserved + kept));
  }

  private long comesIn(ShareBuckets bucket, long inMs) {
    if (!bucket.has(d)) {
      return Long.MAX_VALUE / 4;
    }
    return bucket.gives(quota, d, atMs, inMs);
  }
}
