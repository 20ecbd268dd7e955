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
      retryAtMs = tx.nowMs() + Eta.waitMs(tx.state(), quota, waiter, tx.nowMs());
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
  static void forGood(Transaction tx, QuotaState quota, Waiter waiter, Limits.Never never) {
    tx.emit(rejected(quota, waiter, never.reason(), never.detail(), null));
  }

  /** A quota that its own takes from too is not defined any more. */
  static void alsoUndefined(Transaction tx, QuotaState quota, Waiter waiter) {
    tx.emit(
        rejected(
            quota,
            waiter,
            RejectReason.UNKNOWN_QUOTA,
            "A quota that this one takes from too (also) was removed",
            null));
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
        waiter.request().correlation(),
        waiter.attempt(),
        waiter.standing().budgetTask());
  }
}
