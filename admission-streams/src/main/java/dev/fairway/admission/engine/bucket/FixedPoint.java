package dev.fairway.admission.engine.bucket;

import java.math.BigInteger;

/** Exact integer arithmetic for refills and tags; results saturate, they never wrap. */
public final class FixedPoint {
  /** Largest limit, charge or estimate; above it a number is absurd. */
  public static final long MAX_AMOUNT = 1_000_000_000_000L;

  /** Basis points of 1. */
  public static final int ONE_BP = 10_000;

  /** A token in refill units: one token a minute, at one basis point, refills one unit in a ms. */
  static final long UNITS_PER_TOKEN = 60_000L * ONE_BP;

  /** Longer idle times count as this one (115 days): every bucket is full by then. */
  private static final long MAX_ELAPSED_MS = 10_000_000_000L;

  private static final long EXACT_TOKENS = Long.MAX_VALUE / UNITS_PER_TOKEN - 1;

  private FixedPoint() {}

  /** Units that a limit per minute refills per millisecond at a share of it. */
  public static long unitsPerMs(long limitPerMinute, int shareBp) {
    return limitPerMinute * shareBp;
  }

  /** Whole tokens refilled in that time, the carried remainder included. */
  public static long refilledTokens(long unitsPerMs, long elapsedMs, long remainder) {
    long ms = Math.min(elapsedMs, MAX_ELAPSED_MS);
    return ms * (unitsPerMs / UNITS_PER_TOKEN)
        + (ms * (unitsPerMs % UNITS_PER_TOKEN) + remainder) / UNITS_PER_TOKEN;
  }

  /** What is carried over after {@link #refilledTokens} of the same arguments. */
  public static long refilledRemainder(long unitsPerMs, long elapsedMs, long remainder) {
    long ms = Math.min(elapsedMs, MAX_ELAPSED_MS);
    return (ms * (unitsPerMs % UNITS_PER_TOKEN) + remainder) % UNITS_PER_TOKEN;
  }

  /**
   * Milliseconds until that many tokens are refilled, rounded up; 0 if none are missing.
   *
   * @param unitsPerMs positive
   */
  public static long msUntil(long unitsPerMs, long missingTokens, long remainder) {
    if (missingTokens <= 0) {
      return 0;
    }
    if (missingTokens <= EXACT_TOKENS) {
      long units = missingTokens * UNITS_PER_TOKEN - remainder;
      return units / unitsPerMs + (units % unitsPerMs == 0 ? 0 : 1);
    }
    BigInteger units =
        BigInteger.valueOf(missingTokens)
            .multiply(BigInteger.valueOf(UNITS_PER_TOKEN))
            .subtract(BigInteger.valueOf(remainder))
            .add(BigInteger.valueOf(unitsPerMs - 1));
    return saturated(units.divide(BigInteger.valueOf(unitsPerMs)));
  }

  /** Milliseconds in which that many tokens refill, times a scale, rounded down. */
  public static long msOf(long tokens, long unitsPerMs, long scale) {
    return mulDiv(tokens, UNITS_PER_TOKEN * scale, unitsPerMs);
  }

  /**
   * {@code a * b / c} rounded down, for non-negative {@code a}, {@code b} and positive {@code c}.
   */
  public static long mulDiv(long a, long b, long c) {
    if (Math.multiplyHigh(a, b) == 0 && a * b >= 0) {
      return a * b / c;
    }
    return saturated(
        BigInteger.valueOf(a).multiply(BigInteger.valueOf(b)).divide(BigInteger.valueOf(c)));
  }

  private static long saturated(BigInteger value) {
    return value.bitLength() < 62 ? value.longValue() : Long.MAX_VALUE / 4;
  }
}
