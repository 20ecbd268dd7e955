package dev.fairway.replay.verify;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.BucketRow;
import java.util.List;

/**
 * The buckets of a part of a quota, a tenant's ceiling or a class's reserve: a share of its rate
 * and of what of its depth may be used, both at its margin.
 */
final class ShareLedger {
  private final LedgerBucket[] buckets = new LedgerBucket[LedgerRules.NAMES.length];
  private final int shareBp;

  ShareLedger(int shareBp) {
    this.shareBp = shareBp;
  }

  int shareBp() {
    return shareBp;
  }

  boolean has(int d) {
    return buckets[d] != null;
  }

  void put(int d, LedgerBucket bucket) {
    buckets[d] = bucket;
  }

  void drop(int d) {
    buckets[d] = null;
  }

  /** The bucket that this one is a share of goes by something else from now on. */
  void follow(int d, LedgerBucket whole) {
    if (buckets[d] != null) {
      buckets[d].follow(whole);
    }
  }

  long tokens(int d) {
    return buckets[d].tokens();
  }

  long cap(int d, int marginBp) {
    return buckets[d].cap(marginBp);
  }

  void refill(long fromMs, long toMs, int marginBp) {
    for (LedgerBucket bucket : buckets) {
      if (bucket != null) {
        bucket.refill(fromMs, toMs, marginBp);
      }
    }
  }

  void charge(Amounts amounts) {
    for (int d = 0; d < buckets.length; d++) {
      if (buckets[d] != null) {
        buckets[d].charge(LedgerRules.amount(amounts, d));
      }
    }
  }

  void adjust(Amounts amounts, int marginBp) {
    for (int d = 0; d < LedgerRules.CONCURRENCY; d++) {
      if (buckets[d] != null && LedgerRules.value(amounts, d) != null) {
        buckets[d].adjust(LedgerRules.amount(amounts, d), marginBp);
      }
    }
  }

  /** An open call ended: its slot comes back. */
  void freeSlot() {
    LedgerBucket bucket = buckets[LedgerRules.CONCURRENCY];
    if (bucket != null) {
      bucket.free(1);
    }
  }

  void clipToCap(int marginBp) {
    for (LedgerBucket bucket : buckets) {
      if (bucket != null) {
        bucket.clipToCap(marginBp);
      }
    }
  }

  /** What differs from a row of that time, or null. */
  String difference(List<BucketRow> rows, ShareLedger theirs) {
    for (BucketRow row : rows) {
      int d = LedgerRules.dimension(row.getDimension());
      if (buckets[d] == null) {
        return "expected no bucket for " + row.getDimension();
      }
      if (theirs.tokens(d) != tokens(d)) {
        return "expected a balance of "
            + tokens(d)
            + " "
            + row.getDimension()
            + ", but found "
            + theirs.tokens(d);
      }
    }
    return null;
  }
}
