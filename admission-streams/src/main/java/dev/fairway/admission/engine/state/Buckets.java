package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Bucket;
import dev.fairway.admission.engine.bucket.Dimension;

/**
 * Changes to the buckets of a quota. Refill comes first: it belongs to the time before the change.
 */
final class Buckets {

  private static final long LATELY_MS = 60_000;

  private Buckets() {}

  /** Refills every bucket up to the time of the command, at the rates in force until now. */
  static void refill(KeyState key, QuotaState quota) {
    key.touched.add(quota.id());
    for (int i = 0; i < Dimension.count(); i++) {
      if (quota.buckets[i] != null) {
        quota.buckets[i] = quota.bucketAt(Dimension.of(i), key.nowMs);
      }
    }
    quota.refilledAtMs = key.nowMs;
  }

  static void charge(QuotaState quota, Amounts amounts) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.buckets[i] != null && amounts.has(d)) {
        quota.buckets[i] = quota.buckets[i].charge(amounts.get(d));
      }
    }
  }

  /** Positive amounts are refunds and stop at the cap, negative ones are charges. */
  static void adjust(QuotaState quota, Amounts amounts) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.buckets[i] != null && amounts.has(d)) {
        quota.buckets[i] = quota.buckets[i].adjust(amounts.get(d), quota.cap(d));
      }
    }
  }

  /** Gives a concurrency slot back, if the lease took one. */
  static void freeSlot(QuotaState quota, Amounts charged) {
    int i = Dimension.CONCURRENT_REQUESTS.ordinal();
    if (quota.buckets[i] != null) {
      quota.buckets[i] = quota.buckets[i].charge(-charged.get(Dimension.CONCURRENT_REQUESTS));
    }
  }

  /** The margin changed from that one. */
  static void follow(QuotaState quota, int marginBeforeBp) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.buckets[i] != null && d.refills()) {
        quota.buckets[i] = following(quota, d, quota.cap(d, marginBeforeBp));
      }
    }
  }

  /**
   * An answer named a limit. What was used of a higher one stays used; where limits change to and
   * fro within a minute it is taken off once, or a bucket would lose what it regained each time.
   */
  static void learn(KeyState key, QuotaState quota, Dimension d, long limit) {
    int i = d.ordinal();
    long capBefore = quota.cap(d);
    Long changedAtMs = quota.learnedAtMs[i];
    quota.learnedLimits[i] = limit;
    quota.learnedAtMs[i] = key.nowMs;
    boolean lately = changedAtMs != null && key.nowMs - changedAtMs < LATELY_MS;
    quota.buckets[i] = following(quota, d, lately ? quota.cap(d) : capBefore);
  }

  /** A bucket that refills after its cap changed from that one, clipped to what it is now. */
  static Bucket following(QuotaState quota, Dimension d, long capBefore) {
    long cap = quota.cap(d);
    long by = quota.policy.rules().has(Rule.KEEP_USE) ? capBefore - cap : 0;
    return quota.buckets[d.ordinal()].lowered(by, cap);
  }

  /** Clips what refills to its cap, after the cap came down. */
  static void clipAll(QuotaState quota) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.buckets[i] != null && d.refills()) {
        quota.buckets[i] = quota.buckets[i].clipTo(quota.cap(d));
      }
    }
  }
}
