package dev.fairway.admission.engine.margin;

/**
 * How much must be there before a call is granted where the balance follows the provider's level
 * (ADAPTIVE). The call is charged its estimate; what is asked beyond it is what may be missing: the
 * error of its estimate, the errors of calls that no signal has told of yet, and a call of somebody
 * else. Independent errors add up as squares.
 */
public final class Need {
  /** Safety factor to begin with, in thousandths; it never falls below. */
  public static final int START_Z_MILLI = 2_500;

  /** The highest safety factor. */
  public static final int MAX_Z_MILLI = 4_000;

  /** An interval without a 429 after which the safety factor falls by a step. */
  public static final long CLEAN_MS = 60_000;

  private Need() {}

  /**
   * Kept free whatever is asked for.
   *
   * @param meanInput mean input of a call of the quota, 0 if unknown
   */
  public static double floor(double meanInput, long depth) {
    return Math.max(1.5 * meanInput, depth / 16.0);
  }

  /**
   * Tokens that must be there.
   *
   * @param estimate what the call will be charged
   * @param sigma standard deviation of its actual, as a share of the estimate
   * @param squares sum of the squared uncertainties of calls under way
   * @param floor {@link #floor}
   */
  public static long tokens(
      long estimate, double sigma, int zMilli, long squares, double floor, long depth) {
    long need = estimate + keptFree(estimate, sigma, zMilli, squares, floor);
    // A call larger than what uncertainty leaves free still fits a bucket that is nearly full.
    long almostFull = depth - depth / 1000;
    long oversize = Math.max(Math.min(estimate, almostFull), depth - depth * 3 / 100);
    return Math.min(need, oversize);
  }

  /** What is asked beyond the estimate. */
  public static long keptFree(long estimate, double sigma, int zMilli, long squares, double floor) {
    double z = zMilli / 1000.0;
    // Estimates lie off by a factor: one that is as much too low as another is too high costs more.
    double own = StrictMath.expm1(z * sigma) * estimate;
    return (long) Math.sqrt(own * own + z * z * squares + floor * floor);
  }
}
