package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.bucket.Dimension;
import java.util.Map;
import java.util.TreeMap;

/** What classes of a quota keep for themselves: a bucket each, beside those of the quota. */
public final class Reserves {
  /** By class. */
  final TreeMap<String, ShareBuckets> buckets = new TreeMap<>();

  private final QuotaState quota;

  Reserves(QuotaState quota) {
    this.quota = quota;
  }

  /** Bucket of a class, or null if it has none. */
  public ShareBuckets of(String leaseClass) {
    return buckets.get(leaseClass);
  }

  /** Whether any class has one. */
  public boolean any() {
    return !buckets.isEmpty();
  }

  /** What the classes but one keep of a dimension at that time, without debts. */
  public long keptForOthers(String leaseClass, Dimension d, long atMs) {
    long kept = 0;
    for (Map.Entry<String, ShareBuckets> reserve : buckets.entrySet()) {
      if (!reserve.getKey().equals(leaseClass) && reserve.getValue().has(d)) {
        kept += Math.max(0, reserve.getValue().usable(quota, d, atMs));
      }
    }
    return kept;
  }

  /** The most that the classes but one can keep of a dimension. */
  public long capOfOthers(String leaseClass, Dimension d) {
    long kept = 0;
    for (Map.Entry<String, ShareBuckets> reserve : buckets.entrySet()) {
      if (!reserve.getKey().equals(leaseClass) && reserve.getValue().has(d)) {
        kept += reserve.getValue().cap(quota, d);
      }
    }
    return kept;
  }
}
