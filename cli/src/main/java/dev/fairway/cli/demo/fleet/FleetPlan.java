package dev.fairway.cli.demo.fleet;

import dev.fairway.cli.demo.emulator.ModelSpeed;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Every turn of every agent, a function of seed, size and length alone.
 *
 * <p>The world runs {@link #SPEED_UP} times as fast as a real fleet does: a loop of about 90 s
 * takes some 4.5 s, tools and model alike. Agents start within a quarter of a second, and their
 * tools take about the same time, so that their calls come in waves.
 *
 * @param seconds length of the run for which the turns were drawn
 * @param speed the model's speed in this world
 * @param agents one plan an agent
 * @param demand what starts within {@code seconds} when nothing is held back
 * @param rowsUsed rows of the trace that were dealt, more than it has if it was dealt again; 0
 *     without a trace
 */
public record FleetPlan(
    double seconds, ModelSpeed speed, List<AgentPlan> agents, Demand demand, long rowsUsed) {

  /** How much faster than real time the fleet's loops are. */
  public static final double SPEED_UP = 20;

  private static final double START_SPREAD_MS = 5_000 / SPEED_UP;
  private static final double TOOL_SIGMA = 0.04;
  private static final double ESTIMATE_SIGMA = 0.05;
  private static final int TRACE_TURNS_PER_TASK = 5;

  /** Drawn beyond the end of an unhindered run, so that no agent can ever run out of turns. */
  private static final int SPARE_TURNS = 3;

  public FleetPlan {
    agents = List.copyOf(agents);
  }

  /** Draws turns of the usual sizes. */
  public static FleetPlan draw(long seed, int agents, double seconds) {
    return build(seed, agents, seconds, List.of());
  }

  /**
   * Takes the sizes of turns from a trace, in order: row k is turn k / agents of agent k mod
   * agents.
   *
   * @param rows at least one; dealt again from the first if they run out
   */
  public static FleetPlan fromTrace(
      long seed, int agents, double seconds, List<TraceReader.Row> rows) {
    if (rows.isEmpty()) {
      throw new IllegalArgumentException("Expected a trace of at least one row, but got none");
    }
    return build(seed, agents, seconds, rows);
  }

  private static FleetPlan build(
      long seed, int agents, double seconds, List<TraceReader.Row> rows) {
    if (agents < 1 || !(seconds > 0)) {
      throw new IllegalArgumentException(
          "Expected at least 1 agent and more than 0 s, but got " + agents + " and " + seconds);
    }
    ModelSpeed speed = ModelSpeed.REAL.faster(SPEED_UP);
    List<AgentPlan> plans = new ArrayList<>();
    long calls = 0;
    long input = 0;
    long output = 0;
    long rowsUsed = 0;
    for (int agent = 0; agent < agents; agent++) {
      AgentKind kind = AgentKind.of(agent);
      String id = String.format(Locale.ROOT, "agent-%02d", agent);
      double startMs = Draws.stream(seed, "start", agent, 0).nextDouble() * START_SPREAD_MS;
      List<Turn> turns = new ArrayList<>();
      double atMs = startMs;
      int spare = SPARE_TURNS;
      for (int index = 0; atMs < seconds * 1000 || spare-- > 0; index++) {
        Turn turn =
            rows.isEmpty()
                ? drawn(seed, agent, id, kind, index)
                : traced(
                    seed,
                    agent,
                    id,
                    index,
                    rows.get((int) (row(index, agents, agent) % rows.size())));
        if (atMs < seconds * 1000) {
          calls++;
          input += turn.inputTokens();
          output += turn.outputTokens();
        }
        if (!rows.isEmpty()) {
          rowsUsed = Math.max(rowsUsed, row(index, agents, agent) + 1);
        }
        turns.add(turn);
        atMs += speed.callMs(turn.id(), turn.outputTokens()) + turn.toolMs();
      }
      String kindName =
          rows.isEmpty() ? kind.name().toLowerCase(Locale.ROOT).replace('_', '-') : "trace";
      plans.add(new AgentPlan(id, kindName, startMs, turns));
    }
    return new FleetPlan(seconds, speed, plans, new Demand(calls, input, output), rowsUsed);
  }

  private static long row(int index, int agents, int agent) {
    return (long) index * agents + agent;
  }

  private static long estimate(SplittableRandom random, long tokens) {
    return Math.max(1, Math.round(tokens * Draws.lognormal(random, ESTIMATE_SIGMA)));
  }

  private static Turn drawn(long seed, int agent, String id, AgentKind kind, int index) {
    SplittableRandom random = Draws.stream(seed, "turn", agent, index);
    int turnInTask = index % kind.turnsPerTask();
    long input = kind.drawInput(random, turnInTask);
    return new Turn(
        id,
        kind.role(),
        index,
        index / kind.turnsPerTask(),
        turnInTask == kind.turnsPerTask() - 1,
        input,
        estimate(random, input),
        kind.drawOutput(random),
        kind.maxTokens(),
        kind.toolMs() / SPEED_UP * Draws.lognormal(random, TOOL_SIGMA));
  }

  private static Turn traced(long seed, int agent, String id, int index, TraceReader.Row row) {
    SplittableRandom random = Draws.stream(seed, "turn", agent, index);
    // A trace tells what was produced, not what was allowed: the next power of two, and at least
    // 1024.
    long maxTokens = Math.max(1024, Long.highestOneBit(Math.max(1, row.outputTokens())) * 2);
    return new Turn(
        id,
        "worker",
        index,
        index / TRACE_TURNS_PER_TASK,
        index % TRACE_TURNS_PER_TASK == TRACE_TURNS_PER_TASK - 1,
        row.inputTokens(),
        estimate(random, row.inputTokens()),
        row.outputTokens(),
        maxTokens,
        AgentKind.SMALL.toolMs() / SPEED_UP * Draws.lognormal(random, TOOL_SIGMA));
  }
}
