package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.Shift;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import java.util.Map;
import java.util.TreeMap;

/**
 * All that the end of a lease moves, by one rule however it ends: its own quota's buckets, the
 * other quotas', its tenant's ceiling, its class's reserve, its agent's tag and its tenant's.
 *
 * @param actual what counts against the quota
 * @param adjusted what moves its buckets; positive: refunded
 * @param cost what the call cost in the fair queue
 * @param tagShift what moves the finish tag of the agent's flow, in tag units
 * @param shift what moves elsewhere
 */
record Moves(Amounts actual, Amounts adjusted, long cost, long tagShift, Shift shift) {

  /** A settlement, as it counts. */
  static Moves atEnd(KeyState key, QuotaState quota, Lease lease, Settlement end) {
    Amounts actual = ActualUse.actual(quota.policy(), lease, end);
    long cost = ActualUse.cost(quota, lease, end, actual);
    return new Moves(
        actual,
        ActualUse.adjustment(quota, lease, actual),
        cost,
        ActualUse.tagShift(lease, cost),
        Shifts.atEnd(key, quota, lease, end, actual, cost));
  }

  /** Nobody tells the end: a call that was sent, of which nothing more is known. */
  static Moves atExpiry(KeyState key, QuotaState quota, Lease lease) {
    Moves all = atEnd(key, quota, lease, untold(lease));
    Map<String, Amounts> also = new TreeMap<>();
    all.shift.also().forEach((id, adjusted) -> putCharged(also, id, adjusted));
    Shift charges =
        new Shift(
            also,
            charged(all.shift.reserve()),
            charged(all.shift.ceiling()),
            all.shift.tenantTag());
    return new Moves(all.actual, charged(all.adjusted), all.cost, all.tagShift, charges);
  }

  /** The end of a lease that nobody settles. */
  static Settlement untold(Lease lease) {
    return new Settlement(
        lease.leaseId(),
        lease.request().requestId(),
        lease.request().agentId(),
        lease.request().quotaId(),
        Outcome.FAILED_AFTER_SEND,
        null,
        false,
        null);
  }

  private static void putCharged(Map<String, Amounts> also, String id, Amounts adjusted) {
    Amounts charged = charged(adjusted);
    if (!charged.isEmpty()) {
      also.put(id, charged);
    }
  }

  /** Without what would be given back. */
  private static Amounts charged(Amounts adjusted) {
    Amounts charged = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      if (adjusted.has(d) && adjusted.get(d) < 0) {
        charged = charged.with(d, adjusted.get(d));
      }
    }
    return charged;
  }
}
