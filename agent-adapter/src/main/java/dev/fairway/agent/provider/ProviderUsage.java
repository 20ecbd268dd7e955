package dev.fairway.agent.provider;

/**
 * Tokens of one call, as the provider counted them, in one meaning for all providers. Null is
 * unknown, never zero.
 *
 * @param inputTokens input that was neither read from the prompt cache nor written to it
 * @param cacheReadTokens input read from the prompt cache
 * @param cacheWriteTokens input written to the prompt cache
 * @param outputTokens output, reasoning included
 * @param exact false where a stream broke off before its last word on usage, so that the output is
 *     unknown or a lower bound
 */
public record ProviderUsage(
    Long inputTokens,
    Long cacheReadTokens,
    Long cacheWriteTokens,
    Long outputTokens,
    boolean exact) {
  /** More than any call uses, of any kind; the coordinator takes no larger number. */
  public static final long TOKENS_MAX = 100_000_000;

  /** This usage, with what the later report knows put over it: reports are totals so far. */
  ProviderUsage overwrittenBy(ProviderUsage later) {
    return new ProviderUsage(
        later.inputTokens != null ? later.inputTokens : inputTokens,
        later.cacheReadTokens != null ? later.cacheReadTokens : cacheReadTokens,
        later.cacheWriteTokens != null ? later.cacheWriteTokens : cacheWriteTokens,
        later.outputTokens != null ? later.outputTokens : outputTokens,
        exact);
  }

  ProviderUsage withoutOutput() {
    return new ProviderUsage(inputTokens, cacheReadTokens, cacheWriteTokens, null, exact);
  }

  ProviderUsage withExact(boolean exactly) {
    return new ProviderUsage(inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, exactly);
  }
}
