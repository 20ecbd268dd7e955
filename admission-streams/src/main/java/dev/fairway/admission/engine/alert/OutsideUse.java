package dev.fairway.admission.engine.alert;

import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/** Somebody outside uses the key: the margin stays at its floor, or the headers show it. */
final class OutsideUse {
  private static final long AT_FLOOR_MS = 600_000;
  private static final String MARGIN = "margin";

  /** Parts of a limit above which an alert is raised, and below which it is cleared. */
  private static final double RAISED_AT = 0.10;

  private static final double CLEARED_AT = 0.08;

  private OutsideUse() {}

  static void review(Transaction tx, QuotaState quota) {
    Long since = quota.floorSinceMs();
    boolean atFloor = since != null && tx.nowMs() - since >= AT_FLOOR_MS;
    Alerts.set(
        tx,
        quota,
        AlertKind.MARGIN_AT_FLOOR,
        MARGIN,
        atFloor,
        "429s go on although the margin is at its floor; look who else uses the key, or lower the limit");
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      boolean limited = quota.limits(d) && d.refills();
      boolean raised = quota.alerts().isRaised(AlertKind.OUTSIDE_USE, d.wireName());
      if (limited || raised) {
        double share = limited ? quota.outside(d).perMinuteMilli() / 1000.0 / quota.limit(d) : 0;
        Alerts.set(
            tx,
            quota,
            AlertKind.OUTSIDE_USE,
            d.wireName(),
            share > (raised ? CLEARED_AT : RAISED_AT),
            "Others take "
                + Math.round(share * 100)
                + " % of the limit for "
                + d.wireName()
                + "; give them a key of their own, or lease for them too");
      }
    }
  }

  static long dueMs(QuotaState quota) {
    Long since = quota.floorSinceMs();
    boolean raised = quota.alerts().isRaised(AlertKind.MARGIN_AT_FLOOR, MARGIN);
    return since == null || raised ? Long.MAX_VALUE : since + AT_FLOOR_MS;
  }
}
