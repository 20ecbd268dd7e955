package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Bucket;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.bucket.Refill;

/**
 * Buckets of a part of a quota: a tenant's ceiling, or a class's reserve. They refill as the quota
 * does, at a share of its rate, up to the same share of what of its depth may be used: both as the
 * margin in force has it. What others take outside is the whole quota's loss, and no part's.
 */
public final class ShareBuckets {
  private final int shareBp;
  private final boolean countsSlots;
  final Bucket[] buckets = new Bucket[Dimension.count()];
  long refilledAtMs;

  ShareBuckets(int shareBp, boolean countsSlots) {
    this.shareBp = shareBp;
    this.countsSlots = countsSlots;
  }

  /** Whether there is a bucket for that dimension. */
  public boolean has(Dimension d) {
    return buckets[d.ordinal()] != null;
  }

  /** Highest balance that refills and refunds reach. */
  public long cap(QuotaState quota, Dimension d) {
    return share(d.refills() ? quota.usableCap(d) : quota.limit(d));
  }

  /** Largest charge that can ever fit. */
  public long largest(QuotaState quota, Dimension d) {
    return share(quota.largest(d));
  }

  /** The same by the operator's own limit, whatever the provider named. */
  public long largestDefined(QuotaState quota, Dimension d) {
    return share(quota.largestDefined(d));
  }

  /** Refill units per millisecond. */
  public long unitsPerMs(QuotaState quota, Dimension d) {
    return share(quota.unitsPerMsAlone(d));
  }

  /** Balance at that time. */
  public long usable(QuotaState quota, Dimension d, long atMs) {
    return at(quota, d, atMs).balance();
  }

  /** Milliseconds from that time until the bucket holds that much; 0 if it does. */
  public long msUntil(QuotaState quota, Dimension d, long amount, long atMs) {
    Bucket bucket = at(quota, d, atMs);
    long missing = Amounts.saturatedSubtract(amount, bucket.balance());
    return refill(quota, d).msUntil(missing, bucket.remainder(), cap(quota, d), atMs);
  }

  /** What it will have given in that time if it were used at once: its level, and what comes in. */
  public long gives(QuotaState quota, Dimension d, long atMs, long inMs) {
    return Math.max(0, usable(quota, d, atMs) + refill(quota, d).comesIn(atMs, inMs));
  }

  private long share(long whole) {
    return Math.max(1, FixedPoint.mulDiv(whole, shareBp, FixedPoint.ONE_BP));
  }

  private Refill refill(QuotaState quota, Dimension d) {
    return new Refill(unitsPerMs(quota, d), cap(quota, d), quota.resetPhaseMs(d));
  }

  private Bucket at(QuotaState quota, Dimension d, long atMs) {
    Bucket bucket = buckets[d.ordinal()];
    return d.refills() ? refill(quota, d).of(bucket, refilledAtMs, atMs) : bucket;
  }

  // ---- changed by the applier alone

  /** Buckets for what the quota limits now, each as full as {@code fullBp} says. */
  void start(QuotaState quota, long nowMs) {
    refilledAtMs = nowMs;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      boolean counts = quota.limits(d) && (d.refills() || countsSlots);
      if (!counts) {
        buckets[i] = null;
      } else if (buckets[i] == null) {
        buckets[i] = Bucket.at(cap(quota, d));
      }
    }
  }

  void refill(QuotaState quota, long nowMs) {
    for (int i = 0; i < Dimension.count(); i++) {
      if (buckets[i] != null) {
        buckets[i] = at(quota, Dimension.of(i), nowMs);
      }
    }
    refilledAtMs = nowMs;
  }

  void charge(Amounts amounts) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (buckets[i] != null && amounts.has(d)) {
        buckets[i] = buckets[i].charge(amounts.get(d));
      }
    }
  }

  /** Positive amounts are refunds and stop at the cap, negative ones are charges. */
  void adjust(QuotaState quota, Amounts amounts) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (buckets[i] != null && d.refills() && amounts.has(d)) {
        buckets[i] = buckets[i].adjust(amounts.get(d), cap(quota, d));
      }
    }
  }

  /** Gives a slot back. */
  void freeSlot(Amounts charged) {
    Dimension d = Dimension.CONCURRENT_REQUESTS;
    if (has(d)) {
      buckets[d.ordinal()] = buckets[d.ordinal()].charge(-charged.get(d));
    }
  }

  void clip(QuotaState quota) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (buckets[i] != null && d.refills()) {
        buckets[i] = buckets[i].clipTo(cap(quota, d));
      }
    }
  }
}
