package dev.fairway.agent.fallback;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/**
 * Waits between tries: a uniform draw of more than zero up to {@code min(cap, base x 2^n)}, on top
 * of what the provider asks for. Immutable; thread-safe if the source of chance is.
 *
 * @param base ceiling of the first wait
 * @param cap highest ceiling
 * @param below draws a number of at least 0 and below its argument
 */
public record FullJitter(Duration base, Duration cap, LongUnaryOperator below) {
  private static final int DOUBLINGS_MAX = 40;
  private static final Duration LONGEST = Duration.ofMillis(Long.MAX_VALUE);

  /** A ceiling of 1 s that doubles up to 30 s. */
  public static final FullJitter STANDARD = of(Duration.ofSeconds(1), Duration.ofSeconds(30));

  /** Checks the ranges. */
  public FullJitter {
    if (base == null || base.toMillis() < 1 || cap == null || cap.compareTo(base) < 0) {
      throw new IllegalArgumentException(
          "Expected a base of 1 ms or more and a cap of at least the base, but found "
              + base
              + " and "
              + cap
              + ".");
    }
    if (below == null) {
      throw new IllegalArgumentException("Expected a source of chance, but found none.");
    }
  }

  /** With the JVM's own source of chance. */
  public static FullJitter of(Duration base, Duration cap) {
    return new FullJitter(base, cap, bound -> ThreadLocalRandom.current().nextLong(bound));
  }

  /**
   * How long to wait before the next try.
   *
   * @param failures tries that failed in a row before, 0 or more; 0 counts as the first
   * @param retryAfter what the provider asked for, a floor, or null if it asked for nothing; zero
   *     and negative ask for nothing
   * @return at least 1 ms above the floor; never more than milliseconds in a {@code long} can say
   */
  public Duration delay(int failures, Duration retryAfter) {
    int doublings = Math.min(DOUBLINGS_MAX, Math.max(0, failures - 1));
    long baseMs = base.toMillis();
    long capMs = cap.toMillis();
    long ceilingMs = baseMs > capMs >> doublings ? capMs : baseMs << doublings;
    Duration jitter = Duration.ofMillis(1 + below.applyAsLong(ceilingMs));
    if (retryAfter == null || retryAfter.isNegative()) {
      return jitter;
    }
    return retryAfter.compareTo(LONGEST.minus(jitter)) >= 0 ? LONGEST : retryAfter.plus(jitter);
  }
}
