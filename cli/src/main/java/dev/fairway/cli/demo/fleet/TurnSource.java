package dev.fairway.cli.demo.fleet;

import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/** Where turns come from: any turn of any agent, always the same one. */
interface TurnSource {

  /** The turn of that number, from 0, of an agent. */
  Turn turn(int agent, int index);

  /** Where an agent stands in its group's work. */
  Stage stage(int agent);

  /** What an agent is, for people. */
  String kind(int agent);

  /** Id of an agent. */
  static String id(int agent) {
    return String.format(Locale.ROOT, "agent-%02d", agent);
  }

  /** Turns of the usual sizes, by kind of agent. */
  record Drawn(long seed) implements TurnSource {

    @Override
    public Turn turn(int agent, int index) {
      AgentKind kind = AgentKind.of(agent);
      SplittableRandom random = Draws.stream(seed, "turn", agent, index);
      long input = kind.drawInput(random, index % kind.turnsPerTask());
      return new Turn(
          id(agent),
          kind.role(),
          index,
          index / kind.turnsPerTask(),
          Turn.Place.of(index, kind.turnsPerTask()),
          input,
          Draws.estimate(random, input),
          kind.drawOutput(random),
          kind.maxTokens(),
          Draws.toolMs(random, kind.toolMs()));
    }

    @Override
    public Stage stage(int agent) {
      return AgentKind.of(agent).stage();
    }

    @Override
    public String kind(int agent) {
      return AgentKind.of(agent).name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * Turns of the sizes of a trace, in order: row k is turn k / agents of agent k mod agents. Agents
   * are all alike, and wait for nobody: a trace doesn't tell who waited for whom.
   */
  record Traced(long seed, int agents, List<TraceReader.Row> rows) implements TurnSource {
    private static final int TURNS_PER_TASK = 5;
    private static final double TOOL_MS = 75_000;
    private static final long MAX_TOKENS_MIN = 1024;

    @Override
    public Turn turn(int agent, int index) {
      TraceReader.Row row = rows.get((int) (rowNumber(agent, index) % rows.size()));
      SplittableRandom random = Draws.stream(seed, "turn", agent, index);
      return new Turn(
          id(agent),
          "worker",
          index,
          index / TURNS_PER_TASK,
          Turn.Place.of(index, TURNS_PER_TASK),
          row.inputTokens(),
          Draws.estimate(random, row.inputTokens()),
          Math.max(1, row.outputTokens()),
          maxTokens(row.outputTokens()),
          Draws.toolMs(random, TOOL_MS));
    }

    /** A trace tells what was produced, not what was allowed: the next power of two. */
    private static long maxTokens(long outputTokens) {
      return Math.max(MAX_TOKENS_MIN, 2 * Long.highestOneBit(Math.max(1, outputTokens)));
    }

    long rowNumber(int agent, int index) {
      return (long) index * agents + agent;
    }

    @Override
    public Stage stage(int agent) {
      return Stage.FREE;
    }

    @Override
    public String kind(int agent) {
      return "trace";
    }
  }
}
