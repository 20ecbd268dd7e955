package dev.fairway.admission.engine.alert;

import dev.fairway.admission.engine.learn.ErrorTrend;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Statistics.Suspect;
import dev.fairway.admission.engine.state.Transaction;

/** The estimates of a role or of an agent lie far off for a while. */
final class EstimateError {

  private EstimateError() {}

  static void review(Transaction tx, QuotaState quota) {
    for (Suspect s = quota.statistics().nextSuspect();
        s != null && s.dueMs() <= tx.nowMs() && tx.hasRoom();
        s = quota.statistics().nextSuspect()) {
      String off = Math.round(s.estimates().meanError() * 100) + " %";
      Alerts.set(
          tx,
          quota,
          AlertKind.ESTIMATE_ERROR,
          s.subject(),
          s.estimates().aboveSinceMs() != null && !s.raised(),
          "Input estimates were off by "
              + off
              + " on average, more than "
              + Math.round(ErrorTrend.TOO_LARGE * 100)
              + " %, for 5 minutes; look at how they are made");
    }
  }

  static long dueMs(QuotaState quota) {
    Suspect next = quota.statistics().nextSuspect();
    return next == null ? Long.MAX_VALUE : next.dueMs();
  }
}
