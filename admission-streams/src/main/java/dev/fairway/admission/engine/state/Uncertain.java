package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.HashMap;
import java.util.Map;

/**
 * Calls under way that no signal has told of: the sum of their squared uncertainties in one
 * dimension, kept as they come and go, so that a decision costs the same however many there are.
 * Whole numbers, so that the sum does not depend on the order of additions. Derived from leases.
 */
final class Uncertain {
  /** A call more uncertain than this counts as this uncertain: the sum stays exact. */
  private static final long MOST = 1L << 20;

  private record Entry(long absorbedFromMs, long square) {}

  private final Dimension dimension;
  private final Map<String, Entry> entries = new HashMap<>();
  private final DueIndex byTime = new DueIndex();
  private long squares;

  Uncertain(Dimension dimension) {
    this.dimension = dimension;
  }

  long squares() {
    return squares;
  }

  /**
   * A lease, if its call is uncertain.
   *
   * @param held what it holds of the quota
   * @param signalled whether a signal of its own told that quota's number
   * @param absorbedBeforeMs send time of the newest signal applied, or null
   */
  void add(Lease lease, Amounts held, boolean signalled, Long absorbedBeforeMs) {
    boolean counted =
        lease.status() == Lease.Status.OPEN
            && held.has(dimension)
            && !lease.inputKnown()
            && !signalled;
    // As QuotaState.absorbed has it.
    long fromMs = lease.sendKnown() ? lease.sentAtMs() : lease.sentAtMs() + lease.sendGuardMs() + 1;
    if (!counted || (absorbedBeforeMs != null && fromMs <= absorbedBeforeMs)) {
      return;
    }
    long charge = Math.max(0, held.get(dimension));
    long error =
        Math.min(
            MOST, charge / 1000 * lease.errorMilli() + charge % 1000 * lease.errorMilli() / 1000);
    entries.put(lease.leaseId(), new Entry(fromMs, error * error));
    byTime.add(fromMs, lease.leaseId());
    squares += error * error;
  }

  void remove(String leaseId) {
    Entry entry = entries.remove(leaseId);
    if (entry != null) {
      byTime.remove(entry.absorbedFromMs(), leaseId);
      squares -= entry.square();
    }
  }

  /** Calls sent by then are in the provider's number. */
  void absorb(long beforeMs) {
    while (byTime.firstMs() <= beforeMs) {
      remove(byTime.firstName());
    }
  }

  void clear() {
    entries.clear();
    byTime.clear();
    squares = 0;
  }
}
