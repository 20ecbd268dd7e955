package dev.fairway.cli.demo.emulator;

import java.util.Objects;

/**
 * What the emulated provider allows. Each limit is a token bucket one minute deep that refills
 * continuously.
 *
 * @param requests calls
 * @param inputTokens input tokens, charged when a call arrives
 * @param outputTokens output tokens, charged when a call ends
 */
public record ProviderLimits(Limit requests, Limit inputTokens, Limit outputTokens) {

  public ProviderLimits {
    Objects.requireNonNull(requests, "requests");
    Objects.requireNonNull(inputTokens, "inputTokens");
    Objects.requireNonNull(outputTokens, "outputTokens");
  }

  /** Limits whose buckets start full. */
  public static ProviderLimits full(
      long requestsPerMinute, long inputTokensPerMinute, long outputTokensPerMinute) {
    return new ProviderLimits(
        Limit.full(requestsPerMinute),
        Limit.full(inputTokensPerMinute),
        Limit.full(outputTokensPerMinute));
  }

  /**
   * One limit.
   *
   * @param perMinute refill in a minute and depth of the bucket, at least 1
   * @param opening level at the start, from 0 to {@code perMinute}
   */
  public record Limit(long perMinute, long opening) {

    public Limit {
      if (perMinute < 1 || opening < 0 || opening > perMinute) {
        throw new IllegalArgumentException(
            "Expected a limit of at least 1 a minute that opens between 0 and that limit, but got "
                + perMinute
                + " a minute opening at "
                + opening);
      }
    }

    /** A limit whose bucket starts full. */
    public static Limit full(long perMinute) {
      return new Limit(perMinute, perMinute);
    }

    /** What the bucket can give in all from its opening on, if it never overflows. */
    public double capacity(double seconds) {
      return opening + perMinute / 60.0 * seconds;
    }
  }
}
