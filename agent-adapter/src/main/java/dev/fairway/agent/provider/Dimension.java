package dev.fairway.agent.provider;

/** What providers limit. */
public enum Dimension {
  /** Model calls. */
  REQUESTS("requests"),
  /** Input tokens. */
  INPUT_TOKENS("input_tokens"),
  /** Output tokens. */
  OUTPUT_TOKENS("output_tokens"),
  /** Input and output tokens under one combined limit. */
  TOKENS("tokens");

  private final String wireName;

  Dimension(String wireName) {
    this.wireName = wireName;
  }

  /** Name in JSON and in records, such as {@code input_tokens}. */
  public String wireName() {
    return wireName;
  }
}
