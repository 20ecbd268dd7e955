package dev.fairway.agent.gateway;

import dev.fairway.agent.estimate.CallFormat;
import java.util.Map;

/** The calls of providers' APIs that the gateway knows. */
enum Endpoint {
  /** Anthropic Messages. */
  MESSAGES("/v1/messages", ApiFamily.ANTHROPIC, true),
  /** Anthropic's token count of a message: no model call, and not counted against tokens. */
  COUNT_TOKENS("/v1/messages/count_tokens", ApiFamily.ANTHROPIC, false),
  /** OpenAI Chat Completions. */
  CHAT("/v1/chat/completions", ApiFamily.OPENAI, true),
  /** OpenAI Responses. */
  RESPONSES("/v1/responses", ApiFamily.OPENAI, true),
  /** OpenAI Embeddings. */
  EMBEDDINGS("/v1/embeddings", ApiFamily.OPENAI, true);

  private static final Map<String, Endpoint> BY_PATH =
      Map.of(
          MESSAGES.path, MESSAGES,
          COUNT_TOKENS.path, COUNT_TOKENS,
          CHAT.path, CHAT,
          RESPONSES.path, RESPONSES,
          EMBEDDINGS.path, EMBEDDINGS);

  private final String path;
  private final ApiFamily family;
  private final boolean counted;

  Endpoint(String path, ApiFamily family, boolean counted) {
    this.path = path;
    this.family = family;
    this.counted = counted;
  }

  /** The endpoint of a call, or null if it is none of these. */
  static Endpoint of(String method, String path) {
    // There are upstreams to which "post" is the same.
    return method.equalsIgnoreCase("POST") ? BY_PATH.get(path) : null;
  }

  /** Whether a path is one of theirs. */
  static boolean isPath(String path) {
    return BY_PATH.containsKey(path);
  }

  ApiFamily family() {
    return family;
  }

  /** What its bodies are, to estimators. */
  CallFormat format() {
    return switch (this) {
      case MESSAGES, COUNT_TOKENS -> CallFormat.ANTHROPIC_MESSAGES;
      case CHAT -> CallFormat.OPENAI_CHAT;
      case RESPONSES -> CallFormat.OPENAI_RESPONSES;
      case EMBEDDINGS -> CallFormat.OPENAI_EMBEDDINGS;
    };
  }

  /** Whether a call takes from a quota of tokens. */
  boolean isCounted() {
    return counted;
  }
}
