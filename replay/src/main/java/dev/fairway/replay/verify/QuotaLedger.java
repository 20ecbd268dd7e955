package dev.fairway.replay.verify;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.BalanceRow;
import dev.fairway.schemas.BucketRow;
import dev.fairway.schemas.BucketsResynced;
import dev.fairway.schemas.DimensionResync;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.MarginModeChanged;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.ReserveRow;
import dev.fairway.schemas.SettlementShift;
import dev.fairway.schemas.TakenRow;
import dev.fairway.schemas.TenantRow;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The balances of one quota, folded from the journal by the published rules. */
final class QuotaLedger {
  /** A header that old says nothing of the present level. */
  private static final long FRESH_MS = 60_000;

  /** A limit that no answer has named for so long is forgotten. */
  private static final long FORGET_MS = 600_000;

  private final LedgerBucket[] buckets = new LedgerBucket[LedgerRules.NAMES.length];
  private final Long[] learnedLimits = new Long[LedgerRules.NAMES.length];
  private final long[] learnedAtMs = new long[LedgerRules.NAMES.length];
  private final Long[] resyncedAtMs = new Long[LedgerRules.NAMES.length];
  private final Long[] answeredAtMs = new Long[LedgerRules.NAMES.length];
  private final long[] clippedBefore = new long[LedgerRules.NAMES.length];
  private final Map<String, ShareLedger> ceilings = new TreeMap<>();
  private final Map<String, ShareLedger> reserves = new TreeMap<>();
  private final Consumer<String> wrong;
  private LedgerRules rules;
  private int marginBp;
  private long nowMs;

  /** A quota that is defined now. */
  QuotaLedger(Quota definition, long nowMs, Consumer<String> wrong) {
    this.rules = new LedgerRules(definition);
    this.nowMs = nowMs;
    this.wrong = wrong;
    this.marginBp = rules.marginStartBp();
    for (int d = 0; d < buckets.length; d++) {
      if (rules.limited(d)) {
        buckets[d] = fresh(d);
      }
    }
    defineShares();
  }

  /** A quota as a snapshot has it. */
  QuotaLedger(Quota definition, BalanceRow row, Consumer<String> wrong) {
    this.rules = new LedgerRules(definition);
    this.nowMs = row.getRefilledAtMs();
    this.wrong = wrong;
    this.marginBp = row.getMarginBp();
    for (BucketRow bucket : row.getBuckets()) {
      int d = LedgerRules.dimension(bucket.getDimension());
      learnedLimits[d] = bucket.getLearnedLimit();
      learnedAtMs[d] = bucket.getLearnedAtMs() == null ? nowMs : bucket.getLearnedAtMs();
      // What was resynced before the snapshot is no longer known in full: any lease may be
      // absorbed.
      resyncedAtMs[d] = bucket.getAbsorbedBeforeMs() == null ? null : (Long) nowMs;
      answeredAtMs[d] = bucket.getAnsweredAtMs();
      clippedBefore[d] = bucket.getClipped();
      buckets[d] = bucket(d, bucket);
    }
  }

  /** A tenant's own bucket as a snapshot has it. */
  void load(TenantRow row) {
    Integer shareBp = rules.ceilings().get(row.getTenant());
    if (shareBp != null) {
      ceilings.put(row.getTenant(), loaded(shareBp, row.getBuckets(), row.getRefilledAtMs()));
    }
  }

  /** A class's reserve as a snapshot has it. */
  void load(ReserveRow row) {
    Integer shareBp = rules.reserves().get(row.getClass$());
    if (shareBp != null) {
      reserves.put(row.getClass$(), loaded(shareBp, row.getBuckets(), row.getRefilledAtMs()));
    }
  }

  private ShareLedger loaded(int shareBp, List<BucketRow> rows, long refilledAtMs) {
    ShareLedger share = shareOf(shareBp, rows);
    share.refill(refilledAtMs, nowMs, marginBp);
    return share;
  }

  private ShareLedger shareOf(int shareBp, List<BucketRow> rows) {
    ShareLedger share = new ShareLedger(shareBp);
    for (BucketRow row : rows) {
      int d = LedgerRules.dimension(row.getDimension());
      share.put(d, buckets[d].part(shareBp, row.getBalance(), row.getRemainder()));
    }
    return share;
  }

  /**
   * The parts as the definition has them: the same share keeps its levels, a new ceiling is full,
   * and a new reserve has its share of what there is.
   */
  private void defineShares() {
    define(ceilings, rules.ceilings(), true);
    define(reserves, rules.reserves(), false);
  }

  private void define(
      Map<String, ShareLedger> shares, Map<String, Integer> defined, boolean ceiling) {
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

  void advance(long toMs) {
    for (LedgerBucket bucket : buckets) {
      if (bucket != null) {
        bucket.refill(nowMs, toMs, marginBp);
      }
    }
    eachShare(share -> share.refill(nowMs, toMs, marginBp));
    nowMs = Math.max(nowMs, toMs);
  }

  /**
   * The same quota, defined anew: levels stay, clipped to their caps, unless a new one is given.
   * What is limited anew starts with what open leases hold of it taken, a slot for each of them
   * included.
   */
  void redefine(Quota definition, LeaseLedger leases) {
    LedgerRules before = rules;
    int marginBeforeBp = marginBp;
    rules = new LedgerRules(definition);
    marginBp =
        marginBp == before.marginStartBp()
            ? rules.marginStartBp()
            : Math.max(rules.marginFloorBp(), Math.min(rules.marginStartBp(), marginBp));
    boolean newLevels = !rules.sameLevels(before);
    for (int d = 0; d < buckets.length; d++) {
      Long limitBefore = before.configuredLimit(d);
      boolean renamed = limitBefore == null || !limitBefore.equals(rules.configuredLimit(d));
      if (renamed || !rules.seed()) {
        learnedLimits[d] = null;
      }
      if (!rules.limited(d)) {
        buckets[d] = null;
        answeredAtMs[d] = null;
        continue;
      }
      LedgerBucket old = buckets[d];
      if (newLevels && rules.level(d) != null) {
        buckets[d] = fresh(d);
        clippedBefore[d] = 0;
      } else if (buckets[d] == null) {
        if (d == LedgerRules.CONCURRENCY) {
          leases.takeSlots(definition.getId());
        }
        buckets[d] = fresh(d);
        buckets[d].charge(leases.held(definition.getId(), d));
        clippedBefore[d] = 0;
      } else if (d == LedgerRules.CONCURRENCY) {
        buckets[d].charge(limitBefore - limit(d));
        buckets[d].limit(rules, limit(d));
      } else {
        buckets[d].limit(rules, limit(d));
        buckets[d].mode(mode(d));
        lower(d, marginBeforeBp);
        buckets[d].clipToCap(marginBp);
      }
      if (old != null && old != buckets[d]) {
        buckets[d].knowing(old);
      }
    }
    defineShares();
  }

  private MarginMode mode(int d) {
    boolean fresh = answeredAtMs[d] != null && nowMs - answeredAtMs[d] < FRESH_MS;
    return rules.mode(d, limit(d), fresh);
  }

  private void eachShare(Consumer<ShareLedger> action) {
    ceilings.values().forEach(action);
    reserves.values().forEach(action);
  }

  /** What is a share of a bucket goes by what that goes by. */
  private void followed(int d) {
    eachShare(share -> share.follow(d, buckets[d]));
  }

  /**
   * Whether the amount may be taken: all of it is there beside what the reserves of other classes
   * keep, or the bucket is full; never in debt.
   *
   * @param reserveOf class whose own reserve may be taken from, or null
   */
  void checkFits(String who, Amounts charge, String reserveOf) {
    for (int d = 0; d < buckets.length; d++) {
      Long amount = LedgerRules.value(charge, d);
      if ((amount != null) != (buckets[d] != null)) {
        wrong.accept(
            who
                + ": expected a charge for exactly the limited dimensions, but "
                + LedgerRules.NAMES[d]
                + " is "
                + (amount == null ? "missing" : "charged"));
      } else if (amount != null) {
        if (buckets[d].justReset(nowMs)) {
          wrong.accept(
              who
                  + ": expected no grant right after a reset, but "
                  + amount
                  + " "
                  + LedgerRules.NAMES[d]
                  + " were taken at "
                  + nowMs);
        }
        long kept = 0;
        long keptAtMost = 0;
        for (Map.Entry<String, ShareLedger> reserve : reserves.entrySet()) {
          if (!reserve.getKey().equals(reserveOf) && reserve.getValue().has(d)) {
            kept += Math.max(0, reserve.getValue().tokens(d));
            keptAtMost += reserve.getValue().cap(d, marginBp);
          }
        }
        if (amount < 0 || !buckets[d].fits(amount, marginBp, kept, keptAtMost)) {
          wrong.accept(
              who
                  + ": expected a charge that fits, but "
                  + amount
                  + " "
                  + LedgerRules.NAMES[d]
                  + " were taken from a balance of "
                  + buckets[d].tokens());
        }
      }
    }
  }

  /** Other quotas that a lease takes from too. */
  List<String> also() {
    return rules.also();
  }

  /** Takes what a lease takes of its tenant's bucket and of its class's reserve. */
  void take(
      String who,
      Amounts charge,
      String tenant,
      String leaseClass,
      TakenRow taken,
      boolean outOfReserve) {
    ShareLedger ceiling = tenant == null ? null : ceilings.get(tenant);
    if (ceiling != null) {
      checkShare(who + " under its ceiling", ceiling, charge, true);
      ceiling.charge(charge);
      if (taken == null || !charge.equals(taken.getCeiling())) {
        wrong.accept(who + ": expected the tenant's bucket to be charged " + charge);
      }
    }
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

  private void checkShare(String who, ShareLedger share, Amounts charge, boolean fullIsEnough) {
    for (int d = 0; d < buckets.length; d++) {
      if (share.has(d)) {
        long amount = LedgerRules.amount(charge, d);
        long need = fullIsEnough ? Math.min(amount, share.cap(d, marginBp)) : amount;
        if (share.tokens(d) < need || share.tokens(d) < 0) {
          wrong.accept(
              who
                  + ": expected a charge that fits, but "
                  + amount
                  + " "
                  + LedgerRules.NAMES[d]
                  + " were taken from "
                  + share.tokens(d));
        }
      }
    }
  }

  /** A settlement moves the tenant's bucket and the class's reserve. */
  void shift(String tenant, String leaseClass, SettlementShift shift) {
    if (shift != null && tenant != null) {
      if (ceilings.containsKey(tenant)) {
        ceilings.get(tenant).adjust(shift.getCeiling(), marginBp);
      }
      if (reserves.containsKey(leaseClass)) {
        reserves.get(leaseClass).adjust(shift.getReserve(), marginBp);
      }
    }
  }

  void freeCeilingSlots(String tenant, TakenRow taken) {
    if (taken != null && tenant != null && ceilings.containsKey(tenant)) {
      ceilings.get(tenant).freeSlots(taken.getCeiling());
    }
  }

  void charge(Amounts amounts) {
    for (int d = 0; d < buckets.length; d++) {
      if (buckets[d] != null) {
        buckets[d].charge(LedgerRules.amount(amounts, d));
      }
    }
  }

  void adjust(Amounts amounts) {
    for (int d = 0; d < buckets.length; d++) {
      if (buckets[d] != null && LedgerRules.value(amounts, d) != null) {
        buckets[d].adjust(LedgerRules.amount(amounts, d), marginBp);
      }
    }
  }

  void freeSlots(Amounts held) {
    if (buckets[LedgerRules.CONCURRENCY] != null) {
      buckets[LedgerRules.CONCURRENCY].free(LedgerRules.amount(held, LedgerRules.CONCURRENCY));
    }
  }

  void margin(String who, int fromBp, int toBp) {
    if (fromBp != marginBp) {
      wrong.accept(who + ": expected a margin of " + marginBp + " bp before, but found " + fromBp);
    }
    marginBp = toBp;
    for (int d = 0; d < buckets.length; d++) {
      lower(d, fromBp);
    }
    clipAll();
  }

  void learn(String dimension, long limit) {
    int d = LedgerRules.dimension(dimension);
    learnedLimits[d] = limit;
    learnedAtMs[d] = nowMs;
    if (buckets[d] != null) {
      buckets[d].limit(rules, limit(d));
      followed(d);
      clipAll();
    }
  }

  /** A learned limit that no answer has named for ten minutes; SEED's last. */
  void forget(String who, String dimension) {
    int d = LedgerRules.dimension(dimension);
    if (rules.seed() || learnedLimits[d] == null || nowMs < learnedAtMs[d] + FORGET_MS) {
      wrong.accept(
          who
              + ": expected a limit of "
              + dimension
              + " that was learned "
              + FORGET_MS
              + " ms ago, but found "
              + learnedLimits[d]
              + " of "
              + learnedAtMs[d]);
    }
    learnedLimits[d] = null;
    buckets[d].limit(rules, limit(d));
    followed(d);
    clipAll();
  }

  void mode(String who, MarginModeChanged event) {
    LedgerBucket bucket = buckets[LedgerRules.dimension(event.getDimension())];
    if (bucket.mode() != event.getFrom()) {
      wrong.accept(who + ": expected mode " + bucket.mode() + " before, but found " + event);
    }
    bucket.mode(event.getTo());
    followed(LedgerRules.dimension(event.getDimension()));
    clipAll();
  }

  void reset(String dimension, long atMs) {
    buckets[LedgerRules.dimension(dimension)].reset(atMs);
    followed(LedgerRules.dimension(dimension));
  }

  void resync(String who, BucketsResynced event) {
    for (DimensionResync resync : event.getDimensions()) {
      int d = LedgerRules.dimension(resync.getDimension());
      long tokens = buckets[d].tokens();
      long cap = buckets[d].cap(marginBp);
      long clamped = Math.max(resync.getLow(), Math.min(resync.getHigh(), resync.getBefore()));
      if (resync.getBefore() != tokens) {
        wrong.accept(
            who
                + ": expected "
                + tokens
                + " "
                + resync.getDimension()
                + " before, but found "
                + resync);
      }
      if (resync.getLow() > resync.getHigh() || resync.getAfter() != Math.min(cap, clamped)) {
        wrong.accept(who + ": expected the level clamped into its interval, but found " + resync);
      }
      buckets[d].resync(resync.getBefore(), resync.getAfter());
      resyncedAtMs[d] = nowMs;
      answeredAtMs[d] =
          answeredAtMs[d] == null
              ? event.getAnsweredAtMs()
              : (Long) Math.max(answeredAtMs[d], event.getAnsweredAtMs());
      if (resync.getOutsideMilli() != null && buckets[d].mode() == MarginMode.ADAPTIVE) {
        buckets[d].outside(resync.getOutsideMilli());
      }
    }
  }

  /**
   * Whether the provider's number may hold what a lease granted then really used, of this quota or
   * of one that takes from it. Never its output, which is produced after the number was told.
   */
  boolean mayBeAbsorbed(int dimension, long grantedAtMs) {
    return dimension != LedgerRules.OUTPUT
        && resyncedAtMs[dimension] != null
        && resyncedAtMs[dimension] >= grantedAtMs;
  }

  /**
   * Whether what was taken at the one time came back by the other, when a fixed window was reset:
   * then there is no refund of it.
   */
  boolean cameBack(int dimension, long grantedAtMs, long atMs) {
    return !rules.seed() && buckets[dimension].wasReset(grantedAtMs, atMs);
  }

  boolean limited(int dimension) {
    return buckets[dimension] != null;
  }

  /** Compares with a snapshot taken now. */
  void compare(BalanceRow row) {
    String who = "snapshot of quota " + row.getQuota();
    if (row.getMarginBp() != marginBp) {
      wrong.accept(
          who + ": expected a margin of " + marginBp + " bp, but found " + row.getMarginBp());
    }
    for (BucketRow bucket : row.getBuckets()) {
      int d = LedgerRules.dimension(bucket.getDimension());
      if (buckets[d] == null) {
        wrong.accept(who + ": expected no limit, but found one for " + bucket.getDimension());
        continue;
      }
      LedgerBucket theirs = bucket(d, bucket);
      theirs.refill(row.getRefilledAtMs(), nowMs, marginBp);
      if (theirs.mode() != buckets[d].mode() || theirs.outside() != buckets[d].outside()) {
        wrong.accept(
            who
                + ": expected mode "
                + buckets[d].mode()
                + " and an outside rate of "
                + buckets[d].outside()
                + " for "
                + bucket.getDimension()
                + ", but found "
                + theirs.mode()
                + " and "
                + theirs.outside());
      }
      if (theirs.tokens() != buckets[d].tokens()) {
        wrong.accept(
            who
                + ": expected a balance of "
                + buckets[d].tokens()
                + " "
                + bucket.getDimension()
                + " from opening + refill - charges + adjustments +/- resync - clipped, but found "
                + theirs.tokens());
      }
      long clipped = bucket.getClipped() - clippedBefore[d] + theirs.clippedMax();
      if (clipped > buckets[d].clippedMax() || clipped < buckets[d].clippedMin()) {
        wrong.accept(
            who
                + ": expected "
                + buckets[d].clippedMax()
                + " "
                + bucket.getDimension()
                + " lost at the cap since the check began, but found "
                + clipped);
      }
    }
  }

  void compare(TenantRow row) {
    compare(
        "tenant " + row.getTenant(),
        ceilings.get(row.getTenant()),
        row.getBuckets(),
        row.getRefilledAtMs());
  }

  void compare(ReserveRow row) {
    compare(
        "class " + row.getClass$(),
        reserves.get(row.getClass$()),
        row.getBuckets(),
        row.getRefilledAtMs());
  }

  private void compare(String who, ShareLedger ours, List<BucketRow> rows, long refilledAtMs) {
    String difference = null;
    if (ours == null) {
      difference = rows.isEmpty() ? null : "expected no buckets";
    } else {
      difference = ours.difference(rows, loaded(ours.shareBp(), rows, refilledAtMs));
    }
    if (difference != null) {
      wrong.accept("snapshot of " + who + ": " + difference);
    }
  }

  private void lower(int d, int marginBeforeBp) {
    if (buckets[d] != null && !rules.seed()) {
      buckets[d].lower(marginBeforeBp, marginBp);
    }
  }

  private void clipAll() {
    eachShare(share -> share.clipToCap(marginBp));
    for (LedgerBucket bucket : buckets) {
      if (bucket != null) {
        bucket.clipToCap(marginBp);
      }
    }
  }

  private LedgerBucket fresh(int d) {
    LedgerBucket bucket = new LedgerBucket(d, rules, limit(d), mode(d), 0, 0);
    Long level = rules.level(d);
    bucket.free(level != null ? level : bucket.cap(marginBp));
    return bucket;
  }

  private LedgerBucket bucket(int d, BucketRow row) {
    return new LedgerBucket(d, rules, limit(d), row.getMode(), row.getBalance(), row.getRemainder())
        .knowing(row.getOutsideMilli(), row.getResetAtMs());
  }

  private long limit(int d) {
    long configured = rules.configuredLimit(d);
    return learnedLimits[d] == null ? configured : Math.min(configured, learnedLimits[d]);
  }
}
