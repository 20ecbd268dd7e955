package dev.fairway.replay.world;

/** What the provider limits per minute. */
public enum Dimension {
  REQUESTS("requests"),
  INPUT_TOKENS("input_tokens"),
  OUTPUT_TOKENS("output_tokens");

  private final String wireName;

  Dimension(String wireName) {
    this.wireName = wireName;
  }

  /** Name in signals. */
  public String wireName() {
    return wireName;
  }
}
