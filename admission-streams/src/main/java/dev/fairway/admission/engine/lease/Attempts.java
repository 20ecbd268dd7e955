package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Row.Ending;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import java.util.List;

/**
 * Which attempt of its call a request is. Counted here, never claimed: a request that names the
 * failed call it repeats is its next attempt; coming back after a reject is the attempt that was
 * rejected. Who names nothing while a failed call of its own is not retried yet is taken to retry
 * that, if it works on the same task, or on none, or on one that has made no call, or if more than
 * one is not retried yet: leaving {@code retry_of} out, or changing tasks, gains nothing. Where the
 * failed call's task has no retries left, or is another one that has made calls, such a request is
 * counted in its agent's, so that a task that is given up locks nobody out of the next one.
 *
 * @param attempt from 1
 * @param budgetTask task whose retry budget it is counted in, or null for its agent's
 * @param retries identity of the failed call that it retries, or null
 * @param impliedUntilMs until when that call is taken to be retried by who names none; null where
 *     the request says so itself, and for a first attempt
 */
record Attempts(int attempt, String budgetTask, String retries, Long impliedUntilMs) {
  /**
   * Failed calls of an agent that may wait for their retries while its other tasks go on. With more
   * of them each is retried by what comes next, in its agent's budget: else an agent with many
   * tasks would have none.
   */
  private static final int WAITING_FAILURES = 1;

  static Attempts of(KeyState key, QuotaPolicy policy, LeaseRequest request) {
    Attempts first = first(request);
    if (!policy.rules().has(Rule.COUNTED_ATTEMPTS)) {
      return first;
    }
    Integer most = policy.order().retriesPerTask();
    if (request.retryOf() == null) {
      return implied(key, most, request, first);
    }
    String identity = Identity.ofRequest(request.agentId(), request.retryOf());
    RememberedRow past = key.remembered(identity);
    if (past == null) {
      return unremembered(key, most, request, identity, first);
    }
    if (past.failed()) {
      return new Attempts(past.attempt() + 1, past.budgetTask(), identity, null);
    }
    if (past.ending() != Ending.REJECTED || past.reason() == RejectReason.BUDGET_SPENT) {
      return implied(key, most, request, first); // What was spent then may be there now.
    }
    Attempts again = new Attempts(past.attempt(), past.budgetTask(), null, null);
    return keeps(past, key.nowMs()) ? again : implied(key, most, request, again);
  }

  /** The first attempt of its call. */
  static Attempts first(LeaseRequest request) {
    return new Attempts(1, request.taskId(), null, null);
  }

  /** Whether a rejected request's place is still kept for who comes back. */
  static boolean keeps(RememberedRow past, long nowMs) {
    return past.keptTag() != null
        && past.retryAtMs() != null
        && nowMs <= past.retryAtMs() + RememberedRow.KEPT_MS;
  }

  /** The call is not settled yet, or forgotten: it says itself that it is no first attempt. */
  private static Attempts unremembered(
      KeyState key, Integer most, LeaseRequest request, String identity, Attempts first) {
    String leaseId = key.openLeaseOf(identity);
    if (leaseId != null) {
      for (QuotaState quota : key.quotas()) {
        Lease lease = quota.lease(leaseId);
        if (lease != null) {
          return new Attempts(lease.attempt() + 1, lease.standing().budgetTask(), null, null);
        }
      }
    }
    Attempts implied = implied(key, most, request, first);
    return implied.attempt > 1 ? implied : new Attempts(2, request.taskId(), null, null);
  }

  private static Attempts implied(
      KeyState key, Integer most, LeaseRequest request, Attempts otherwise) {
    String agent = request.agentId();
    String task = request.taskId();
    boolean inTask = task != null && key.callsOf(task) > 0;
    RememberedRow own = task == null ? null : latest(key.unclaimedFailures(agent, task), otherwise);
    if (own != null) {
      return retrying(own, task);
    }
    if (inTask) {
      boolean many = key.unclaimedCount(agent) > WAITING_FAILURES;
      return many && otherwise.attempt == 1
          ? retrying(key.oldestUnclaimed(agent), null)
          : otherwise;
    }
    RememberedRow other = latest(key.unclaimedFailures(agent), otherwise);
    if (other == null) {
      return otherwise;
    }
    String budgetTask = other.budgetTask();
    boolean spent = budgetTask != null && most != null && key.retriesOf(budgetTask) >= most;
    return retrying(other, spent ? null : budgetTask);
  }

  /** The latest failure that is no earlier an attempt than the request is anyway, or null. */
  private static RememberedRow latest(List<RememberedRow> failures, Attempts otherwise) {
    return failures.stream()
        .filter(failed -> failed.attempt() >= otherwise.attempt)
        .findFirst()
        .orElse(null);
  }

  private static Attempts retrying(RememberedRow failed, String budgetTask) {
    return new Attempts(failed.attempt() + 1, budgetTask, failed.idHash(), failed.forgetAtMs());
  }
}
