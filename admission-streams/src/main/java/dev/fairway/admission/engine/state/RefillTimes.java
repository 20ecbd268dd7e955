package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Bucket;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.bucket.FixedWindow;
import dev.fairway.admission.engine.bucket.Refill;

/**
 * What refill makes of a quota's buckets, and when. It has two speeds: while what others take is
 * known, without it, and afterwards with it.
 */
final class RefillTimes {

  private RefillTimes() {}

  static Bucket bucketAt(QuotaState quota, Dimension d, long atMs) {
    Bucket bucket = quota.buckets[d.ordinal()];
    if (!d.refills()) {
      return bucket;
    }
    long fromMs = quota.refilledAtMs;
    long outsideMilli = quota.outside(d).perMinuteMilli();
    long takenUntilMs = Math.min(quota.outsideUntilMs(d), atMs);
    if (outsideMilli > 0 && takenUntilMs > fromMs) {
      bucket = refill(quota, d, outsideMilli).of(bucket, fromMs, takenUntilMs);
      fromMs = takenUntilMs;
    }
    return refill(quota, d, 0).of(bucket, fromMs, atMs);
  }

  /** Milliseconds until a bucket holds that much, where others take their part until that time. */
  static long msUntil(QuotaState quota, Dimension d, long amount, long outsideUntilMs, long atMs) {
    Bucket bucket = bucketAt(quota, d, atMs);
    long missing = Amounts.saturatedSubtract(amount, quota.usable(d, bucket));
    long takenMs = Math.max(0, Amounts.saturatedSubtract(outsideUntilMs, atMs));
    long outsideMilli = takenMs == 0 ? 0 : quota.outside(d).perMinuteMilli();
    long ms =
        refill(quota, d, outsideMilli)
            .msUntil(missing, bucket.remainder(), quota.usableCap(d), atMs);
    if (outsideMilli == 0 || ms <= takenMs || quota.policy.window() == Window.FIXED) {
      return ms;
    }
    long slow = quota.unitsPerMs(d, outsideMilli);
    long missingThen = missing - FixedPoint.refilledTokens(slow, takenMs, bucket.remainder());
    long carried = FixedPoint.refilledRemainder(slow, takenMs, bucket.remainder());
    return takenMs + FixedPoint.msUntil(quota.unitsPerMs(d, 0), missingThen, carried);
  }

  static long afterResetsMs(QuotaState quota, long atMs) {
    long after = atMs;
    for (int i = 0; i < Dimension.count() && quota.policy.window() == Window.FIXED; i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && quota.limits(d)) {
        after = Math.max(after, FixedWindow.afterGuard(quota.resetPhaseMs(d), after));
      }
    }
    return after;
  }

  private static Refill refill(QuotaState quota, Dimension d, long outsideMilli) {
    return new Refill(quota.unitsPerMs(d, outsideMilli), quota.cap(d), quota.resetPhaseMs(d));
  }
}
