package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.Event.LimitForgotten;
import dev.fairway.admission.engine.Event.LimitLearned;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/**
 * Limits that the provider's answers name below the operator's. One odd answer must not close a
 * quota for good: nobody could call any more, and so no other answer would ever correct it. What is
 * not named again for a while is forgotten. Without that rule it lasts until the operator names
 * another number.
 */
public final class LearnedLimits {
  /** After this long without an answer that names it, a learned limit is forgotten. */
  public static final long FORGET_MS = 600_000;

  /** A limit that is named again is noted no more often than that. */
  private static final long CONFIRM_MS = 60_000;

  private LearnedLimits() {}

  /** An answer named a limit, or did not (null). */
  static void named(Transaction tx, QuotaState quota, Dimension d, Long named) {
    if (named == null || named < 1 || named > FixedPoint.MAX_AMOUNT) {
      return;
    }
    long limit = Math.min(named, quota.policy().limits().get(d));
    Long forgetAtMs = forgetAtMs(quota, d);
    boolean confirmed = forgetAtMs != null && tx.nowMs() - (forgetAtMs - FORGET_MS) >= CONFIRM_MS;
    if (limit != quota.limit(d) || confirmed) {
      tx.emit(new LimitLearned(quota.id(), d, limit));
      ModeChange.due(tx, quota);
    }
  }

  /** Forgets what is due. */
  public static void forgetDue(Transaction tx, QuotaState quota) {
    for (int i = 0; i < Dimension.count(); i++) {
      Long forgetAtMs = forgetAtMs(quota, Dimension.of(i));
      if (forgetAtMs != null && forgetAtMs <= tx.nowMs()) {
        tx.emit(new LimitForgotten(quota.id(), Dimension.of(i)));
      }
    }
  }

  /** When {@link #forgetDue} is due, or {@link Long#MAX_VALUE}. */
  public static long dueMs(QuotaState quota) {
    long due = Long.MAX_VALUE;
    for (int i = 0; i < Dimension.count(); i++) {
      Long forgetAtMs = forgetAtMs(quota, Dimension.of(i));
      due = forgetAtMs == null ? due : Math.min(due, forgetAtMs);
    }
    return due;
  }

  /**
   * When the limit in force is forgotten if no answer names it again; null where it is the
   * operator's own, or lasts.
   */
  public static Long forgetAtMs(QuotaState quota, Dimension d) {
    return quota.policy().rules().has(Rule.LIMIT_EXPIRY)
            && quota.limits(d)
            && quota.learnedSinceMs(d) != null
        ? (Long) (quota.learnedSinceMs(d) + FORGET_MS)
        : null;
  }
}
