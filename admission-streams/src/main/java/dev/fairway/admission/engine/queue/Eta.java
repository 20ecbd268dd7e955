package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.OpaqueBytes;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Waiter;

/**
 * When a request will be granted if nobody else comes: the slowest bucket decides, for grants go
 * out in order and each takes from all buckets. A concurrency slot adds nothing, nobody knows when
 * a call ends.
 */
public final class Eta {
  /** Longer waits are told as this one. */
  private static final long LONGEST_MS = 366L * 24 * 3_600_000;

  private Eta() {}

  /** Milliseconds until a request is granted, behind those ahead; 0 for now. */
  public static long waitMs(QuotaState quota, Ahead ahead, Waiter waiter, long atMs) {
    String role = waiter.request().role();
    long wait = holdMs(quota, atMs);
    wait = Math.max(wait, Ramps.waitMs(quota, ahead.estimates(), atMs + wait, atMs));
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && quota.limits(d)) {
        long needed =
            Amounts.saturatedAdd(ahead.estimates().get(d), quota.need(d, role, waiter.estimate()));
        wait = Math.max(wait, quota.msUntil(d, needed, atMs));
      }
    }
    return Math.min(wait, LONGEST_MS);
  }

  /** What a waiting request is told at that time: its position and its ETA. */
  public static LeaseQueued told(
      QuotaState quota, Waiter waiter, long atMs, OpaqueBytes correlation) {
    Ahead ahead = quota.order().ahead(waiter.finishTag(), waiter.arrival());
    long etaMs = waitMs(quota, ahead, waiter, atMs);
    return new LeaseQueued(
        quota.id(),
        waiter.request().requestId(),
        waiter.request().agentId(),
        ahead.count() + 1,
        etaMs,
        p90Ms(quota, waiter, etaMs),
        correlation);
  }

  /** What nine of ten such waits did not exceed, or null while that is not learned. */
  public static Long p90Ms(QuotaState quota, Waiter waiter, long etaMs) {
    Double factor = quota.statistics().etaP90Factor(waiter.request().role());
    return factor == null ? null : (Long) Math.min(Math.round(etaMs * factor), LONGEST_MS);
  }

  /** The longer of the quota's promise and twice the time in which this charge refills. */
  public static long effectiveMaxWaitMs(QuotaState quota, Amounts charge) {
    long longest = quota.policy().maxQueueWaitMs();
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && quota.limits(d)) {
        long refillMs = FixedPoint.msUntil(quota.unitsPerMs(d), charge.get(d), 0);
        longest = Math.max(longest, Amounts.saturatedAdd(refillMs, refillMs));
      }
    }
    return Math.min(longest, LONGEST_MS);
  }

  private static long holdMs(QuotaState quota, long atMs) {
    if (quota.holdReason(atMs) == null) {
      return 0;
    }
    return quota.holdUntilMs() == null ? LONGEST_MS : quota.holdUntilMs() - atMs;
  }
}
