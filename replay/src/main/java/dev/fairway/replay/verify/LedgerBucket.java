package dev.fairway.replay.verify;

import java.math.BigInteger;

/**
 * One dimension of a quota as the published rules have it: refill at margin x limit per minute up
 * to margin x depth, in exact arithmetic. Concurrency does not refill.
 */
final class LedgerBucket {
  /** A token in parts: a limit of 1 a minute at one basis point of margin refills one in a ms. */
  private static final BigInteger PARTS = BigInteger.valueOf(60_000L * 10_000L);

  private final boolean refills;
  private long limit;
  private long depth;
  private BigInteger level;
  private BigInteger clipped = BigInteger.ZERO;
  private long clips;

  LedgerBucket(boolean refills, long limit, long depth, long tokens, long parts) {
    this.refills = refills;
    this.limit = limit;
    this.depth = depth;
    this.level = parts(tokens).add(BigInteger.valueOf(parts));
  }

  /** Whole tokens, rounded down. */
  long tokens() {
    BigInteger[] split = level.divideAndRemainder(PARTS);
    return split[0].subtract(split[1].signum() < 0 ? BigInteger.ONE : BigInteger.ZERO).longValue();
  }

  long limit() {
    return limit;
  }

  long cap(int marginBp) {
    if (!refills) {
      return limit;
    }
    return BigInteger.valueOf(depth)
        .multiply(BigInteger.valueOf(marginBp))
        .divide(BigInteger.valueOf(10_000))
        .max(BigInteger.ONE)
        .longValue();
  }

  void refill(long elapsedMs, int marginBp) {
    if (!refills || elapsedMs <= 0) {
      return;
    }
    BigInteger gained =
        BigInteger.valueOf(limit)
            .multiply(BigInteger.valueOf(marginBp))
            .multiply(BigInteger.valueOf(elapsedMs));
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

  /** What is above the cap is lost. */
  void clipToCap(int marginBp) {
    BigInteger cap = parts(cap(marginBp));
    if (refills && tokens() >= cap(marginBp)) {
      clip(level.subtract(cap));
      level = cap;
    }
  }

  void resync(long before, long after) {
    level = level.add(parts(after - before));
  }

  void limit(long newLimit, long newDepth) {
    limit = newLimit;
    depth = newDepth;
  }

  /** Most whole tokens that can have been counted as lost at the cap so far. */
  long clippedMax() {
    return clipped.divide(PARTS).longValue();
  }

  /** Fewest: each time, less than one token escapes the count of whole ones. */
  long clippedMin() {
    return clippedMax() - clips - 1;
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
