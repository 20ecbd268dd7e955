package dev.fairway.agent.estimate;

/** The API whose calls a body is one of. */
public enum CallFormat {
  /** Anthropic Messages. */
  ANTHROPIC_MESSAGES,
  /** OpenAI Chat Completions, and the many that speak it. */
  OPENAI_CHAT,
  /** OpenAI Responses. */
  OPENAI_RESPONSES,
  /** OpenAI Embeddings. */
  OPENAI_EMBEDDINGS
}
