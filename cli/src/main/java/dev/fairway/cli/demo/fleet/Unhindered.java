package dev.fairway.cli.demo.fleet;

import dev.fairway.cli.demo.emulator.ModelSpeed;
import java.util.ArrayList;
import java.util.List;

/**
 * The fleet's run if no call ever waits, in virtual time: which turns there are, and what they
 * demand. Waiting only ever delays, so a real run never gets beyond these turns.
 */
final class Unhindered {
  /**
   * Drawn beyond the end, because a real model call may be a moment faster than the virtual one.
   */
  private static final int SPARE_TASKS = 1;

  private final TurnSource source;
  private final ModelSpeed speed;
  private final double endMs;
  private long calls;
  private long inputTokens;
  private long outputTokens;

  Unhindered(TurnSource source, ModelSpeed speed, double endMs) {
    this.source = source;
    this.speed = speed;
    this.endMs = endMs;
  }

  Demand demand() {
    return new Demand(calls, inputTokens, outputTokens);
  }

  /**
   * Runs a group.
   *
   * @param group number of the group
   * @param agents numbers of its agents
   * @param startsMs when each may begin
   */
  List<AgentPlan> run(int group, List<Integer> agents, List<Double> startsMs) {
    List<Agent> all = new ArrayList<>();
    for (int i = 0; i < agents.size(); i++) {
      all.add(new Agent(agents.get(i), startsMs.get(i)));
    }
    boolean staged = all.stream().anyMatch(agent -> source.stage(agent.number) != Stage.FREE);
    double workDoneMs = 0;
    for (int left = SPARE_TASKS; staged && left >= 0; ) {
      double planDoneMs = doTask(all, Stage.PLAN, workDoneMs);
      workDoneMs = doTask(all, Stage.WORK, planDoneMs);
      doTask(all, Stage.REVIEW, workDoneMs);
      left -= workDoneMs >= endMs ? 1 : 0;
    }
    for (Agent agent : all) {
      if (source.stage(agent.number) == Stage.FREE) {
        for (int left = SPARE_TASKS; left >= 0; ) {
          agent.doTask(0);
          left -= agent.atMs >= endMs ? 1 : 0;
        }
      }
    }
    return all.stream()
        .map(
            agent ->
                new AgentPlan(
                    TurnSource.id(agent.number),
                    source.kind(agent.number),
                    group,
                    source.stage(agent.number),
                    agent.startMs,
                    agent.turns))
        .toList();
  }

  /** All agents of a stage do their next task; returns when the last one is done. */
  private double doTask(List<Agent> all, Stage stage, double openedMs) {
    double doneMs = openedMs;
    for (Agent agent : all) {
      if (source.stage(agent.number) == stage) {
        agent.doTask(openedMs);
        doneMs = Math.max(doneMs, agent.atMs);
      }
    }
    return doneMs;
  }

  private final class Agent {
    private final int number;
    private final double startMs;
    private final List<Turn> turns = new ArrayList<>();
    private double atMs;

    Agent(int number, double startMs) {
      this.number = number;
      this.startMs = startMs;
      this.atMs = startMs;
    }

    void doTask(double openedMs) {
      atMs = Math.max(atMs, openedMs);
      Turn turn;
      do {
        turn = source.turn(number, turns.size());
        turns.add(turn);
        if (atMs < endMs) {
          calls++;
          inputTokens += turn.inputTokens();
          outputTokens += turn.outputTokens();
        }
        atMs += speed.callMs(turn.id(), turn.outputTokens()) + turn.toolMs();
      } while (!turn.place().last());
    }
  }
}
