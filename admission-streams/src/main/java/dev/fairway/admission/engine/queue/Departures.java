package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;

/** How a waiting request leaves the queue without a grant. */
public final class Departures {

  private Departures() {}

  /**
   * Its deadline passed. It is told when it would have been its turn, and keeps its tag until then.
   */
  public static void atDeadline(Transaction tx, QuotaState quota, Waiter waiter) {
    HoldReason hold = quota.holdReason(tx.nowMs());
    boolean exhausted = hold == HoldReason.QUOTA_EXHAUSTED || hold == HoldReason.BILLING;
    Long retryAtMs = null;
    if (!exhausted || quota.holdUntilMs() != null) {
      long etaMs =
          Eta.waitMs(
              quota, quota.order().ahead(waiter.finishTag(), waiter.arrival()), waiter, tx.nowMs());
      retryAtMs = tx.nowMs() + etaMs;
    }
    tx.emit(
        rejected(
            quota,
            waiter,
            exhausted ? RejectReason.QUOTA_EXHAUSTED : RejectReason.DEADLINE_PASSED,
            "Waited "
                + (tx.nowMs() - waiter.enqueuedAtMs())
                + " ms, until its deadline, without room",
            retryAtMs));
  }

  /** It can never be granted. */
  public static void forGood(Transaction tx, QuotaState quota, Waiter waiter, String detail) {
    tx.emit(rejected(quota, waiter, RejectReason.NEVER_FITS, detail, null));
  }

  /** Its quota was removed. */
  public static void quotaRemoved(Transaction tx, QuotaState quota, Waiter waiter) {
    tx.emit(rejected(quota, waiter, RejectReason.UNKNOWN_QUOTA, "The quota was removed", null));
  }

  private static LeaseRejected rejected(
      QuotaState quota, Waiter waiter, RejectReason reason, String detail, Long retryAtMs) {
    return new LeaseRejected(
        quota.id(),
        waiter.request().requestId(),
        waiter.request().agentId(),
        reason,
        detail,
        retryAtMs,
        retryAtMs == null ? null : (Long) waiter.startTag(),
        waiter.contentHash(),
        waiter.request().correlation());
  }
}
