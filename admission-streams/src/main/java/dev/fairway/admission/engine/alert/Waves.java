package dev.fairway.admission.engine.alert;

import java.util.ArrayList;
import java.util.List;

/**
 * How evenly 429s, or calls that turns want, come at one time scale. With n the number of them in a
 * bin, the dispersion index var(n) / mean(n) is 1 where they come independently of each other
 * (Poisson), and larger where they come in waves. Mean and mean square are exponentially weighted,
 * empty bins included. Immutable.
 *
 * @param bin number of the bin that is counted now: its start divided by the scale
 * @param count how many came in it
 * @param mean mean of the bins before
 * @param meanSquare mean square of the bins before
 */
public record Waves(long bin, int count, double mean, double meanSquare) {
  /** Time scales in milliseconds; at one after the other. */
  public static final long[] SCALES_MS = {100, 1_000, 10_000};

  /** Bins that the means remember. */
  public static final int BINS = 60;

  /** Fewer in as many bins say nothing of their kind. */
  private static final double FEW = 8;

  private static final double SHARE = 1.0 / BINS;

  /** None so far. */
  public static final Waves NONE = new Waves(0, 0, 0, 0);

  /** None so far at any scale. */
  public static final List<Waves> NO_SCALE = List.of(NONE, NONE, NONE);

  /** With one more at that time, at each scale of {@link #SCALES_MS}. */
  static List<Waves> with(List<Waves> scales, long atMs) {
    List<Waves> moved = new ArrayList<>(scales.size());
    for (int i = 0; i < scales.size(); i++) {
      moved.add(scales.get(i).with(atMs, SCALES_MS[i]));
    }
    return List.copyOf(moved);
  }

  /** With one more at that time. */
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

  /**
   * The dispersion index that these would have if each of others, which come as those come, had led
   * to one of these by chance alone: 1 + p (index of those - 1), with p the part of those that do.
   * That is what is left of waves when each of their calls is taken or left out independently.
   */
  public double dispersionBy(Waves those) {
    double part = those.mean <= 0 ? 0 : Math.min(1, mean / those.mean);
    return 1 + part * (those.dispersion() - 1);
  }
}
