package dev.fairway.agent.gateway;

import dev.fairway.agent.estimate.CallFormat;
import java.util.Map;

/** The calls of providers' APIs that the gateway knows. */
enum Endpoint {
  /** Anthropic Messages. */
  MESSAGES("/v1/messages", CallFormat.ANTHROPIC_MESSAGES, true),
  /** Anthropic's token count of a message: no model call, and not counted against tokens. */
  COUNT_TOKENS("/v1/messages/count_tokens", CallFormat.ANTHROPIC_MESSAGES, false),
  /** OpenAI Chat Completions. */
  CHAT("/v1/chat/completions", CallFormat.OPENAI_CHAT, true),
  /** OpenAI Responses. */
  RESPONSES("/v1/responses", CallFormat.OPENAI_RESPONSES, true),
  /** OpenAI Embeddings. */
  EMBEDDINGS("/v1/embeddings", CallFormat.OPENAI_EMBEDDINGS, true);

  private static final Map<String, Endpoint> BY_PATH =
      Map.of(
          MESSAGES.path, MESSAGES,
          COUNT_TOKENS.path, COUNT_TOKENS,
          CHAT.path, CHAT,
          RESPONSES.path, RESPONSES,
          EMBEDDINGS.path, EMBEDDINGS);

  private final String path;
  private final CallFormat format;
  private final boolean counted;

  Endpoint(String path, CallFormat format, boolean counted) {
    this.path = path;
    this.format = format;
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
    return format == CallFormat.ANTHROPIC_MESSAGES ? ApiFamily.ANTHROPIC : ApiFamily.OPENAI;
  }

  /** What its bodies are written in. */
  CallFormat format() {
    return format;
  }

  /** Whether a call takes from a quota of tokens. */
  boolean isCounted() {
    return counted;
  }
}
