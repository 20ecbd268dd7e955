package dev.fairway.admission.engine.alert;

/**
 * How evenly 429s come at one time scale. With n the number of 429s in a bin, the dispersion index
 * var(n) / mean(n) is 1 where they come independently of each other (Poisson), and larger where
 * they come in waves. Mean and mean square are exponentially weighted, empty bins included.
 * Immutable.
 *
 * @param bin number of the bin that is counted now
 * @param count 429s in it
 * @param mean mean of the bins before
 * @param meanSquare mean square of the bins before
 */
public record Waves(long bin, int count, double mean, double meanSquare) {
  /** Time scales in milliseconds; at one after the other. */
  public static final long[] SCALES_MS = {100, 1_000, 10_000};

  /** Bins that the means remember. */
  public static final int BINS = 60;

  /** Fewer 429s in as many bins say nothing of their kind. */
  private static final double FEW = 8;

  private static final double SHARE = 1.0 / BINS;

  /** No 429 so far. */
  public static final Waves NONE = new Waves(0, 0, 0, 0);

  /** With one more 429 at that time. */
  public Waves with(long atMs, long scaleMs) {
    Waves now = at(atMs, scaleMs);
    return new Waves(now.bin, now.count + 1, now.mean, now.meanSquare);
  }

  /** At that time: bins that are over count. */
  public Waves at(long atMs, long scaleMs) {
    long newBin = atMs / scaleMs;
    if (newBin <= bin) {
      return this;
    }
    double kept = StrictMath.pow(1 - SHARE, newBin - bin - 1.0);
    return new Waves(
        newBin,
        0,
        (mean + SHARE * (count - mean)) * kept,
        (meanSquare + SHARE * ((double) count * count - meanSquare)) * kept);
  }

  /** Dispersion index, or 1 while there are too few to tell. */
  public double dispersion() {
    return mean * BINS < FEW ? 1 : (meanSquare - mean * mean) / mean;
  }
}
