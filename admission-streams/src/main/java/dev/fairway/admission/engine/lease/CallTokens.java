package dev.fairway.admission.engine.lease;

/**
 * How many tokens one call can be said to use, in an estimate as in a usage report. A number beyond
 * that is an error of whoever wrote it, and would close a quota for as long as it takes to refill.
 */
public final class CallTokens {
  /** Ten times the largest context window on offer (10 million tokens). */
  public static final long MOST = 100_000_000;

  private CallTokens() {}

  /** What is wrong with a number of tokens, or null; null is unknown, and no violation. */
  public static String violation(String field, Long tokens) {
    return tokens == null || (tokens >= 0 && tokens <= MOST)
        ? null
        : "Expected " + field + " from 0 to " + MOST + ", but found " + tokens;
  }
}
