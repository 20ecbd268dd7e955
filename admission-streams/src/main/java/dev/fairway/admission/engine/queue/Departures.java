package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;
import java.util.List;

/** How a waiting request leaves the queue without a grant. */
public final class Departures {

  private Departures() {}

  /**
   * Its deadline passed. It is told when it would have been its turn, and keeps its tag until then.
   */
  public static void atDeadline(Transaction tx, QuotaState quota, Waiter waiter) {
    long etaMs = Eta.leastMs(tx.state(), quota, waiter, tx.nowMs());
    tx.emit(
        rejected(
            quota,
            waiter,
            RejectReason.DEADLINE_PASSED,
            outOfTime(quota, waiter, tx.nowMs()),
            RetryAt.floored(tx.nowMs() + etaMs, tx.nowMs())));
  }

  private static String outOfTime(QuotaState quota, Waiter waiter, long nowMs) {
    String none =
        waiter.request().deadlineMs() == null
            ? " (it named none: twice the longest wait that is promised)"
            : "";
    if (waiter.enqueuedAtMs() >= waiter.deadlineMs()) {
      return "Its deadline"
          + none
          + " was over for "
          + (waiter.enqueuedAtMs() - waiter.deadlineMs())
          + " ms when its call was refused and put back in line";
    }
    return "Waited "
        + (nowMs - waiter.enqueuedAtMs())
        + " ms, until its deadline"
        + none
        + ", "
        + whyNot(quota);
  }

  private static String whyNot(QuotaState quota) {
    QuotaState paused = Gates.paused(quota);
    return paused == null
        ? "before its turn came"
        : "while quota '" + paused.id() + "' is paused; an operator has to resume it";
  }

  /**
   * The provider refuses the quota for longer than anybody is promised to wait: who is in line
   * leaves it now, and not at its deadline, and keeps its tag until the end of the hold. As many as
   * a command has room for; the rest are due at once.
   */
  public static void whileExhausted(Transaction tx, QuotaState quota) {
    QuotaState by = exhausted(quota, tx.nowMs());
    while (by != null && quota.order().size() > 0 && tx.hasRoom()) {
      tx.emit(
          rejected(
              quota,
              quota.order().head(),
              RejectReason.QUOTA_EXHAUSTED,
              exhaustedDetail(by, tx.nowMs()),
              RetryAt.floored(by.holdUntilMs(), tx.nowMs())));
    }
  }

  /**
   * Of a quota and those that it takes from too, the one that is exhausted the longest, or null.
   */
  static QuotaState exhausted(QuotaState quota, long atMs) {
    QuotaState longest = quota.isExhausted(atMs) ? quota : null;
    for (QuotaState other : quota.also() == null ? List.<QuotaState>of() : quota.also()) {
      if (other.isExhausted(atMs) && (longest == null || isLonger(other, longest))) {
        longest = other;
      }
    }
    return longest;
  }

  private static boolean isLonger(QuotaState one, QuotaState other) {
    return other.holdUntilMs() != null
        && (one.holdUntilMs() == null || one.holdUntilMs() > other.holdUntilMs());
  }

  /** What somebody is told whom an exhausted quota turns away; there must be such a hold. */
  public static String exhaustedDetail(QuotaState quota, long atMs) {
    if (quota.holdReason(atMs) == HoldReason.BILLING) {
      return "The provider refuses calls of quota '"
          + quota.id()
          + "' for want of payment (BILLING); an operator has to clear it";
    }
    if (quota.holdUntilMs() == null) {
      return "The provider says that quota '"
          + quota.id()
          + "' is used up, and not until when; an operator has to clear it";
    }
    if (quota.holdReason(atMs) == HoldReason.OVERLOADED) {
      return "The provider is overloaded: quota '"
          + quota.id()
          + "' pauses for another "
          + (quota.holdUntilMs() - atMs)
          + " ms";
    }
    return "The provider asks for no calls of quota '"
        + quota.id()
        + "' for another "
        + (quota.holdUntilMs() - atMs)
        + " ms, by its retry-after or because it is used up until then";
  }

  /** It can never be granted, or not before the limit in its way is forgotten. */
  static void tooLarge(Transaction tx, QuotaState quota, Waiter waiter, Limits.Never never) {
    Long retryAtMs = RetryAt.floored(never.retryAtMs(), tx.nowMs());
    tx.emit(rejected(quota, waiter, never.reason(), never.detail(), retryAtMs));
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

  private static Long keptTag(QuotaState quota, Waiter waiter) {
    return quota.keptTag(waiter.standing().tenant(), waiter.startTag());
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
        retryAtMs == null ? null : keptTag(quota, waiter),
        waiter.contentHash(),
        waiter.request().correlation(),
        waiter.attempt(),
        waiter.standing().budgetTask(),
        retryAtMs == null ? null : waiter.standing().tenant());
  }
}
