package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.FixedPoint;

/**
 * What others take from a limit, learned from how far the provider's level lies from ours. An
 * exponentially weighted mean that rises within a minute and falls within two; after two minutes of
 * silence nothing is known. Pure arithmetic.
 *
 * @param perMinuteMilli the rate, thousandths of a token per minute
 * @param sampledAtMs time of the last sample, or null before the first
 * @param pending tokens that the balance lost to resyncs since then
 */
public record OutsideRate(long perMinuteMilli, Long sampledAtMs, long pending) {
  /** Nothing is known. */
  public static final OutsideRate NONE = new OutsideRate(0, null, 0);

  private static final long SAMPLE_MS = 500;
  private static final long RISE_MS = 60_000;
  private static final long FALL_MS = 120_000;
  private static final double MILLI_PER_MINUTE = 60_000_000.0;

  /** Refill units of a token per minute are {@value FixedPoint#ONE_BP}; of a thousandth, ten. */
  private static final long UNITS_PER_MILLI = FixedPoint.ONE_BP / 1000;

  /** Refill less what others take, never below half of the rate. */
  static long refillUnitsPerMs(long limitPerMinute, int rateBp, long outsideMilli) {
    long rate = FixedPoint.unitsPerMs(limitPerMinute, rateBp);
    long outside = Math.min(outsideMilli, rate / UNITS_PER_MILLI) * UNITS_PER_MILLI;
    return Math.max(Math.max(1, rate / 2), rate - outside);
  }

  /**
   * The rate after a resync, or null if the last sample is too recent for another.
   *
   * @param heardAtMs when the provider's level was told last, or null: counts where nothing is
   *     sampled yet
   * @param lost balance before less balance after
   * @param full whether ours or the provider's bucket is full: then they tell no difference, and
   *     the rate decays
   * @param limitPerMinute the rate never exceeds it
   */
  public Long after(long atMs, Long heardAtMs, long lost, boolean full, long limitPerMinute) {
    if (atMs >= knownUntilMs(heardAtMs)) {
      // Long full, even at half of the rate: the balance tells nothing of that time.
      return 0L;
    }
    if (sampledAtMs == null) {
      return perMinuteMilli;
    }
    long elapsedMs = atMs - sampledAtMs;
    if (elapsedMs < SAMPLE_MS) {
      return null;
    }
    double old = perMinuteMilli;
    double sample = (pending + (double) lost) / elapsedMs * MILLI_PER_MINUTE + old;
    if (full) {
      sample = 0;
    }
    double share = Math.min(1, (double) elapsedMs / (sample > old ? RISE_MS : FALL_MS));
    double next = old + share * (sample - old);
    return Math.round(Math.max(0, Math.min(next, limitPerMinute * 1000.0)));
  }

  /**
   * Until when the rate says anything, after that nothing is known of others; {@link
   * Long#MIN_VALUE} where that is so already.
   *
   * @param heardAtMs when the provider's level was told last, or null: counts where nothing is
   *     sampled yet
   */
  public long knownUntilMs(Long heardAtMs) {
    Long sinceMs = sampledAtMs != null ? sampledAtMs : heardAtMs;
    return sinceMs == null ? Long.MIN_VALUE : sinceMs + FALL_MS;
  }

  /** Whether it says anything of that time. */
  public boolean isFresh(long atMs) {
    return sampledAtMs != null && atMs - sampledAtMs < FALL_MS;
  }

  /** The rate as it is, and nothing sampled: what happens from now on is told by other resyncs. */
  public OutsideRate paused() {
    return new OutsideRate(perMinuteMilli, null, 0);
  }

  /**
   * With what a resync said.
   *
   * @param newRate what {@link #after} gave, null for no sample
   */
  public OutsideRate sampled(long atMs, long lost, Long newRate) {
    return newRate == null
        ? new OutsideRate(perMinuteMilli, sampledAtMs, Amounts.saturatedAdd(pending, lost))
        : new OutsideRate(newRate, atMs, 0);
  }
}
