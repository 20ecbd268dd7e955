package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What calls of the last minute have taken of one dimension, where the provider adds up exactly
 * that. A bucket bounds what a minute can take, and cannot tell what the last one did. Derived from
 * leases; kept in steps of a quarter of a second, so that a look costs the same however many calls
 * a minute has.
 */
final class RollingUse {
  /** Ended leases are kept this long after their grant, so that a late signal can be compared. */
  private static final long KEPT_MS = 75_000;

  private static final long WINDOW_MS = 60_000;

  /** From the send to the arrival at the provider, from when on it counts. */
  private static final long ARRIVAL_MS = 120;

  private static final long STEP_MS = 250;

  /** When an entry leaves the window, rounded up to a step, and what leaves. */
  private record Entry(long leavesMs, long amount) {}

  private final Dimension dimension;
  private final Map<String, Entry> entries = new HashMap<>();
  private final NavigableMap<Long, Long> steps = new TreeMap<>();

  RollingUse(Dimension dimension) {
    this.dimension = dimension;
  }

  /** Until when a lease must be known: one that was sent late counts longer after its grant. */
  static long keptUntilMs(Lease lease) {
    return Math.max(lease.grantedAtMs() + KEPT_MS, leavesMs(lease));
  }

  private static long leavesMs(Lease lease) {
    return leavesMs(lease.sentAtMs() + (lease.sendKnown() ? 0 : lease.sendGuardMs()));
  }

  /** When what is sent at that time leaves the window. */
  static long leavesMs(long sentMs) {
    return Math.floorDiv(sentMs + ARRIVAL_MS + WINDOW_MS + STEP_MS - 1, STEP_MS) * STEP_MS;
  }

  /** A lease, with what it holds of the quota. */
  void add(Lease lease, Amounts held) {
    long amount = held.has(dimension) ? Math.max(0, held.get(dimension)) : 0;
    if (amount > 0) {
      long leavesMs = leavesMs(lease);
      entries.put(lease.leaseId(), new Entry(leavesMs, amount));
      steps.merge(leavesMs, amount, Amounts::saturatedAdd);
    }
  }

  void remove(String leaseId) {
    Entry entry = entries.remove(leaseId);
    if (entry != null) {
      steps.computeIfPresent(
          entry.leavesMs(),
          (at, sum) -> sum == entry.amount() ? null : (Long) (sum - entry.amount()));
    }
  }

  /** What is in the window at that time. */
  long at(long atMs) {
    long sum = 0;
    for (long amount : steps.tailMap(atMs, false).values()) {
      sum = Amounts.saturatedAdd(sum, amount);
    }
    return sum;
  }

  /** What leaves the window when, after that time; a copy. */
  NavigableMap<Long, Long> leaving(long atMs) {
    return new TreeMap<>(steps.tailMap(atMs, false));
  }

  /** When no more than that is in the window, if nothing else comes. */
  long dueMs(long most, long atMs) {
    long sum = at(atMs);
    long due = atMs;
    for (Map.Entry<Long, Long> step : steps.tailMap(atMs, false).entrySet()) {
      if (sum <= most) {
        break;
      }
      sum -= step.getValue();
      due = step.getKey();
    }
    return due;
  }

  /** Leases that are kept, whether or not they have left the window. */
  int size() {
    return entries.size();
  }

  void clear() {
    entries.clear();
    steps.clear();
  }
}
