package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import java.util.List;

/**
 * Bounds on calls and retries: calls of a task, retries of a task (without a task id: of an agent
 * in a rolling hour), and the share of a quota's calls that may be retries.
 */
final class CallBudgets {

  private CallBudgets() {}

  /**
   * A budget that is spent.
   *
   * @param detail for people
   * @param retryAtMs when it may be better, or null for never
   */
  record Spent(String detail, Long retryAtMs) {}

  /**
   * What stands against one more call, or null.
   *
   * @param taskId task of the call, or null
   * @param budgetTask task whose retries it is counted in, or null
   */
  static Spent spent(
      KeyState key,
      QuotaState quota,
      String agentId,
      String taskId,
      int attempt,
      String budgetTask) {
    Integer calls = quota.policy().callsPerTask();
    if (calls != null && taskId != null && key.callsOf(taskId) >= calls) {
      return new Spent("Task '" + taskId + "' has made its " + calls + " calls", null);
    }
    OrderPolicy order = quota.policy().order();
    if (!order.ranked() || attempt <= 1) {
      return null;
    }
    Spent retries = spentRetries(key, order.retriesPerTask(), agentId, budgetTask);
    return retries != null ? retries : spentShare(quota, order.retryShareBp(), key.nowMs());
  }

  private static Spent spentRetries(KeyState key, Integer most, String agentId, String budgetTask) {
    if (most == null) {
      return null;
    }
    if (budgetTask != null) {
      return key.retriesOf(budgetTask) >= most
          ? new Spent(
              "Task '"
                  + budgetTask
                  + "' has made its "
                  + most
                  + " retries; find out why its calls fail before it makes more",
              null)
          : null;
    }
    List<Long> times = key.retriesOfAgent(agentId);
    int bound = Math.min(most, KeyState.MAX_RETRIES_NOTED);
    if (times.size() < bound) {
      return null;
    }
    Long retryAtMs =
        bound == 0 ? null : (Long) (times.get(times.size() - bound) + KeyState.RETRY_MS);
    return new Spent(
        "Agent '"
            + agentId
            + "' has made its "
            + most
            + " retries of this hour without a task id; find out why its calls fail",
        retryAtMs);
  }

  private static Spent spentShare(QuotaState quota, Integer shareBp, long nowMs) {
    if (shareBp == null) {
      return null;
    }
    double share = shareBp / 10_000.0;
    double retries = quota.calls().retries(nowMs) + 1;
    double allowed = Math.max(OrderPolicy.RETRY_FLOOR, share * (quota.calls().calls(nowMs) + 1));
    if (retries <= allowed) {
      return null;
    }
    return new Spent(
        "More than "
            + share * 100
            + " % of this minute's calls of quota '"
            + quota.id()
            + "' are retries, and more than "
            + OrderPolicy.RETRY_FLOOR
            + "; calls fail more often than they should",
        nowMs + 60_000);
  }
}
