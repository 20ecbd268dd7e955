package dev.fairway.agent.provider;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;

/**
 * The shapes in which providers report usage, told apart by their field names alone: Bedrock, say,
 * passes on the shape of whoever made the model. What they differ in most is whether input includes
 * what came from the cache; here it never does.
 */
final class UsageShapes {
  private UsageShapes() {}

  /** The usage in a whole body or event, or null. */
  static ProviderUsage find(JsonNode root) {
    ProviderUsage usage = read(root.path("usage"));
    usage = usage != null ? usage : read(root.path("usageMetadata"));
    usage = usage != null ? usage : read(root.path("response").path("usage"));
    usage = usage != null ? usage : read(root.path("response").path("usageMetadata"));
    usage = usage != null ? usage : read(root.path("message").path("usage"));
    usage = usage != null ? usage : read(root.path("delta").path("usage"));
    usage = usage != null ? usage : read(root.path("x_groq").path("usage"));
    usage = usage != null ? usage : read(root.path("amazon-bedrock-invocationMetrics"));
    return usage != null ? usage : llama(root);
  }

  /** One usage object, or null where nothing in it is known. */
  static ProviderUsage read(JsonNode usage) {
    if (!usage.isObject()) {
      return null;
    }
    if (usage.path("tokens").isObject()) {
      // Cohere: what was processed, beside what is billed.
      return anthropic(usage.path("tokens"));
    }
    if (usage.has("promptTokenCount")) {
      return gemini(usage);
    }
    if (usage.has("prompt_tokens")) {
      return openAi(
          usage,
          "prompt_tokens",
          "completion_tokens",
          first(usage, "prompt_tokens_details", "prompt_token_details"));
    }
    if (usage.path("input_tokens_details").isObject()) {
      return openAi(usage, "input_tokens", "output_tokens", usage.path("input_tokens_details"));
    }
    if (usage.has("inputTokens") || usage.has("outputTokens")) {
      return known(
          amount(usage, "inputTokens"),
          firstAmount(usage, "cacheReadInputTokens", "cacheReadInputTokenCount"),
          firstAmount(usage, "cacheWriteInputTokens", "cacheWriteInputTokenCount"),
          amount(usage, "outputTokens"));
    }
    if (usage.has("inputTokenCount") || usage.has("outputTokenCount")) {
      return known(
          amount(usage, "inputTokenCount"),
          amount(usage, "cacheReadInputTokenCount"),
          amount(usage, "cacheWriteInputTokenCount"),
          amount(usage, "outputTokenCount"));
    }
    return anthropic(usage);
  }

  private static ProviderUsage anthropic(JsonNode usage) {
    JsonNode byTtl = usage.path("cache_creation");
    Long minutes = amount(byTtl, "ephemeral_5m_input_tokens");
    Long hour = amount(byTtl, "ephemeral_1h_input_tokens");
    Long written = amount(usage, "cache_creation_input_tokens");
    ProviderUsage known =
        known(
            amount(usage, "input_tokens"),
            amount(usage, "cache_read_input_tokens"),
            written != null ? written : sum(minutes, hour),
            amount(usage, "output_tokens"));
    return known == null ? null : known.withCacheTtlMs(ttlMs(minutes, hour));
  }

  private static Long ttlMs(Long minutes, Long hour) {
    if (minutes != null && minutes > 0) {
      return Duration.ofMinutes(5).toMillis();
    }
    return hour != null && hour > 0 ? (Long) Duration.ofHours(1).toMillis() : null;
  }

  private static ProviderUsage openAi(
      JsonNode usage, String input, String output, JsonNode details) {
    Long read = amount(details, "cached_tokens");
    // DeepSeek names both parts of the prompt beside the whole.
    read = read != null ? read : amount(usage, "prompt_cache_hit_tokens");
    Long written = amount(details, "cache_write_tokens");
    return known(
        without(amount(usage, input), read, written),
        read,
        written,
        withReasoning(usage, amount(usage, input), output));
  }

  /**
   * The output with its reasoning. OpenAI counts that in; xAI counts it beside, which shows where
   * there is more of it than of both, or where the total is short of it otherwise.
   */
  private static Long withReasoning(JsonNode usage, Long input, String name) {
    Long output = amount(usage, name);
    Long reasoning = amount(usage.path(name + "_details"), "reasoning_tokens");
    if (output == null || reasoning == null || reasoning == 0) {
      return output;
    }
    Long total = amount(usage, "total_tokens");
    boolean missing = input != null && total != null && total - input - output == reasoning;
    return missing || reasoning > output ? sum(output, reasoning) : output;
  }

  private static ProviderUsage gemini(JsonNode usage) {
    Long read = amount(usage, "cachedContentTokenCount");
    Long fresh = without(amount(usage, "promptTokenCount"), read, null);
    Long toolUse = amount(usage, "toolUsePromptTokenCount");
    return known(
        fresh == null ? null : sum(fresh, toolUse),
        read,
        null,
        sum(amount(usage, "candidatesTokenCount"), amount(usage, "thoughtsTokenCount")));
  }

  private static ProviderUsage llama(JsonNode root) {
    return known(
        amount(root, "prompt_token_count"), null, null, amount(root, "generation_token_count"));
  }

  /** The input without its cached parts; one that is less than these never included them. */
  private static Long without(Long input, Long read, Long written) {
    if (input == null) {
      return null;
    }
    long cached = (read == null ? 0 : read) + (written == null ? 0 : written);
    return input >= cached ? (Long) (input - cached) : input;
  }

  private static ProviderUsage known(Long input, Long read, Long written, Long output) {
    return input == null && read == null && written == null && output == null
        ? null
        : new ProviderUsage(input, read, written, output, true);
  }

  /** The sum of what is known, or null where nothing is, or where it is absurd. */
  private static Long sum(Long a, Long b) {
    if (a == null || b == null) {
      return a == null ? b : a;
    }
    return Numbers.tokens((Long) (a + b));
  }

  private static Long amount(JsonNode usage, String name) {
    return Numbers.tokens(usage.path(name));
  }

  private static Long firstAmount(JsonNode usage, String name, String otherName) {
    Long amount = amount(usage, name);
    return amount != null ? amount : amount(usage, otherName);
  }

  private static JsonNode first(JsonNode usage, String name, String otherName) {
    return usage.path(name).isObject() ? usage.path(name) : usage.path(otherName);
  }
}
