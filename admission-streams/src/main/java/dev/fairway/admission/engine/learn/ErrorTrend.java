package dev.fairway.admission.engine.learn;

/**
 * How far estimates lie from what calls use: a weighted mean of the relative distance, and since
 * when it is too large.
 *
 * @param meanError mean of |actual - estimate| / estimate, each at most 1
 * @param aboveSinceMs since when it lies above {@value #TOO_LARGE}, or null
 */
public record ErrorTrend(double meanError, Long aboveSinceMs) {
  /** No error seen. */
  public static final ErrorTrend NONE = new ErrorTrend(0, null);

  /** A larger mean error than this deserves a look. */
  public static final double TOO_LARGE = 0.20;

  private static final double SHARE = 0.05;

  /** With one more call. */
  public ErrorTrend with(double error, long atMs) {
    double mean = meanError + SHARE * (Math.min(1, Math.abs(error)) - meanError);
    boolean above = mean > TOO_LARGE;
    return new ErrorTrend(mean, !above ? null : aboveSinceMs != null ? aboveSinceMs : (Long) atMs);
  }
}
