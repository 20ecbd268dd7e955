package dev.fairway.cli.demo.fleet;

/**
 * Where an agent stands in its group's work on a pull request: the planner's task opens the
 * workers', the last worker's opens the reviewer's, and the workers being done lets the planner
 * begin the next one.
 */
public enum Stage {
  /** Plans a pull request. */
  PLAN,
  /** Does what was planned. */
  WORK,
  /** Reviews it; its end is a merged pull request. */
  REVIEW,
  /** Waits for nobody. */
  FREE;

  /** The stage whose tasks must be done first, or null. */
  Stage after() {
    if (this == PLAN || this == REVIEW) {
      return WORK;
    }
    return this == WORK ? PLAN : null;
  }

  /** Number of the task that must be done first, for task {@code task} of this stage. */
  int afterTask(int task) {
    return this == PLAN ? task - 1 : task;
  }
}
