package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.Event.SafetyFactorChanged;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/**
 * What AIMD is to the margin, to ADAPTIVE's safety factor: an episode of 429s raises it by a
 * quarter of a standard deviation, a clean minute gives back a hundredth.
 */
final class SafetyFactor {
  private static final int RAISE_MILLI = 250;
  private static final int FALL_MILLI = 10;

  private SafetyFactor() {}

  static void raise(Transaction tx, QuotaState quota) {
    int from = quota.zMilli();
    int to = Math.min(Need.MAX_Z_MILLI, from + RAISE_MILLI);
    if (to > from) {
      tx.emit(new SafetyFactorChanged(quota.id(), from, to));
    }
  }

  static void fallDue(Transaction tx, QuotaState quota) {
    while (quota.zFallDueMs() <= tx.nowMs() && tx.hasRoom()) {
      int from = quota.zMilli();
      int to = Math.max(Need.START_Z_MILLI, from - FALL_MILLI);
      tx.emit(new SafetyFactorChanged(quota.id(), from, to));
    }
  }
}
