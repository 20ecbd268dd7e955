package dev.fairway.replay.world;

/**
 * Random numbers of one place in the world. The same seed, stream and path give the same numbers,
 * whatever was drawn elsewhere and in which order. SplitMix64; not thread-safe, and cheap to make.
 */
final class Draws {

  /** What the numbers are for. Streams share nothing. */
  enum Stream {
    START,
    TURN,
    REPLAN,
    CRASH,
    NETWORK,
    OUTSIDE,
    BURST,
    BACKOFF,
    WINDOW
  }

  private static final long GAMMA = 0x9e3779b97f4a7c15L;
  private static final double UNIT = 0x1.0p-53;

  private long state;

  private Draws(long state) {
    this.state = state;
  }

  static Draws of(long seed, Stream stream, long a, long b, long c, long d) {
    long state = mix(seed + GAMMA);
    state = mix(state ^ (stream.ordinal() + 1) * GAMMA);
    state = mix(state + a * GAMMA + 1);
    state = mix(state + b * GAMMA + 2);
    state = mix(state + c * GAMMA + 3);
    return new Draws(mix(state + d * GAMMA + 4));
  }

  static Draws of(long seed, Stream stream, long a, long b) {
    return of(seed, stream, a, b, 0, 0);
  }

  /** From 0, inclusive, to 1, exclusive. */
  double next() {
    state += GAMMA;
    return (mix(state) >>> 11) * UNIT;
  }

  double between(double least, double most) {
    return least + (most - least) * next();
  }

  /** Exponential with that mean. */
  double exponential(double mean) {
    return -mean * StrictMath.log(1 - next());
  }

  /** Lognormal with that median; {@code sd} is that of the logarithm. */
  double lognormalAround(double median, double sd) {
    return median * StrictMath.exp(sd * gaussian());
  }

  /** Lognormal with that mean; {@code sd} is that of the logarithm. */
  double lognormal(double mean, double sd) {
    return lognormalAround(mean * StrictMath.exp(-sd * sd / 2), sd);
  }

  private double gaussian() {
    double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - next()));
    return radius * StrictMath.cos(2 * StrictMath.PI * next());
  }

  /** Stafford's variant 13 of the 64-bit finaliser. */
  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
