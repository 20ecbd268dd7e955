package dev.fairway.cli.demo.emulator;

/**
 * One limit as the provider's headers tell it.
 *
 * @param limit per minute
 * @param remaining level, 0 where the bucket is in debt
 * @param secondsToFull seconds until the bucket is full again
 */
record Reading(long limit, double remaining, double secondsToFull) {

  static Reading of(TokenBucket bucket, long nowNanos) {
    double level = bucket.level(nowNanos);
    return new Reading(bucket.perMinute(), Math.max(0, level), bucket.secondsUntil(bucket.depth()));
  }
}
