package dev.fairway.admission.engine.alert;

import dev.fairway.admission.engine.Event.AlertCleared;
import dev.fairway.admission.engine.Event.AlertRaised;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/**
 * Where alerts are raised and cleared. A condition is a class of its own that calls {@link #set};
 * what becomes true with time alone says when, in {@link #dueMs}.
 */
public final class Alerts {

  private Alerts() {}

  /** Raises and clears what is due by now. */
  public static void review(Transaction tx, QuotaState quota) {
    OutsideUse.review(tx, quota);
    EstimateError.review(tx, quota);
    Storm.review(tx, quota);
  }

  /**
   * When the next review has something to do, or {@link Long#MAX_VALUE}, seen from the time of the
   * last command.
   */
  public static long dueMs(QuotaState quota, long nowMs) {
    long due = Math.min(OutsideUse.dueMs(quota), EstimateError.dueMs(quota));
    return Math.min(due, Storm.dueMs(quota, nowMs));
  }

  /**
   * Raises an alert that is not raised, or clears one that is.
   *
   * @param subject whom it concerns
   * @param detail what was found and what to do, for people; not used to clear
   */
  static void set(
      Transaction tx,
      QuotaState quota,
      AlertKind kind,
      String subject,
      boolean raised,
      String detail) {
    if (raised == quota.alerts().isRaised(kind, subject) || !tx.hasRoom()) {
      return;
    }
    tx.emit(
        raised
            ? new AlertRaised(quota.id(), kind, subject, detail)
            : new AlertCleared(quota.id(), kind, subject));
  }
}
