package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import java.math.BigDecimal;
import java.util.List;

/**
 * Bounds on calls and retries: calls of a task, retries of a task, and the share of a quota's calls
 * that may be retries. Without a task id: retries of one call, and those of its agent in a rolling
 * hour, of which its successful calls take some off.
 */
final class CallBudgets {

  private static final long STEP_MS = 1_000;

  /** Both minutes that a share is counted over are past by then. */
  private static final long LONGEST_MS = 120_000;

  private CallBudgets() {}

  /**
   * A budget that is spent.
   *
   * @param detail for people
   * @param retryAtMs when it may be better, or null for never
   */
  record Spent(String detail, Long retryAtMs) {

    /** The same for a request that is taken for a retry until then. */
    Spent ofImplied(long untilMs) {
      return new Spent(
          detail
              + " (without retry_of a request is taken for the retry of a failed call of its agent"
              + " that nobody has retried, until that is forgotten)",
          retryAtMs == null ? untilMs : Math.min(retryAtMs, untilMs));
    }
  }

  /**
   * What stands against one more call, or null.
   *
   * @param taskId task of the call, or null
   */
  static Spent spent(
      KeyState key, QuotaState quota, String agentId, String taskId, Attempts attempts) {
    Integer calls = quota.policy().callsPerTask();
    if (calls != null && taskId != null && key.callsOf(taskId) >= calls) {
      return new Spent("Task '" + taskId + "' has made its " + calls + " calls", null);
    }
    OrderPolicy order = quota.policy().order();
    if (!quota.policy().rules().has(Rule.COUNTED_ATTEMPTS) || attempts.attempt() <= 1) {
      return null;
    }
    Spent spent = spentRetries(key, order.retriesPerTask(), agentId, attempts);
    spent = spent != null ? spent : spentShare(quota, order.retryShareBp(), key.nowMs());
    Long impliedUntilMs = attempts.impliedUntilMs();
    return spent == null || impliedUntilMs == null ? spent : spent.ofImplied(impliedUntilMs);
  }

  private static Spent spentRetries(KeyState key, Integer most, String agentId, Attempts attempts) {
    if (most == null) {
      return null;
    }
    String budgetTask = attempts.budgetTask();
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
    if (attempts.impliedUntilMs() == null && attempts.attempt() - 1 > most) {
      return new Spent(
          "The call that it retries has been retried "
              + most
              + " times; find out why it fails before it is made once more",
          null);
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
            + " retries of this hour that count in no task, and too few of its calls succeed to"
            + " make up for them; find out why its calls fail",
        retryAtMs);
  }

  private static Spent spentShare(QuotaState quota, Integer shareBp, long nowMs) {
    if (shareBp == null) {
      return null;
    }
    double share = shareBp / 10_000.0;
    if (hasRoom(quota, share, nowMs)) {
      return null;
    }
    // Retries leave the minute one by one: who was told a whole minute would find it empty.
    long roomAtMs = nowMs + STEP_MS;
    while (!hasRoom(quota, share, roomAtMs) && roomAtMs < nowMs + LONGEST_MS) {
      roomAtMs += STEP_MS;
    }
    return new Spent(
        "Of this minute's calls of quota '"
            + quota.id()
            + "' "
            + OrderPolicy.RETRY_FLOOR
            + " and "
            + BigDecimal.valueOf(shareBp, 2).stripTrailingZeros().toPlainString()
            + " % are retries, which is the most; calls fail more often than they should",
        roomAtMs);
  }

  private static boolean hasRoom(QuotaState quota, double share, long atMs) {
    double retries = quota.calls().retries(atMs) + 1;
    return retries <= OrderPolicy.RETRY_FLOOR + share * (quota.calls().calls(atMs) + 1);
  }
}
