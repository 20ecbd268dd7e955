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
 * @param cacheTtlMs how long the provider keeps what was written to the cache, the least where that
 *     is for several times; null where it does not say
 */
public record ProviderUsage(
    Long inputTokens,
    Long cacheReadTokens,
    Long cacheWriteTokens,
    Long outputTokens,
    boolean exact,
    Long cacheTtlMs) {
  /** More than any call uses, of any kind; the coordinator takes no larger number. */
  public static final long TOKENS_MAX = 100_000_000;

  /** The same where the provider does not say how long it keeps a cache. */
  public ProviderUsage(
      Long inputTokens,
      Long cacheReadTokens,
      Long cacheWriteTokens,
      Long outputTokens,
      boolean exact) {
    this(inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, exact, null);
  }

  /** This usage, with what the later report knows put over it: reports are totals so far. */
  ProviderUsage overwrittenBy(ProviderUsage later) {
    return new ProviderUsage(
        later.inputTokens != null ? later.inputTokens : inputTokens,
        later.cacheReadTokens != null ? later.cacheReadTokens : cacheReadTokens,
        later.cacheWriteTokens != null ? later.cacheWriteTokens : cacheWriteTokens,
        later.outputTokens != null ? later.outputTokens : outputTokens,
        exact,
        later.cacheTtlMs != null ? later.cacheTtlMs : cacheTtlMs);
  }

  ProviderUsage withoutOutput() {
    return new ProviderUsage(
        inputTokens, cacheReadTokens, cacheWriteTokens, null, exact, cacheTtlMs);
  }

  ProviderUsage withExact(boolean exactly) {
    return new ProviderUsage(
        inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, exactly, cacheTtlMs);
  }

  ProviderUsage withCacheTtlMs(Long ttlMs) {
    return new ProviderUsage(
        inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, exact, ttlMs);
  }
}
