package dev.fairway.replay.world;

import dev.fairway.schemas.TaskState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Ten agents and their task graph: the planner's end starts six workers, the last worker's end
 * starts the reviewer and the planner's next pull request, the reviewer's end merges. Two lint
 * leaves loop beside them.
 */
final class Group {
  static final int SIZE = 10;

  private static final Role[] WORKERS = {
    Role.REFACTOR, Role.REFACTOR, Role.TEST_FIX, Role.TEST_FIX, Role.SMALL, Role.SMALL
  };
  private static final int LINTS = 2;
  private static final double FLEET_START_MS = 5000;
  private static final double WORKER_START_MS = 500;

  /** Who waits for a worker: the reviewer, and the planner's next pull request. */
  private static final int WAIT_FOR_A_WORKER = 2;

  private final World world;
  private final int number;
  private final Agent planner;
  private final Agent reviewer;
  private final List<Agent> workers = new ArrayList<>();
  private final List<Agent> lints = new ArrayList<>();
  private final ArrayDeque<PullRequest> toReview = new ArrayDeque<>();
  private boolean reviewing;

  private static final class PullRequest {
    final int number;
    long criticalWaitMs;
    int workersLeft = WORKERS.length;

    PullRequest(int number) {
      this.number = number;
    }
  }

  Group(World world, int number) {
    this.world = world;
    this.number = number;
    int index = number * SIZE;
    planner = agent(index++, Role.PLANNER, "planner", WORKERS.length);
    for (int w = 0; w < WORKERS.length; w++) {
      workers.add(agent(index++, WORKERS[w], "worker" + w, WAIT_FOR_A_WORKER));
    }
    reviewer = agent(index++, Role.REVIEWER, "reviewer", 0);
    for (int l = 0; l < LINTS; l++) {
      lints.add(agent(index++, Role.LINT, "lint" + l, 0));
    }
  }

  private Agent agent(int index, Role role, String name, int unblocks) {
    return world.agent(new Caller(index, "g" + number + "." + name, role, unblocks));
  }

  void start() {
    world
        .agenda()
        .at(
            world.work().startMs(planner.index(), 0, FLEET_START_MS),
            () -> plan(new PullRequest(0)));
    for (Agent lint : lints) {
      world.agenda().at(world.work().startMs(lint.index(), 0, FLEET_START_MS), () -> lint(lint, 0));
    }
  }

  private void lint(Agent agent, int loop) {
    String task = agent.id() + "." + loop;
    world.gate().task(TaskState.STARTED, task, agent.role(), agent.id(), List.of());
    agent.begin(
        task,
        waitMs -> {
          world.gate().task(TaskState.DONE, task, agent.role(), agent.id(), List.of());
          lint(agent, loop + 1);
        });
  }

  private void plan(PullRequest pr) {
    String task = task(pr.number, "planner");
    tell(TaskState.STARTED, task, planner, List.of());
    List<String> workerTasks = new ArrayList<>();
    for (int w = 0; w < workers.size(); w++) {
      workerTasks.add(task(pr.number, "worker" + w));
      tell(TaskState.BLOCKED, workerTasks.get(w), workers.get(w), List.of(task));
    }
    tell(TaskState.BLOCKED, task(pr.number, "reviewer"), reviewer, workerTasks);
    tell(TaskState.BLOCKED, task(pr.number + 1, "planner"), planner, workerTasks);
    planner.begin(
        task,
        waitMs -> {
          pr.criticalWaitMs += waitMs;
          tell(TaskState.DONE, task, planner, List.of());
          for (int w = 0; w < workers.size(); w++) {
            startWorker(pr, w);
          }
        });
  }

  private void startWorker(PullRequest pr, int w) {
    Agent worker = workers.get(w);
    String task = task(pr.number, "worker" + w);
    long afterMs = world.work().startMs(worker.index(), pr.number, WORKER_START_MS);
    world
        .agenda()
        .in(
            afterMs,
            () -> {
              tell(TaskState.STARTED, task, worker, List.of());
              worker.begin(
                  task,
                  waitMs -> {
                    tell(TaskState.DONE, task, worker, List.of());
                    workerDone(pr, waitMs);
                  });
            });
  }

  private void workerDone(PullRequest pr, long waitMs) {
    pr.workersLeft--;
    if (pr.workersLeft == 0) {
      pr.criticalWaitMs += waitMs;
      toReview.add(pr);
      review();
      plan(new PullRequest(pr.number + 1));
    }
  }

  private void review() {
    PullRequest pr = reviewing ? null : toReview.poll();
    if (pr == null) {
      return;
    }
    reviewing = true;
    String task = task(pr.number, "reviewer");
    tell(TaskState.STARTED, task, reviewer, List.of());
    reviewer.begin(
        task,
        waitMs -> {
          tell(TaskState.MERGED, task, reviewer, List.of());
          world.observer().merged(world.nowMs(), number, pr.criticalWaitMs + waitMs);
          reviewing = false;
          review();
        });
  }

  private String task(int pullRequest, String name) {
    return "g" + number + ".pr" + pullRequest + "." + name;
  }

  private void tell(TaskState state, String task, Agent agent, List<String> blockedOn) {
    world.gate().task(state, task, agent.role(), agent.id(), blockedOn);
  }
}
