package dev.fairway.replay.world;

/** What an agent does, and what its turns are like. */
public enum Role {
  PLANNER("planner", new Span(30_000, 50_000), new Span(5_000, 10_000), 0, 1400, 8192, 3, 75_000),
  REVIEWER("reviewer", new Span(40_000, 60_000), new Span(3_000, 6_000), 0, 900, 8192, 3, 60_000),
  REFACTOR(
      "refactor", new Span(60_000, 80_000), new Span(4_000, 16_000), 0.2, 1300, 8192, 5, 75_000),
  TEST_FIX("test-fix", new Span(15_000, 30_000), new Span(2_000, 6_000), 0.1, 800, 4096, 5, 75_000),
  SMALL("small", new Span(6_000, 10_000), new Span(1_000, 3_000), 0, 600, 4096, 5, 75_000),
  LINT("lint", new Span(1_500, 3_000), new Span(1_500, 3_000), 0, 300, 4096, 4, 75_000);

  /** Input tokens, uniform between both. */
  record Span(long least, long most) {
    long at(double share) {
      return least + (long) ((most - least) * share);
    }
  }

  private final String wireName;
  private final Span first;
  private final Span later;
  private final double rereadShare;
  private final double outputMean;
  private final long maxTokens;
  private final int turns;
  private final double toolMs;

  Role(
      String wireName,
      Span first,
      Span later,
      double rereadShare,
      double outputMean,
      long maxTokens,
      int turns,
      double toolMs) {
    this.wireName = wireName;
    this.first = first;
    this.later = later;
    this.rereadShare = rereadShare;
    this.outputMean = outputMean;
    this.maxTokens = maxTokens;
    this.turns = turns;
    this.toolMs = toolMs;
  }

  /** Name in the records of the protocol and in results. */
  public String wireName() {
    return wireName;
  }

  /** Its calls' {@code max_tokens}. */
  public long maxTokens() {
    return maxTokens;
  }

  /** Turns of a task. */
  public int turns() {
    return turns;
  }

  /** Whether its turns build on what the task's earlier turns left in the prompt cache. */
  public boolean keepsPrefix() {
    return this != LINT;
  }

  /** Base weight that an operator gives it: a planner 3, a reviewer 2, anyone else 1. */
  public double weight() {
    return this == PLANNER ? 3 : this == REVIEWER ? 2 : 1;
  }

  /** New input of a turn: that of a first one, or of a later one. */
  long newInput(boolean likeFirst, double share) {
    return (likeFirst ? first : later).at(share);
  }

  double rereadShare() {
    return rereadShare;
  }

  double outputMean() {
    return outputMean;
  }

  double toolMs() {
    return toolMs;
  }
}
