package dev.fairway.admission.engine.lease;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What of a usage counts against a provider's quota. One rule for all providers is wrong for some
 * of them, so it is a table; the agent side only parses. What differs among the models of one
 * provider is the quota's to say ({@link #with}).
 *
 * @param cacheReadsCount whether tokens read from the prompt cache count as input
 * @param cacheWritesCount whether tokens written to it do
 * @param refusalCostsRequest whether a call answered 429 counts as a request
 * @param reservesMaxTokens whether the provider itself takes max_tokens at the start of a call
 * @param failedCallsCount whether a call that the provider took and then refused counts
 * @param outputBurndown how many tokens of the quota one output token takes, 1 or more
 */
public record ProviderAccounting(
    boolean cacheReadsCount,
    boolean cacheWritesCount,
    boolean refusalCostsRequest,
    boolean reservesMaxTokens,
    boolean failedCallsCount,
    int outputBurndown) {

  private static final ProviderAccounting CACHE_WRITES =
      new ProviderAccounting(false, true, true, false, false, 1);
  private static final ProviderAccounting CACHE_WRITES_RESERVED =
      new ProviderAccounting(false, true, true, true, false, 1);
  private static final ProviderAccounting ALL_INPUT =
      new ProviderAccounting(true, true, true, false, false, 1);
  private static final ProviderAccounting ALL_INPUT_RESERVED =
      new ProviderAccounting(true, true, true, true, false, 1);
  private static final ProviderAccounting ALL_INPUT_RESERVED_AND_FAILED =
      new ProviderAccounting(true, true, true, true, true, 1);
  private static final ProviderAccounting FRESH_ONLY =
      new ProviderAccounting(false, false, true, false, false, 1);

  private static final Map<String, ProviderAccounting> BY_PROVIDER =
      Map.ofEntries(
          Map.entry("anthropic", CACHE_WRITES),
          Map.entry("bedrock", CACHE_WRITES_RESERVED),
          Map.entry("groq", FRESH_ONLY),
          Map.entry("openai", ALL_INPUT_RESERVED_AND_FAILED),
          Map.entry("azure", ALL_INPUT_RESERVED),
          Map.entry("gemini", ALL_INPUT),
          Map.entry("vertex", ALL_INPUT),
          Map.entry("mistral", ALL_INPUT),
          Map.entry("openrouter", ALL_INPUT),
          Map.entry("cerebras", ALL_INPUT),
          Map.entry("deepseek", ALL_INPUT),
          Map.entry("xai", ALL_INPUT),
          Map.entry("together", ALL_INPUT),
          Map.entry("replicate", ALL_INPUT));

  /** The names with a row, in order; immutable. {@code generic} is not among them. */
  public static Set<String> providers() {
    return Collections.unmodifiableSet(new TreeSet<>(BY_PROVIDER.keySet()));
  }

  /**
   * The provider's row; an unknown one counts what was written to the cache and not what was read.
   */
  public static ProviderAccounting of(String provider) {
    return BY_PROVIDER.getOrDefault(provider, CACHE_WRITES);
  }

  /**
   * The same where a quota says it otherwise.
   *
   * @param burndown how many tokens one output token takes, or null for what this says
   * @param cacheReads whether what is read from the cache counts, or null for what this says
   */
  public ProviderAccounting with(Integer burndown, Boolean cacheReads) {
    return new ProviderAccounting(
        cacheReads != null ? cacheReads : cacheReadsCount,
        cacheWritesCount,
        refusalCostsRequest,
        reservesMaxTokens,
        failedCallsCount,
        burndown != null ? burndown : outputBurndown);
  }

  /** What that many output tokens count. */
  public long countedOutput(long output) {
    return output * outputBurndown;
  }

  /** The most output tokens that count no more than that. */
  public long outputWithin(long counted) {
    return counted / outputBurndown;
  }

  /** Input tokens that count. */
  public long countedInput(long uncached, long cacheRead, long cacheWrite) {
    return uncached + (cacheReadsCount ? cacheRead : 0) + (cacheWritesCount ? cacheWrite : 0);
  }
}
