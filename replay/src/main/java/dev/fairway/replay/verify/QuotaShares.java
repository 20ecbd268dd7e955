package dev.fairway.replay.verify;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.BucketRow;
import dev.fairway.schemas.ReserveRow;
import dev.fairway.schemas.SettlementShift;
import dev.fairway.schemas.TakenRow;
import dev.fairway.schemas.TenantRow;
import dev.fairway.schemas.UnleasedCharged;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * What is a share of a quota's buckets: the ceilings of its tenants, and the reserves of its
 * classes.
 */
final class QuotaShares {
  private final LedgerBucket[] buckets;
  private final Map<String, ShareLedger> ceilings = new TreeMap<>();
  private final Map<String, ShareLedger> reserves = new TreeMap<>();
  private final Consumer<String> wrong;

  /**
   * No shares yet.
   *
   * @param buckets the quota's, by dimension, as they are at each time; null where there is no
   *     limit
   */
  QuotaShares(LedgerBucket[] buckets, Consumer<String> wrong) {
    this.buckets = buckets;
    this.wrong = wrong;
  }

  /** A tenant's own bucket as a snapshot has it. */
  void load(TenantRow row, LedgerRules rules, long nowMs, int marginBp) {
    Integer shareBp = rules.ceilings().get(row.getTenant());
    if (shareBp != null) {
      ShareLedger share = loaded(shareBp, row.getBuckets(), row.getRefilledAtMs(), nowMs, marginBp);
      ceilings.put(row.getTenant(), share);
    }
  }

  /** A class's reserve as a snapshot has it. */
  void load(ReserveRow row, LedgerRules rules, long nowMs, int marginBp) {
    Integer shareBp = rules.reserves().get(row.getClass$());
    if (shareBp != null) {
      ShareLedger share = loaded(shareBp, row.getBuckets(), row.getRefilledAtMs(), nowMs, marginBp);
      reserves.put(row.getClass$(), share);
    }
  }

  private ShareLedger loaded(
      int shareBp, List<BucketRow> rows, long refilledAtMs, long nowMs, int marginBp) {
    ShareLedger share = new ShareLedger(shareBp);
    for (BucketRow row : rows) {
      int d = LedgerRules.dimension(row.getDimension());
      share.put(d, buckets[d].part(shareBp, row.getBalance(), row.getRemainder()));
    }
    share.refill(refilledAtMs, nowMs, marginBp);
    return share;
  }

  /**
   * The shares as the definition has them: the same share keeps its levels, a new ceiling is full,
   * and a new reserve has its share of what there is. Of slots a ceiling has what its tenant's open
   * calls leave.
   *
   * @param open open calls by tenant
   */
  void define(LedgerRules rules, int marginBp, ToLongFunction<String> open) {
    define(ceilings, rules.ceilings(), true, marginBp);
    ceilings.forEach(
        (name, share) -> {
          int d = LedgerRules.CONCURRENCY;
          if (share.has(d)) {
            long free = share.cap(d, marginBp) - open.applyAsLong(name);
            share.charge(LedgerRules.amounts(d, share.tokens(d) - free));
          }
        });
    define(reserves, rules.reserves(), false, marginBp);
  }

  private void define(
      Map<String, ShareLedger> shares,
      Map<String, Integer> defined,
      boolean ceiling,
      int marginBp) {
    shares
        .entrySet()
        .removeIf(e -> !Integer.valueOf(e.getValue().shareBp()).equals(defined.get(e.getKey())));
    defined.forEach(
        (name, shareBp) -> {
          ShareLedger share = shares.computeIfAbsent(name, n -> new ShareLedger(shareBp));
          for (int d = 0; d < buckets.length; d++) {
            if (buckets[d] == null || (d == LedgerRules.CONCURRENCY && !ceiling)) {
              share.drop(d);
            } else if (share.has(d)) {
              share.follow(d, buckets[d]);
            } else {
              share.put(d, buckets[d].part(shareBp, 0, 0));
              long whole = Math.max(0, buckets[d].tokens()) * shareBp / 10_000;
              long cap = share.cap(d, marginBp);
              share.charge(LedgerRules.amounts(d, -(ceiling ? cap : Math.min(cap, whole))));
            }
          }
          share.clipToCap(marginBp);
        });
  }

  void refill(long fromMs, long toMs, int marginBp) {
    each(share -> share.refill(fromMs, toMs, marginBp));
  }

  /** What is a share of a bucket goes by what that goes by. */
  void follow(int d) {
    each(share -> share.follow(d, buckets[d]));
  }

  void clipToCap(int marginBp) {
    each(share -> share.clipToCap(marginBp));
  }

  private void each(Consumer<ShareLedger> action) {
    ceilings.values().forEach(action);
    reserves.values().forEach(action);
  }

  /**
   * What the reserves keep of a dimension.
   *
   * @param reserveOf class whose own reserve does not count, or null
   */
  long kept(int d, String reserveOf) {
    long kept = 0;
    for (Map.Entry<String, ShareLedger> reserve : reserves.entrySet()) {
      if (!reserve.getKey().equals(reserveOf) && reserve.getValue().has(d)) {
        kept += Math.max(0, reserve.getValue().tokens(d));
      }
    }
    return kept;
  }

  /** What they would keep if they were full. */
  long keptAtMost(int d, String reserveOf, int marginBp) {
    long keptAtMost = 0;
    for (Map.Entry<String, ShareLedger> reserve : reserves.entrySet()) {
      if (!reserve.getKey().equals(reserveOf) && reserve.getValue().has(d)) {
        keptAtMost += reserve.getValue().cap(d, marginBp);
      }
    }
    return keptAtMost;
  }

  /** A lease takes all of its charge of its tenant's bucket, which has it or is full. */
  void takeOfCeiling(String who, Amounts charge, String tenant, TakenRow taken, int marginBp) {
    ShareLedger ceiling = tenant == null ? null : ceilings.get(tenant);
    if (ceiling == null) {
      return;
    }
    for (int d = 0; d < buckets.length; d++) {
      if (ceiling.has(d)) {
        long amount = LedgerRules.amount(charge, d);
        long need = Math.min(amount, ceiling.cap(d, marginBp));
        if (ceiling.tokens(d) < need || ceiling.tokens(d) < 0) {
          wrong.accept(
              who
                  + " under its ceiling: expected a charge that fits, but "
                  + amount
                  + " "
                  + LedgerRules.NAMES[d]
                  + " were taken from "
                  + ceiling.tokens(d));
        }
      }
    }
    ceiling.charge(charge);
    if (taken == null || !charge.equals(taken.getCeiling())) {
      wrong.accept(who + ": expected the tenant's bucket to be charged " + charge);
    }
  }

  /**
   * A call without a lease takes all of its charge of its tenant's bucket, into debt if need be.
   */
  void takeUnleased(String who, UnleasedCharged e) {
    ShareLedger ceiling = ceilings.get(e.getTenant());
    if (ceiling != null) {
      ceiling.charge(e.getCharged());
      if (!e.getCharged().equals(e.getCeiling())) {
        wrong.accept(who + ": expected the tenant's bucket to be charged " + e.getCharged());
      }
    }
  }

  /**
   * A lease takes of its class's reserve what that has of its charge.
   *
   * @param outOfReserve whether the reserve has to pay all of it
   */
  void takeOfReserve(
      String who, Amounts charge, String leaseClass, TakenRow taken, boolean outOfReserve) {
    ShareLedger reserve = leaseClass == null ? null : reserves.get(leaseClass);
    if (reserve != null && taken != null) {
      for (int d = 0; d < LedgerRules.CONCURRENCY; d++) {
        long amount = LedgerRules.amount(taken.getReserve(), d);
        if (amount != 0 && (amount > LedgerRules.amount(charge, d) || amount > reserve.tokens(d))) {
          wrong.accept(who + ": expected what the reserve has, but it paid " + taken.getReserve());
        }
      }
      reserve.charge(taken.getReserve());
    }
    if (outOfReserve && (reserve == null || taken == null || !paid(charge, taken, reserve))) {
      wrong.accept(who + ": expected the reserve to pay all of " + charge);
    }
  }

  private static boolean paid(Amounts charge, TakenRow taken, ShareLedger reserve) {
    for (int d = 0; d < LedgerRules.CONCURRENCY; d++) {
      if (reserve.has(d)
          && LedgerRules.amount(charge, d) != LedgerRules.amount(taken.getReserve(), d)) {
        return false;
      }
    }
    return true;
  }

  void shift(String tenant, String leaseClass, SettlementShift shift, int marginBp) {
    if (ceilings.containsKey(tenant)) {
      ceilings.get(tenant).adjust(shift.getCeiling(), marginBp);
    }
    if (reserves.containsKey(leaseClass)) {
      reserves.get(leaseClass).adjust(shift.getReserve(), marginBp);
    }
  }

  void freeCeilingSlot(String tenant) {
    if (ceilings.containsKey(tenant)) {
      ceilings.get(tenant).freeSlot();
    }
  }

  /** Compares with a snapshot taken now. */
  void compare(TenantRow row, long nowMs, int marginBp) {
    compare(
        "tenant " + row.getTenant(),
        ceilings.get(row.getTenant()),
        row.getBuckets(),
        row.getRefilledAtMs(),
        nowMs,
        marginBp);
  }

  /** Compares with a snapshot taken now. */
  void compare(ReserveRow row, long nowMs, int marginBp) {
    compare(
        "class " + row.getClass$(),
        reserves.get(row.getClass$()),
        row.getBuckets(),
        row.getRefilledAtMs(),
        nowMs,
        marginBp);
  }

  private void compare(
      String who,
      ShareLedger ours,
      List<BucketRow> rows,
      long refilledAtMs,
      long nowMs,
      int marginBp) {
    String difference = null;
    if (ours == null) {
      difference = rows.isEmpty() ? null : "expected no buckets";
    } else {
      difference =
          ours.difference(rows, loaded(ours.shareBp(), rows, refilledAtMs, nowMs, marginBp));
    }
    if (difference != null) {
      wrong.accept("snapshot of " + who + ": " + difference);
    }
  }
}
