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
import dev.fairway.schemas.UnleasedCharged;
import java.util.List;
import java.util.function.Consumer;

/** The balances of one quota, folded from the journal by the published rules. */
final class QuotaLedger {
  /** A header that old says nothing of the present level. */
  private static final long FRESH_MS = 60_000;

  /** A limit that no answer has named for so long is forgotten. */
  private static final long FORGET_MS = 600_000;

  /** A limit that changed within that time takes off what was used of a higher one but once. */
  private static final long LATELY_MS = 60_000;

  /** What others take is forgotten so long after it was told. */
  private static final long OUTSIDE_MS = 120_000;

  private final LedgerBucket[] buckets = new LedgerBucket[LedgerRules.NAMES.length];
  private final Long[] learnedLimits = new Long[LedgerRules.NAMES.length];
  private final Long[] limitAtMs = new Long[LedgerRules.NAMES.length];
  private final Long[] resyncedAtMs = new Long[LedgerRules.NAMES.length];
  private final Long[] answeredAtMs = new Long[LedgerRules.NAMES.length];
  private final Long[] sampledAtMs = new Long[LedgerRules.NAMES.length];
  private final long[] clippedBefore = new long[LedgerRules.NAMES.length];
  private final QuotaShares shares;
  private final Consumer<String> wrong;
  private LedgerRules rules;
  private int marginBp;
  private long nowMs;

  /** A quota that is defined now. */
  QuotaLedger(Quota definition, long nowMs, Consumer<String> wrong) {
    this.rules = new LedgerRules(definition);
    this.nowMs = nowMs;
    this.wrong = wrong;
    this.shares = new QuotaShares(buckets, wrong);
    this.marginBp = rules.marginStartBp();
    for (int d = 0; d < buckets.length; d++) {
      if (rules.limited(d)) {
        buckets[d] = fresh(d);
      }
    }
    shares.define(rules, marginBp, tenant -> 0);
  }

  /** A quota as a snapshot has it. */
  QuotaLedger(Quota definition, BalanceRow row, Consumer<String> wrong) {
    this.rules = new LedgerRules(definition);
    this.nowMs = row.getRefilledAtMs();
    this.wrong = wrong;
    this.shares = new QuotaShares(buckets, wrong);
    this.marginBp = row.getMarginBp();
    for (BucketRow bucket : row.getBuckets()) {
      int d = LedgerRules.dimension(bucket.getDimension());
      learnedLimits[d] = bucket.getLearnedLimit();
      boolean unnoted = learnedLimits[d] != null && bucket.getLearnedAtMs() == null;
      limitAtMs[d] = unnoted ? (Long) nowMs : bucket.getLearnedAtMs();
      // What was resynced before the snapshot is no longer known in full: any lease may be
      // absorbed.
      resyncedAtMs[d] = bucket.getAbsorbedBeforeMs() == null ? null : (Long) nowMs;
      answeredAtMs[d] = bucket.getAnsweredAtMs();
      sampledAtMs[d] = bucket.getOutsideSampledAtMs();
      clippedBefore[d] = bucket.getClipped();
      buckets[d] = bucket(d, bucket);
    }
  }

  /** A tenant's own bucket as a snapshot has it. */
  void load(TenantRow row) {
    shares.load(row, rules, nowMs, marginBp);
  }

  /** A class's reserve as a snapshot has it. */
  void load(ReserveRow row) {
    shares.load(row, rules, nowMs, marginBp);
  }

  void advance(long toMs) {
    for (LedgerBucket bucket : buckets) {
      if (bucket != null) {
        bucket.refill(nowMs, toMs, marginBp);
      }
    }
    shares.refill(nowMs, toMs, marginBp);
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
      if (renamed || rules.limitsExpire()) {
        limitAtMs[d] = learnedLimits[d] != null ? (Long) nowMs : limitAtMs[d];
        learnedLimits[d] = null;
      }
      if (!rules.limited(d)) {
        buckets[d] = null;
        answeredAtMs[d] = null;
        sampledAtMs[d] = null;
        limitAtMs[d] = null;
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
        buckets[d].mode(mode(d));
        long capBefore = buckets[d].cap(marginBeforeBp);
        buckets[d].limit(rules, limit(d));
        lower(d, capBefore);
        buckets[d].clipToCap(marginBp);
      }
      if (old != null && old != buckets[d]) {
        buckets[d].knowing(old);
      }
      if (!rules.takesOutsideOff()) {
        buckets[d].outside(0);
      }
    }
    shares.define(rules, marginBp, tenant -> leases.open(definition.getId(), tenant));
  }

  private MarginMode mode(int d) {
    boolean fresh = answeredAtMs[d] != null && nowMs - answeredAtMs[d] < FRESH_MS;
    return rules.mode(d, limit(d), fresh);
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
        long kept = shares.kept(d, reserveOf);
        long keptAtMost = shares.keptAtMost(d, reserveOf, marginBp);
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
    shares.takeOfCeiling(who, charge, tenant, taken, marginBp);
    shares.takeOfReserve(who, charge, leaseClass, taken, outOfReserve);
  }

  /** A call without a lease takes of its tenant's bucket too, where one is told. */
  void chargeUnleased(UnleasedCharged e) {
    if (e.getTenant() != null) {
      shares.takeUnleased("unleased call " + e.getRequestId(), e);
    }
  }

  /** What is told of a lease, or its end, moves the tenant's bucket and the class's reserve. */
  void shift(String tenant, String leaseClass, SettlementShift shift) {
    if (shift != null && tenant != null) {
      shares.shift(tenant, leaseClass, shift, marginBp);
    }
  }

  void freeCeilingSlot(String tenant) {
    if (tenant != null) {
      shares.freeCeilingSlot(tenant);
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
      if (buckets[d] != null) {
        lower(d, buckets[d].cap(fromBp));
      }
    }
    clipAll();
  }

  void learn(String dimension, long limit) {
    int d = LedgerRules.dimension(dimension);
    boolean lately = limitAtMs[d] != null && nowMs - limitAtMs[d] < LATELY_MS;
    learnedLimits[d] = limit;
    limitAtMs[d] = nowMs;
    if (buckets[d] != null) {
      long capBefore = buckets[d].cap(marginBp);
      buckets[d].limit(rules, limit(d));
      if (!lately) {
        lower(d, capBefore);
      }
      shares.follow(d);
      clipAll();
    }
  }

  /** A learned limit that no answer has named for ten minutes; not where they last. */
  void forget(String who, String dimension) {
    int d = LedgerRules.dimension(dimension);
    if (!rules.limitsExpire() || learnedLimits[d] == null || nowMs < limitAtMs[d] + FORGET_MS) {
      wrong.accept(
          who
              + ": expected a limit of "
              + dimension
              + " that was learned "
              + FORGET_MS
              + " ms ago, but found "
              + learnedLimits[d]
              + " of "
              + limitAtMs[d]);
    }
    learnedLimits[d] = null;
    limitAtMs[d] = nowMs;
    buckets[d].limit(rules, limit(d));
    shares.follow(d);
    clipAll();
  }

  void mode(String who, MarginModeChanged event) {
    LedgerBucket bucket = buckets[LedgerRules.dimension(event.getDimension())];
    if (bucket.mode() != event.getFrom()) {
      wrong.accept(who + ": expected mode " + bucket.mode() + " before, but found " + event);
    }
    bucket.mode(event.getTo());
    sampledAtMs[LedgerRules.dimension(event.getDimension())] = null;
    bucket.outsideUntil(outsideUntilMs(LedgerRules.dimension(event.getDimension())));
    shares.follow(LedgerRules.dimension(event.getDimension()));
    clipAll();
  }

  void reset(String dimension, long atMs) {
    buckets[LedgerRules.dimension(dimension)].reset(atMs);
    shares.follow(LedgerRules.dimension(dimension));
  }

  void resync(String who, BucketsResynced event) {
    for (DimensionResync resync : event.getDimensions()) {
      int d = LedgerRules.dimension(resync.getDimension());
      long tokens = buckets[d].tokens();
      long cap = buckets[d].cap(marginBp);
      long low = resync.getLow() == null ? Long.MIN_VALUE : resync.getLow();
      long clamped = Math.max(low, Math.min(resync.getHigh(), resync.getBefore()));
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
      if (low > resync.getHigh() || resync.getAfter() != Math.min(cap, clamped)) {
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
        sampledAtMs[d] = nowMs;
      }
      buckets[d].outsideUntil(outsideUntilMs(d));
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
    return rules.exactWindows() && buckets[dimension].wasReset(grantedAtMs, atMs);
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
    shares.compare(row, nowMs, marginBp);
  }

  void compare(ReserveRow row) {
    shares.compare(row, nowMs, marginBp);
  }

  private void lower(int d, long capBefore) {
    if (buckets[d] != null && rules.keepsUse()) {
      buckets[d].lower(capBefore, marginBp);
    }
  }

  /** Until when what others take counts: two minutes after its last sample, or the last header. */
  private long outsideUntilMs(int d) {
    Long sinceMs = sampledAtMs[d] != null ? sampledAtMs[d] : answeredAtMs[d];
    return sinceMs == null ? Long.MIN_VALUE : sinceMs + OUTSIDE_MS;
  }

  private void clipAll() {
    shares.clipToCap(marginBp);
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
        .knowing(row.getOutsideMilli(), outsideUntilMs(d), row.getResetAtMs());
  }

  private long limit(int d) {
    long configured = rules.configuredLimit(d);
    return learnedLimits[d] == null ? configured : Math.min(configured, learnedLimits[d]);
  }
}
