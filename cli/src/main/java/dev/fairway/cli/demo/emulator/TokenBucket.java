package dev.fairway.cli.demo.emulator;

import dev.fairway.cli.demo.emulator.ProviderLimits.Limit;

/** A continuously refilled bucket, one minute deep. Not thread-safe. */
final class TokenBucket {
  private static final double NANOS_PER_SECOND = 1e9;

  /** A refill that is due must not miss by the rounding of its sum. */
  private static final double ROUNDING = 1e-6;

  private final Limit limit;
  private double level;
  private long refilledAtNanos;

  TokenBucket(Limit limit, long nowNanos) {
    this.limit = limit;
    this.level = (double) limit.opening();
    this.refilledAtNanos = nowNanos;
  }

  /** Refills up to {@code nowNanos}; an earlier time than the last one changes nothing. */
  double level(long nowNanos) {
    long elapsed = nowNanos - refilledAtNanos;
    if (elapsed > 0) {
      level = Math.min(depth(), level + elapsed / NANOS_PER_SECOND * ratePerSecond());
      refilledAtNanos = nowNanos;
    }
    return level;
  }

  /** Whether it holds {@code amount} now. */
  boolean covers(double amount, long nowNanos) {
    return level(nowNanos) >= amount - ROUNDING;
  }

  /** Takes {@code amount}, below zero if need be. */
  void charge(double amount) {
    level -= amount;
  }

  /** Seconds until the level reaches {@code wanted}; 0 if it already does. */
  double secondsUntil(double wanted) {
    return Math.max(0, (wanted - level) / ratePerSecond());
  }

  /** Most it holds: a minute's worth. */
  double depth() {
    return (double) limit.perMinute();
  }

  long perMinute() {
    return limit.perMinute();
  }

  private double ratePerSecond() {
    return depth() / 60.0;
  }
}
