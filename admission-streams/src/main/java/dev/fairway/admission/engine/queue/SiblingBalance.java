package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Row.TaskRow;
import dev.fairway.admission.engine.state.Statistics;
import java.util.List;

/**
 * Of tasks that unblock the same task, the one with the most work left decides when that can go on:
 * it weighs more, and those that will wait for it weigh less. Work left is learned: mean input of a
 * call of the role, times the calls that a task of the role still makes.
 */
final class SiblingBalance {
  private static final int MOST_SIBLINGS = 64;
  private static final double LEAST = 0.5;
  private static final double MOST = 4;
  private static final int EVEN = 1000;

  private SiblingBalance() {}

  /** Factor of a task's weight in thousandths; 1000 while nothing is known. */
  static int milli(KeyState key, QuotaState quota, String taskId, String role) {
    if (taskId == null) {
      return EVEN;
    }
    List<TaskRow> siblings = key.graph().runningSiblings(taskId, MOST_SIBLINGS);
    if (siblings.isEmpty()) {
      return EVEN;
    }
    Double own = workLeft(quota.statistics(), role, key.callsOf(taskId));
    double sum = 0;
    int known = 0;
    for (TaskRow sibling : siblings) {
      Double work = workLeft(quota.statistics(), sibling.role(), sibling.calls());
      if (work != null) {
        sum += work;
        known++;
      }
    }
    if (own == null || known == 0 || sum <= 0) {
      return EVEN;
    }
    double ratio = own / (sum / known);
    return (int) Math.round(EVEN * Math.max(LEAST, Math.min(ratio, MOST)));
  }

  private static Double workLeft(Statistics learned, String role, int callsDone) {
    Double input = role == null ? null : learned.meanInput(role);
    Double calls = role == null ? null : learned.callsPerTask(role);
    return input == null || calls == null ? null : input * Math.max(1, calls - callsDone);
  }
}
