package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.WaitsFor;
import dev.fairway.admission.engine.WaitsFor.Reason;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import dev.fairway.admission.engine.state.Waiter;

/**
 * When what a request takes is there, if nobody else takes any: in its quota, in those that it
 * takes from too, and in its tenant's own bucket.
 *
 * @param dueMs when all of it is there; {@link Long#MAX_VALUE} if time alone does not help
 * @param ownDueMs when its own quota has it
 * @param ceilingDueMs when its tenant's bucket has it
 * @param binding quota that has it last
 * @param dimension dimension of that quota that has it last, or null if all is there
 * @param ceilingDimension dimension of its tenant's bucket that has it last, or null likewise
 */
record Fit(
    long dueMs,
    long ownDueMs,
    long ceilingDueMs,
    QuotaState binding,
    Dimension dimension,
    Dimension ceilingDimension) {

  /** Steps of a bisection that ends at the millisecond, for any wait that can be told. */
  private static final int STEPS = 64;

  static Fit of(QuotaState quota, Waiter waiter, Takes takes, long atMs) {
    String reserveOf = reserveClass(quota, waiter);
    Search search = new Search(waiter, atMs);
    search.in(quota, takes.own(), reserveOf);
    long ownDueMs = search.dueMs;
    for (Takes.Share share : takes.also()) {
      search.in(share.quota(), share.charge(), null);
    }
    Search share = new Search(waiter, atMs);
    share.inCeiling(quota, takes.own());
    return new Fit(
        Math.max(search.dueMs, share.dueMs),
        ownDueMs,
        share.dueMs,
        search.binding,
        search.dimension,
        share.dimension);
  }

  /** How long from that time on, and what for. */
  Wait waitFrom(QuotaState quota, long atMs) {
    long ms = dueMs == Long.MAX_VALUE ? dueMs : dueMs - atMs;
    return new Wait(ms, waitsFor(quota));
  }

  /**
   * What is there last, or null if all is there.
   *
   * @param quota the quota of the request
   */
  WaitsFor waitsFor(QuotaState quota) {
    if (ceilingDimension != null && ceilingDueMs == dueMs) {
      return new WaitsFor(Reason.TENANT_CEILING, quota.id(), ceilingDimension);
    }
    return dimension == null ? null : new WaitsFor(Reason.LIMIT, binding.id(), dimension);
  }

  /** Whether what a request takes from a quota that its own takes from too is there. */
  static boolean isThere(Waiter waiter, Takes.Share share, long atMs) {
    Search search = new Search(waiter, atMs);
    search.in(share.quota(), share.charge(), null);
    return search.dueMs <= atMs;
  }

  /** When the reserve of its class alone has it; never where it is larger than that. */
  static long reserveDueMs(QuotaState quota, Waiter waiter, Takes takes, long atMs) {
    ShareBuckets reserve = quota.reserves().of(waiter.standing().leaseClass());
    long due = Fit.of(quota, waiter, takes, atMs).dueMs();
    for (int i = 0; i < Dimension.count() && due != Long.MAX_VALUE; i++) {
      Dimension d = Dimension.of(i);
      if (reserve.has(d)) {
        long charge = takes.own().get(d);
        due =
            charge > reserve.cap(quota, d)
                ? Long.MAX_VALUE
                : Math.max(due, later(atMs, reserve.msUntil(quota, d, charge, atMs)));
      }
    }
    return due;
  }

  /** Class whose reserve the request may use, or null. */
  static String reserveClass(QuotaState quota, Waiter waiter) {
    String leaseClass = waiter.standing().leaseClass();
    return waiter.attempt() > 1 || quota.reserves().of(leaseClass) == null ? null : leaseClass;
  }

  private static long later(long atMs, long ms) {
    return Amounts.saturatedAdd(atMs, ms);
  }

  private static final class Search {
    private final String role;
    private final String tenant;
    private final long atMs;
    private long dueMs;
    private QuotaState binding;
    private Dimension dimension;

    Search(Waiter waiter, long atMs) {
      this.role = waiter.standing().role();
      this.tenant = waiter.standing().tenant();
      this.atMs = atMs;
      this.dueMs = atMs;
    }

    void in(QuotaState quota, Amounts charge, String reserveOf) {
      for (int i = 0; i < Dimension.count(); i++) {
        Dimension d = Dimension.of(i);
        if (quota.limits(d)) {
          found(quota, d, dueMs(quota, d, charge, reserveOf));
        }
      }
    }

    void inCeiling(QuotaState quota, Amounts charge) {
      ShareBuckets ceiling = quota.tenant(tenant).ceiling();
      for (int i = 0; i < Dimension.count() && ceiling != null; i++) {
        Dimension d = Dimension.of(i);
        if (ceiling.has(d)) {
          long need = Math.min(charge.get(d), ceiling.cap(quota, d));
          if (d.refills()) {
            found(quota, d, later(atMs, ceiling.msUntil(quota, d, Math.max(0, need), atMs)));
          } else if (ceiling.usable(quota, d, atMs) < need) {
            found(quota, d, Long.MAX_VALUE);
          }
        }
      }
    }

    private void found(QuotaState quota, Dimension d, long due) {
      if (due > dueMs) {
        dueMs = due;
        binding = quota;
        dimension = d;
      }
    }

    private long dueMs(QuotaState quota, Dimension d, Amounts charge, String reserveOf) {
      long due = bucketDueMs(quota, d, charge, reserveOf);
      due = d.refills() && due < Long.MAX_VALUE ? quota.afterResetsMs(due) : due;
      return quota.lastMinute().counts(d)
          ? Math.max(due, quota.lastMinute().dueMs(d, role, charge, atMs))
          : due;
    }

    private long bucketDueMs(QuotaState quota, Dimension d, Amounts charge, String reserveOf) {
      long need = Math.max(0, quota.need(d, role, charge));
      if (!d.refills()) {
        return quota.usable(d, atMs) < need ? Long.MAX_VALUE : atMs;
      }
      long kept = quota.reserves().any() ? quota.reserves().capOfOthers(reserveOf, d) : 0;
      if (kept == 0) {
        return later(atMs, quota.msUntil(d, need, atMs));
      }
      return besideReserves(quota, d, need, reserveOf);
    }

    /**
     * Where other reserves keep some of the bucket, a charge needs all of itself there, and what is
     * kept beside it; one that is larger than what is left of a full bucket fits a full bucket.
     * Both the bucket and the reserves in it refill, the bucket not slower.
     */
    private long besideReserves(QuotaState quota, Dimension d, long need, String reserveOf) {
      long least = later(atMs, quota.msUntil(d, need, atMs));
      if (there(quota, d, need, reserveOf, least)) {
        return least;
      }
      long most = Math.max(least, later(atMs, quota.msUntil(d, quota.usableCap(d), atMs)));
      for (int step = 0; step < STEPS && least + 1 < most; step++) {
        long middle = least + (most - least) / 2;
        if (there(quota, d, need, reserveOf, middle)) {
          most = middle;
        } else {
          least = middle;
        }
      }
      return most;
    }

    private static boolean there(
        QuotaState quota, Dimension d, long need, String reserveOf, long atMs) {
      long usable = quota.usable(d, atMs);
      long free = Math.max(0, quota.usableCap(d) - quota.reserves().capOfOthers(reserveOf, d));
      return usable >= need
          && usable - quota.reserves().keptForOthers(reserveOf, d, atMs) >= Math.min(need, free);
    }
  }
}
