package dev.fairway.admission.engine;

import dev.fairway.admission.engine.Event.Reweighting;
import dev.fairway.admission.engine.Event.TaskUpdated;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.TaskUpdate.State;
import dev.fairway.admission.engine.queue.Drain;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.queue.Weights;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Row.TaskNode;
import dev.fairway.admission.engine.state.TaskGraph;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A task changed. Who waits for a call of a task that others wait for weighs more, at once.
 *
 * <p>Bounded by what one command may cause: of the tasks upstream of the change {@value #MAX_TASKS}
 * are looked at, nearest first, and of their waiting requests {@value #MAX_REWEIGHTED} are weighed
 * anew, those of a task in the order in which they go. Who is beyond keeps its weight until a task
 * that waits for it changes again.
 */
final class TaskHandler {
  private static final int MAX_TASKS = 100;

  /** Leaves room for whom it lets go. */
  static final int MAX_REWEIGHTED = Transaction.MAX_EVENTS - 100;

  private TaskHandler() {}

  static void handle(Transaction tx, TaskUpdate update) {
    TaskNode before = tx.state().graph().node(update.taskId());
    List<String> blockedOn = blockedOn(tx, update, before);
    tx.emit(
        new TaskUpdated(
            update.quotaId() != null ? update.quotaId() : tx.state().key(),
            update.taskId(),
            Grammar.isId(update.role()) ? update.role() : null,
            update.state(),
            blockedOn));
    Set<String> changed = new LinkedHashSet<>(blockedOn);
    if (before != null) {
      changed.addAll(before.blockedOn());
    }
    if (before == null || !before.blockedOn().equals(blockedOn)) {
      reweight(tx, tx.state().graph().upstream(new ArrayList<>(changed), MAX_TASKS));
    }
  }

  /** What is kept of the tasks it waits for: sound ids, as many as there is room for. */
  private static List<String> blockedOn(Transaction tx, TaskUpdate update, TaskNode before) {
    if (update.state() != State.BLOCKED) {
      return List.of();
    }
    int room = tx.state().graph().room() + (before == null ? 0 : before.blockedOn().size());
    Set<String> kept = new LinkedHashSet<>();
    for (String task : update.blockedOn()) {
      boolean more = kept.size() < Math.min(room, TaskGraph.MAX_BLOCKED_ON);
      if (more && Grammar.isId(task) && !task.equals(update.taskId())) {
        kept.add(task);
      }
    }
    return List.copyOf(kept);
  }

  private static void reweight(Transaction tx, List<String> tasks) {
    Set<String> quotas = new TreeSet<>();
    int left = MAX_REWEIGHTED;
    for (String task : tasks) {
      List<Waiter> waiting = new ArrayList<>();
      tx.state().waitersOf(task).forEach(identity -> waiting.add(tx.state().waiter(identity)));
      waiting.sort(Comparator.comparingLong(Waiter::finishTag).thenComparingLong(Waiter::arrival));
      for (Waiter waiter : waiting) {
        if (left > 0 && reweight(tx, waiter)) {
          quotas.add(waiter.request().quotaId());
          left--;
        }
      }
    }
    for (String quotaId : quotas) {
      Drain.run(tx, tx.state().quota(quotaId));
    }
  }

  private static boolean reweight(Transaction tx, Waiter waiter) {
    QuotaState quota = tx.state().quota(waiter.request().quotaId());
    int weight =
        Weights.milli(tx.state(), quota, waiter.request(), waiter.standing(), waiter.attempt());
    if (!quota.policy().rules().has(Rule.TASK_GRAPH) || weight == waiter.weightMilli()) {
      return false;
    }
    tx.emit(
        new WaiterReweighted(
            quota.id(),
            waiter.request().requestId(),
            waiter.request().agentId(),
            Reweighting.TASKS,
            weight,
            Tags.finish(waiter.startTag(), waiter.cost(), weight)));
    return true;
  }
}
