package dev.fairway.replay.verify;

import dev.fairway.schemas.MarginMode;
import java.math.BigInteger;

/**
 * One dimension of a quota as the published rules have it, in exact arithmetic. RATE: refill at
 * margin x rate up to margin x depth. RESERVE and ADAPTIVE: refill at the rate less what others
 * take, half of it at least, up to the depth. A fixed window refills at its resets alone;
 * concurrency does not refill.
 */
final class LedgerBucket {
  /** A token in parts: a limit of 1 a minute at one basis point of margin refills one in a ms. */
  private static final BigInteger PARTS = BigInteger.valueOf(60_000L * 10_000L);

  private static final int ONE_BP = 10_000;
  private static final int OUTPUT_BP = 8_500;
  private static final long WINDOW_MS = 60_000;
  private static final long RESET_GUARD_MS = 150;

  private final int dimension;
  private Integer partBp;
  private LedgerRules rules;
  private long limit;
  private MarginMode mode;
  private long outsideMilli;
  private long outsideUntilMs;
  private long resetAtMs;
  private BigInteger level;
  private BigInteger clipped = BigInteger.ZERO;
  private long clips;

  /** A bucket of {@code rules}; {@code mode} is null for concurrency. */
  LedgerBucket(
      int dimension, LedgerRules rules, long limit, MarginMode mode, long tokens, long parts) {
    this.dimension = dimension;
    this.rules = rules;
    this.limit = limit;
    this.mode = mode;
    this.level = parts(tokens).add(BigInteger.valueOf(parts));
  }

  /** What was learned of the provider. */
  LedgerBucket knowing(long outside, long outsideUntil, Long resetAt) {
    outsideMilli = outside;
    outsideUntilMs = outsideUntil;
    resetAtMs = resetAt == null ? 0 : resetAt;
    return this;
  }

  /** What the bucket of the same dimension knew before. */
  LedgerBucket knowing(LedgerBucket before) {
    outsideMilli = before.outsideMilli;
    outsideUntilMs = before.outsideUntilMs;
    resetAtMs = before.resetAtMs;
    return this;
  }

  /**
   * A bucket of a share of this one: of its rate, whatever others take of that, and of what of its
   * depth may be used.
   */
  LedgerBucket part(int shareBp, long tokens, long parts) {
    LedgerBucket part = new LedgerBucket(dimension, rules, limit, mode, tokens, parts);
    part.partBp = shareBp;
    part.resetAtMs = resetAtMs;
    return part;
  }

  /** The bucket that this one is a part of goes by something else from now on. */
  void follow(LedgerBucket whole) {
    rules = whole.rules;
    limit = whole.limit;
    mode = whole.mode;
    resetAtMs = whole.resetAtMs;
  }

  /** Whole tokens, rounded down. */
  long tokens() {
    BigInteger[] split = level.divideAndRemainder(PARTS);
    return split[0].subtract(split[1].signum() < 0 ? BigInteger.ONE : BigInteger.ZERO).longValue();
  }

  MarginMode mode() {
    return mode;
  }

  void mode(MarginMode newMode) {
    mode = newMode;
  }

  void outside(long perMinuteMilli) {
    outsideMilli = perMinuteMilli;
  }

  /** What others take is known until then. */
  void outsideUntil(long atMs) {
    outsideUntilMs = atMs;
  }

  long outside() {
    return outsideMilli;
  }

  void reset(long atMs) {
    resetAtMs = atMs;
  }

  long cap(int marginBp) {
    if (partBp != null) {
      return Math.max(1, usableCap(marginBp) * partBp / ONE_BP);
    }
    return refills() && mode != MarginMode.RATE ? depth() + overfill() : usableCap(marginBp);
  }

  /** A shallow token bucket that is followed goes on counting for 1.5 s of the rate when full. */
  private long overfill() {
    boolean tokens = dimension == LedgerRules.INPUT || dimension == LedgerRules.TOKENS;
    boolean counts = partBp == null && tokens && mode == MarginMode.ADAPTIVE;
    return counts && rules.shallowTokenBucket(dimension, limit) ? limit / 40 : 0;
  }

  /** What of a full bucket may be used. */
  private long usableCap(int marginBp) {
    if (!refills()) {
      return limit;
    }
    if (mode == MarginMode.ADAPTIVE) {
      return dimension == LedgerRules.OUTPUT ? share(OUTPUT_BP) : depth();
    }
    return share(marginBp);
  }

  private long depth() {
    return rules.depth(dimension, limit);
  }

  /**
   * Whether a charge may be taken beside what reserves keep: all of it is there, or the bucket is
   * full; never in debt.
   */
  boolean fits(long amount, int marginBp, long reserved, long reservedAtMost) {
    long enough = usableCap(marginBp);
    long usable = tokens() - (cap(marginBp) - overfill() - enough);
    if (refills() && mode == MarginMode.ADAPTIVE) {
      // Nothing is asked beyond a bucket that is as good as full.
      enough -= depth() / 1000;
    }
    long room = Math.max(0, enough - reservedAtMost);
    return usable >= 0
        && usable >= Math.min(amount, enough)
        && usable - reserved >= Math.min(amount, room);
  }

  void refill(long fromMs, long toMs, int marginBp) {
    if (!refills() || toMs <= fromMs) {
      return;
    }
    if (rules.fixedWindow()) {
      long resets = resets(toMs) - resets(fromMs);
      if (resets > 0) {
        adjust(resets * cap(marginBp), marginBp);
      }
      return;
    }
    long knownUntilMs = Math.max(fromMs, Math.min(outsideUntilMs, toMs));
    fill(partsPerMs(marginBp, outsideMilli), knownUntilMs - fromMs, marginBp);
    fill(partsPerMs(marginBp, 0), toMs - knownUntilMs, marginBp);
  }

  private void fill(BigInteger partsPerMs, long ms, int marginBp) {
    if (ms == 0) {
      return;
    }
    BigInteger gained = partsPerMs.multiply(BigInteger.valueOf(ms));
    BigInteger cap = parts(cap(marginBp));
    // Above its cap a bucket neither gains nor loses whole tokens; it only carries nothing over.
    BigInteger top = cap.max(parts(tokens()));
    BigInteger full = level.add(gained);
    if (full.compareTo(top) >= 0) {
      clip(full.subtract(top));
      level = top;
    } else {
      level = full;
    }
  }

  private BigInteger partsPerMs(int marginBp, long takenMilli) {
    BigInteger whole = wholePartsPerMs(marginBp, takenMilli);
    return partBp == null
        ? whole
        : whole.multiply(BigInteger.valueOf(partBp)).divide(BigInteger.valueOf(ONE_BP));
  }

  private BigInteger wholePartsPerMs(int marginBp, long takenMilli) {
    int rateBp = rules.rateBp(dimension, limit);
    if (mode == MarginMode.RATE) {
      int share = Math.max(1, rateBp * marginBp / ONE_BP);
      return BigInteger.valueOf(limit).multiply(BigInteger.valueOf(share));
    }
    BigInteger rate = BigInteger.valueOf(limit).multiply(BigInteger.valueOf(rateBp));
    BigInteger left = rate.subtract(BigInteger.valueOf(takenMilli).multiply(BigInteger.TEN));
    return left.max(rate.shiftRight(1)).max(BigInteger.ONE);
  }

  /** Whether the provider's window began so lately that the one before may still be counted. */
  boolean justReset(long atMs) {
    return refills()
        && rules.fixedWindow()
        && Math.floorMod(atMs - resetAtMs, WINDOW_MS) < RESET_GUARD_MS;
  }

  /** Whether a reset between the two times filled it. */
  boolean wasReset(long fromMs, long toMs) {
    return refills() && rules.fixedWindow() && resets(toMs) > resets(fromMs);
  }

  private long resets(long atMs) {
    return Math.floorDiv(atMs - resetAtMs - RESET_GUARD_MS, WINDOW_MS);
  }

  void charge(long tokens) {
    level = level.subtract(parts(tokens));
  }

  /** A positive amount comes back, at most up to the cap; a negative one is charged. */
  void adjust(long tokens, int marginBp) {
    if (tokens < 0) {
      charge(-tokens);
      return;
    }
    BigInteger top = parts(Math.max(tokens(), cap(marginBp)));
    BigInteger full = level.add(parts(tokens));
    if (full.compareTo(top) >= 0) {
      clip(full.subtract(top));
      full = top;
    }
    level = full;
  }

  /** A slot comes back; slots have no cap to run into. */
  void free(long slots) {
    level = level.add(parts(slots));
  }

  /** The cap came down from that one: what was used stays used, down to a balance of 0. */
  void lower(long capBefore, int marginBp) {
    long by = Math.min(capBefore - cap(marginBp), tokens());
    if (refills() && by > 0) {
      charge(by);
      clip(parts(by));
    }
  }

  /** What is above the cap is lost. */
  void clipToCap(int marginBp) {
    BigInteger cap = parts(cap(marginBp));
    if (refills() && tokens() >= cap(marginBp)) {
      clip(level.subtract(cap));
      level = cap;
    }
  }

  void resync(long before, long after) {
    level = level.add(parts(after - before));
  }

  void limit(LedgerRules newRules, long newLimit) {
    rules = newRules;
    limit = newLimit;
  }

  /** Most whole tokens that can have been counted as lost at the cap so far. */
  long clippedMax() {
    return clipped.divide(PARTS).longValue();
  }

  /** Fewest: each time, less than one token escapes the count of whole ones. */
  long clippedMin() {
    return clippedMax() - clips - 1;
  }

  private boolean refills() {
    return dimension != LedgerRules.CONCURRENCY;
  }

  /** A share of the depth, at least one token of it. */
  private long share(int bp) {
    return BigInteger.valueOf(depth())
        .multiply(BigInteger.valueOf(bp))
        .divide(BigInteger.valueOf(ONE_BP))
        .max(BigInteger.ONE)
        .longValue();
  }

  private void clip(BigInteger parts) {
    if (parts.signum() > 0) {
      clipped = clipped.add(parts);
      clips++;
    }
  }

  private static BigInteger parts(long tokens) {
    return BigInteger.valueOf(tokens).multiply(PARTS);
  }
}
