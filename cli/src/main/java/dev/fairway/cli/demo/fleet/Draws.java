package dev.fairway.cli.demo.fleet;

import java.util.SplittableRandom;

/** Draws that {@link SplittableRandom} does not have. */
final class Draws {
  private Draws() {}

  private static final double TOOL_SIGMA = 0.04;
  private static final double ESTIMATE_SIGMA = 0.05;

  /** A stream that depends on nothing but its arguments. */
  static SplittableRandom stream(long seed, String purpose, long a, long b) {
    long mixed = seed;
    for (long part : new long[] {purpose.hashCode(), a, b}) {
      mixed = (mixed ^ part) * 0x9E3779B97F4A7C15L;
      mixed ^= mixed >>> 32;
    }
    return new SplittableRandom(mixed);
  }

  /**
   * Standard normal, by Box and Muller; {@code nextGaussian} consumes a varying number of draws.
   */
  static double gaussian(SplittableRandom random) {
    double radius = Math.sqrt(-2 * Math.log(1 - random.nextDouble()));
    return radius * Math.cos(2 * Math.PI * random.nextDouble());
  }

  /** Lognormal of mean 1. */
  static double lognormal(SplittableRandom random, double sigma) {
    return Math.exp(sigma * gaussian(random) - sigma * sigma / 2);
  }

  /** What a tokenizer takes so many tokens for. */
  static long estimate(SplittableRandom random, long tokens) {
    return Math.max(1, Math.round(tokens * lognormal(random, ESTIMATE_SIGMA)));
  }

  /** Tool time in the fleet's fast world, around a mean at real speed. */
  static double toolMs(SplittableRandom random, double realMeanMs) {
    return realMeanMs / FleetPlan.SPEED_UP * lognormal(random, TOOL_SIGMA);
  }
}
