package dev.fairway.cli.demo.fleet;

import java.util.SplittableRandom;

/**
 * The kinds of agents in the fleet: role, input of a first turn from and to, new input of later
 * turns from and to, share of later turns that read everything again, mean output, max_tokens,
 * turns a task, mean tool time in milliseconds at real speed. Sizes in tokens.
 */
enum AgentKind {
  PLANNER("planner", 30_000, 50_000, 5_000, 10_000, 0, 1400, 8192, 3, 75_000),
  REVIEWER("reviewer", 40_000, 60_000, 3_000, 6_000, 0, 900, 8192, 3, 60_000),
  REFACTOR("worker", 60_000, 80_000, 4_000, 16_000, 0.2, 1300, 8192, 5, 75_000),
  TEST_FIX("worker", 15_000, 30_000, 2_000, 6_000, 0.1, 800, 4096, 5, 75_000),
  SMALL("worker", 6_000, 10_000, 1_000, 3_000, 0, 600, 4096, 5, 75_000),
  LINT("worker", 1_500, 3_000, 1_500, 3_000, 0, 300, 4096, 4, 75_000);

  /** One group of ten agents. */
  private static final AgentKind[] GROUP = {
    PLANNER, REFACTOR, REFACTOR, TEST_FIX, TEST_FIX, SMALL, SMALL, REVIEWER, LINT, LINT
  };

  /** Agents of a group. */
  static final int GROUP_SIZE = GROUP.length;

  private static final double OUTPUT_SIGMA = 0.8;

  private final String role;
  private final int firstInputMin;
  private final int firstInputMax;
  private final int laterInputMin;
  private final int laterInputMax;
  private final double reReadShare;
  private final double outputMean;
  private final long maxTokens;
  private final int turnsPerTask;
  private final double toolMs;

  AgentKind(
      String role,
      int firstInputMin,
      int firstInputMax,
      int laterInputMin,
      int laterInputMax,
      double reReadShare,
      double outputMean,
      long maxTokens,
      int turnsPerTask,
      double toolMs) {
    this.role = role;
    this.firstInputMin = firstInputMin;
    this.firstInputMax = firstInputMax;
    this.laterInputMin = laterInputMin;
    this.laterInputMax = laterInputMax;
    this.reReadShare = reReadShare;
    this.outputMean = outputMean;
    this.maxTokens = maxTokens;
    this.turnsPerTask = turnsPerTask;
    this.toolMs = toolMs;
  }

  /** The kind of the agent with this number, from 0. */
  static AgentKind of(int agent) {
    return GROUP[agent % GROUP.length];
  }

  /** The role under which it asks for admission. */
  String role() {
    return role;
  }

  /** Where it stands in its group's work. */
  Stage stage() {
    return switch (this) {
      case PLANNER -> Stage.PLAN;
      case REVIEWER -> Stage.REVIEW;
      case LINT -> Stage.FREE;
      default -> Stage.WORK;
    };
  }

  int turnsPerTask() {
    return turnsPerTask;
  }

  /** Mean tool time at real speed. */
  double toolMs() {
    return toolMs;
  }

  long maxTokens() {
    return maxTokens;
  }

  /** New input of a turn: what its cached prefix does not hold. */
  long drawInput(SplittableRandom random, int turnInTask) {
    boolean first = turnInTask == 0 || random.nextDouble() < reReadShare;
    return first
        ? random.nextInt(firstInputMin, firstInputMax + 1)
        : random.nextInt(laterInputMin, laterInputMax + 1);
  }

  long drawOutput(SplittableRandom random) {
    // A lognormal of this mean: exp(mu + sigma^2 / 2) = mean.
    double mu = Math.log(outputMean) - OUTPUT_SIGMA * OUTPUT_SIGMA / 2;
    double drawn = Math.exp(mu + OUTPUT_SIGMA * Draws.gaussian(random));
    return Math.max(1, Math.min(maxTokens, Math.round(drawn)));
  }
}
