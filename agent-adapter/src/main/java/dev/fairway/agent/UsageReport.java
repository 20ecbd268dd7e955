package dev.fairway.agent;

import dev.fairway.agent.provider.ProviderUsage;

/**
 * Tokens that a call used, as the provider reported them. Null is unknown, never zero; what is
 * unknown is not refunded.
 *
 * @param inputTokens uncached input tokens, 0 or more, or null
 * @param cacheReadTokens tokens read from the prompt cache, 0 or more, or null
 * @param cacheWriteTokens tokens written to the prompt cache, 0 or more, or null
 * @param outputTokens output tokens, 0 or more, or null
 * @param exact false where the numbers are the agent's own estimate
 */
public record UsageReport(
    Long inputTokens,
    Long cacheReadTokens,
    Long cacheWriteTokens,
    Long outputTokens,
    boolean exact) {
  /** More than any call uses, of any kind: the coordinator takes no larger number. */
  public static final long TOKENS_MAX = ProviderUsage.TOKENS_MAX;

  /** Checks that no number is negative or absurd. */
  public UsageReport {
    inRange("inputTokens", inputTokens);
    inRange("cacheReadTokens", cacheReadTokens);
    inRange("cacheWriteTokens", cacheWriteTokens);
    inRange("outputTokens", outputTokens);
  }

  /** Exact usage of a call that touched no prompt cache. */
  public static UsageReport of(long inputTokens, long outputTokens) {
    return new UsageReport(inputTokens, 0L, 0L, outputTokens, true);
  }

  /** Exact usage of a call with a prompt cache. */
  public static UsageReport of(
      long inputTokens, long cacheReadTokens, long cacheWriteTokens, long outputTokens) {
    return new UsageReport(inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, true);
  }

  /** Exact input that is known when a stream starts; the output is not yet. */
  public static UsageReport inputOnly(long inputTokens) {
    return new UsageReport(inputTokens, 0L, 0L, null, true);
  }

  private static void inRange(String name, Long value) {
    if (value != null && (value < 0 || value > TOKENS_MAX)) {
      throw new IllegalArgumentException(
          "Expected "
              + name
              + " from 0 to "
              + TOKENS_MAX
              + ", or null if unknown, but found "
              + value
              + ".");
    }
  }
}
