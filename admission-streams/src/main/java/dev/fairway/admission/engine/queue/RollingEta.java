package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.List;
import java.util.NavigableMap;

/**
 * When a request's turn comes where the provider adds up the last minute. A call that finds no room
 * waits until others have left the minute, and what is free meanwhile is lost, so the first of the
 * line are gone through one by one; the rest take what they take at the same pace.
 */
final class RollingEta {
  private final QuotaState quota;
  private final Dimension d;
  private final String role;
  private final NavigableMap<Long, Long> leaving;
  private long used;
  private long there;
  private long nowMs;

  private RollingEta(QuotaState quota, Dimension d, String role, long atMs) {
    this.quota = quota;
    this.d = d;
    this.role = role;
    this.leaving = quota.lastMinute().leaving(d, atMs);
    this.used = leaving.values().stream().mapToLong(Long::longValue).sum();
    this.there = quota.usable(d, atMs);
    this.nowMs = atMs;
  }

  /** Milliseconds until those ahead, the first of them as given, and then the request have room. */
  static long waitMs(
      QuotaState quota, Dimension d, Waiter waiter, Ahead ahead, List<Amounts> first, long atMs) {
    RollingEta eta = new RollingEta(quota, d, waiter.standing().role(), atMs);
    long taken = 0;
    for (Amounts charge : first) {
      eta.take(charge.get(d));
      taken = Amounts.saturatedAdd(taken, charge.get(d));
    }
    long rest = Amounts.saturatedSubtract(ahead.demand().get(d), taken);
    if (rest > 0 && taken > 0) {
      eta.pass(FixedPoint.mulDiv(eta.nowMs - atMs, rest, taken));
    }
    eta.take(waiter.estimate().get(d));
    return eta.nowMs - atMs;
  }

  private void take(long charge) {
    long missing = Math.min(charge, quota.usableCap(d)) - there;
    pass(missing <= 0 ? 0 : FixedPoint.msUntil(quota.unitsPerMs(d), missing, 0));
    long most = Math.max(0, quota.lastMinute().roomBeside(d, role, charge));
    while (!leaving.isEmpty() && (used > most || leaving.firstKey() <= nowMs)) {
      var next = leaving.pollFirstEntry();
      used -= next.getValue();
      pass(next.getKey() - nowMs);
    }
    there = Amounts.saturatedSubtract(there, charge);
    if (charge > 0) {
      long leavesMs = quota.lastMinute().leavesMs(nowMs);
      leaving.merge(leavesMs, charge, Amounts::saturatedAdd);
      used = Amounts.saturatedAdd(used, charge);
    }
  }

  private void pass(long ms) {
    if (ms > 0) {
      long refilled = FixedPoint.refilledTokens(quota.unitsPerMs(d), ms, 0);
      there = Math.min(quota.highestUsable(d), Amounts.saturatedAdd(there, refilled));
      nowMs = Amounts.saturatedAdd(nowMs, ms);
    }
  }
}
