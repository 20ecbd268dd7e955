package dev.fairway.admission.engine.bucket;

/**
 * How a bucket comes back with time: bit by bit, or at the resets of its provider's window. Pure
 * arithmetic.
 *
 * @param unitsPerMs refill units per millisecond, positive; of one that comes back at resets its
 *     mean
 * @param cap highest balance that it reaches
 * @param resetAtMs time of any one reset, or null where it comes back bit by bit
 */
public record Refill(long unitsPerMs, long cap, Long resetAtMs) {
  /** More resets than these fill a bucket from any debt. */
  private static final long MOST_RESETS = 1_000_000;

  /** The bucket after the time from the one to the other. */
  public Bucket of(Bucket bucket, long fromMs, long toMs) {
    if (resetAtMs == null) {
      return bucket.refill(unitsPerMs, toMs - fromMs, cap);
    }
    long resets = FixedWindow.resets(resetAtMs, fromMs, toMs);
    return resets == 0 ? bucket : bucket.refund(Math.min(resets, MOST_RESETS) * cap, cap);
  }

  /**
   * Milliseconds from a time until that much more is there; 0 if nothing is missing.
   *
   * @param remainder what the bucket carries at that time
   * @param perReset what a reset brings at most
   */
  public long msUntil(long missing, long remainder, long perReset, long atMs) {
    if (resetAtMs == null) {
      return FixedPoint.msUntil(unitsPerMs, missing, remainder);
    }
    long each = Math.max(1, perReset);
    long resets = missing / each + (missing % each > 0 ? 1 : 0);
    return missing <= 0 ? 0 : FixedWindow.msUntil(resetAtMs, resets, atMs);
  }

  /** What comes in within that time, however high the bucket is. */
  public long comesIn(long fromMs, long inMs) {
    if (resetAtMs == null) {
      return FixedPoint.refilledTokens(unitsPerMs, inMs, 0);
    }
    long toMs = Amounts.saturatedAdd(fromMs, inMs);
    return Math.min(FixedWindow.resets(resetAtMs, fromMs, toMs), MOST_RESETS) * cap;
  }
}
