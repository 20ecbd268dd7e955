package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.TaskRow;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * No request is taken for a task that has made the calls, or the retries, that its quota allows;
 * none for the retry of an agent that has made its hour's without a task; and of a quota's calls of
 * the last minute only so many are retries.
 */
final class BudgetBook {
  private static final long HOUR_MS = 3_600_000;
  private static final long DAY_MS = 24 * HOUR_MS;

  private BudgetBook() {}

  static List<String> budgetsHold(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, TaskRow> tasks = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.LeaseEnqueued e) {
          QuotaDefinition quota = Invariants.snapshot(step, e.quotaId()).definition();
          // A day after its last call, a task is forgotten.
          tasks.values().removeIf(task -> task.touchedAtMs() + DAY_MS <= step.atMs());
          check(quota, e.waiter(), tasks, wrong);
        }
      }
      tasks.clear();
      for (Row row : step.rows()) {
        if (row instanceof TaskRow r) {
          tasks.put(r.taskId(), r);
        }
      }
    }
    return wrong;
  }

  /** Retries of an agent that count in no task, in a rolling hour. */
  static List<String> agentsRetryWithinTheirHour(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Row.RetriesRow> retries = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.LeaseEnqueued e && isRetry(step, e.waiter())) {
          Row.RetriesRow made = retries.get(e.waiter().request().agentId());
          Integer most =
              Invariants.snapshot(step, e.quotaId()).definition().budgets().retriesPerTask();
          long inHour =
              made == null
                  ? 0
                  : made.atMs().stream().filter(atMs -> atMs > step.atMs() - HOUR_MS).count();
          if (e.waiter().standing().budgetTask() == null && inHour >= most) {
            wrong.add(made + " is followed by another retry, of " + most);
          }
        }
      }
      retries.clear();
      for (Row row : step.rows()) {
        if (row instanceof Row.RetriesRow r) {
          retries.put(r.agentId(), r);
        }
      }
    }
    return wrong;
  }

  private static boolean isRetry(Step step, Waiter waiter) {
    QuotaDefinition quota = Invariants.snapshot(step, waiter.request().quotaId()).definition();
    return waiter.attempt() > 1 && Definitions.has(quota, Rule.COUNTED_ATTEMPTS);
  }

  private static void check(
      QuotaDefinition quota, Waiter waiter, Map<String, TaskRow> tasks, List<String> wrong) {
    String id = Invariants.id(waiter.request().agentId(), waiter.request().requestId());
    TaskRow task = tasks.get(waiter.request().taskId());
    Integer calls = quota.budgets().callsPerTask();
    if (calls != null && task != null && task.calls() >= calls) {
      wrong.add(id + " is one call more than the " + calls + " of its task");
    }
    TaskRow counted = tasks.get(waiter.standing().budgetTask());
    Integer retries = quota.budgets().retriesPerTask();
    boolean retry = waiter.attempt() > 1 && Definitions.has(quota, Rule.COUNTED_ATTEMPTS);
    if (retry && retries != null && counted != null && counted.retries() >= retries) {
      wrong.add(id + " is one retry more than the " + retries + " of its task");
    }
  }
}
