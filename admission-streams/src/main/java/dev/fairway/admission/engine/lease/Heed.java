package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.breaker.Breaker;
import dev.fairway.admission.engine.breaker.Holds;
import dev.fairway.admission.engine.margin.Aimd;
import dev.fairway.admission.engine.margin.HeaderResync;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/**
 * What the provider said is heeded by one rule, however a call ends: a 429 cuts the margin, headers
 * set the levels, and whatever refuses holds the quota and counts in its breaker. After what the
 * end moves, and before anybody is granted anything.
 */
public final class Heed {

  private Heed() {}

  /**
   * A lease was settled.
   *
   * @param lease as it was before
   * @param end as it counts
   */
  static void settled(Transaction tx, QuotaState quota, Lease lease, Settlement end, boolean late) {
    Kind kind = SettlementRules.kind(quota.policy(), end);
    Long waitMs = SettlementRules.waitMs(end.signal());
    if (SettlementRules.isRefusal(quota.policy(), end)) {
      Aimd.rateLimited(tx, quota, lease);
    }
    headers(tx, quota, lease.leaseId(), end);
    Holds.settled(tx, quota, lease, end.outcome(), kind, waitMs);
    Breaker.settled(tx, quota, lease, end, kind, waitMs, late);
  }

  /**
   * A lease was reaped, and nobody tells how its call ended: what was told before that counts.
   *
   * @param lease as it was before
   */
  public static void expired(Transaction tx, QuotaState quota, Lease lease) {
    Settlement untold = Moves.untold(lease);
    Settlement end = lease.told().heardAtEnd(quota.policy(), untold, tx.nowMs());
    if (end.signal() != null) {
      settled(tx, quota, lease, end, false);
    }
  }

  /** A call that was made without a lease was reported. It is heeded as one granted when sent. */
  static void unleased(Transaction tx, QuotaState quota, Settlement report) {
    Lease call = quota.lease(Identity.ofUnleased(report.agentId(), report.requestId()));
    if (call != null && report.signal() != null) {
      settled(tx, quota, call.grantedWhenSent(), report, false);
    }
  }

  /**
   * Headers that came with a settlement of that lease, after it was applied. Those of a call that
   * was sent nobody knows when tell nothing of the calls beside it.
   */
  static void headers(Transaction tx, QuotaState quota, String leaseId, Settlement settlement) {
    Lease own = quota.lease(leaseId);
    boolean dated = own.sendKnown() || !own.isUnleased();
    if (settlement.signal() != null && dated) {
      new HeaderResync(tx, quota, own, settlement.signal()).apply();
    }
  }
}
