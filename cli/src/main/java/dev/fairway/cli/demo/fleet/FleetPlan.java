package dev.fairway.cli.demo.fleet;

import dev.fairway.cli.demo.emulator.ModelSpeed;
import java.util.ArrayList;
import java.util.List;

/**
 * Every turn of every agent, a function of seed, size and length alone.
 *
 * <p>Agents work in groups of ten: a planner, six workers, a reviewer, and two that lint and wait
 * for nobody. The world runs {@link #SPEED_UP} times as fast as a real fleet does, tools and model
 * alike: a loop of about 90 s takes 3 s. The agents of a stage start almost at once and their tools
 * take about the same time, so that their calls come in waves.
 *
 * @param seconds length of the run for which the turns were drawn
 * @param speed the model's speed in this world
 * @param agents one plan an agent
 * @param demand what starts within {@code seconds} when nothing is held back
 */
public record FleetPlan(double seconds, ModelSpeed speed, List<AgentPlan> agents, Demand demand) {

  /** How much faster than real time the fleet's loops are. */
  public static final double SPEED_UP = 60;

  private static final double START_SPREAD_MS = 5_000 / SPEED_UP;

  public FleetPlan {
    agents = List.copyOf(agents);
  }

  /** Draws turns of the usual sizes. */
  public static FleetPlan draw(long seed, int agents, double seconds) {
    return build(seed, agents, seconds, new TurnSource.Drawn(seed));
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
    return build(seed, agents, seconds, new TurnSource.Traced(seed, agents, rows));
  }

  private static FleetPlan build(long seed, int agents, double seconds, TurnSource source) {
    if (agents < 1 || !(seconds > 0)) {
      throw new IllegalArgumentException(
          "Expected at least 1 agent and more than 0 s, but got " + agents + " and " + seconds);
    }
    ModelSpeed speed = ModelSpeed.REAL.faster(SPEED_UP);
    Unhindered unhindered = new Unhindered(source, speed, seconds * 1000);
    List<AgentPlan> plans = new ArrayList<>();
    for (int first = 0; first < agents; first += AgentKind.GROUP_SIZE) {
      List<Integer> numbers = new ArrayList<>();
      List<Double> startsMs = new ArrayList<>();
      for (int i = first; i < Math.min(agents, first + AgentKind.GROUP_SIZE); i++) {
        numbers.add(i);
        startsMs.add(Draws.stream(seed, "start", i, 0).nextDouble() * START_SPREAD_MS);
      }
      plans.addAll(unhindered.run(first / AgentKind.GROUP_SIZE, numbers, startsMs));
    }
    return new FleetPlan(seconds, speed, plans, unhindered.demand());
  }

  /** Turns of all agents. */
  public long turns() {
    return agents.stream().mapToLong(agent -> agent.turns().size()).sum();
  }
}
