package dev.fairway.cli.demo.fleet;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Holds each agent until the tasks that its next one builds on are done. Thread-safe. */
final class Gates {
  private final Map<GroupStage, Integer> members = new HashMap<>();
  private final Map<Gate, Integer> done = new HashMap<>();

  private record GroupStage(int group, Stage stage) {}

  private record Gate(int group, Stage stage, int task) {}

  Gates(List<AgentPlan> agents) {
    agents.forEach(
        agent -> members.merge(new GroupStage(agent.group(), agent.stage()), 1, Integer::sum));
  }

  /**
   * Waits until the task may begin, or until the run is over.
   *
   * @return whether the run goes on
   */
  synchronized boolean await(AgentPlan agent, int task, Clock clock) throws InterruptedException {
    while (!clock.over() && !open(agent, task)) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(clock.endNanos() - System.nanoTime());
      if (leftMs > 0) {
        wait(leftMs);
      }
    }
    return !clock.over();
  }

  /** A task is done. */
  synchronized void done(AgentPlan agent, int task) {
    done.merge(new Gate(agent.group(), agent.stage(), task), 1, Integer::sum);
    notifyAll();
  }

  /** Lets everybody look at the clock again. */
  synchronized void wake() {
    notifyAll();
  }

  private boolean open(AgentPlan agent, int task) {
    Stage stage = agent.stage().after();
    int before = agent.stage().afterTask(task);
    if (stage == null || before < 0) {
      return true;
    }
    // A group that is cut short has no members in some stages, and nobody waits for them.
    int needed = members.getOrDefault(new GroupStage(agent.group(), stage), 0);
    return done.getOrDefault(new Gate(agent.group(), stage, before), 0) >= needed;
  }
}
