package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Row.Ending;
import dev.fairway.admission.engine.state.Row.RememberedRow;

/**
 * Which attempt of its call a request is. Counted here, never claimed: a request that names the
 * failed call it repeats is its next attempt; coming back after a reject is the attempt that was
 * rejected. Who names nothing while a failed call of its own is not retried yet is taken to retry
 * that, if it works on the same task, or on none, or on one that has made no call: leaving {@code
 * retry_of} out, or inventing a task, gains nothing.
 *
 * @param attempt from 1
 * @param budgetTask task whose retry budget it is counted in, or null
 * @param retries identity of the failed call that it retries, or null
 */
record Attempts(int attempt, String budgetTask, String retries) {

  static Attempts of(KeyState key, QuotaPolicy policy, LeaseRequest request) {
    Attempts first = new Attempts(1, request.taskId(), null);
    if (!policy.order().ranked()) {
      return first;
    }
    if (request.retryOf() == null) {
      return implied(key, request, first);
    }
    String identity = Identity.ofRequest(request.agentId(), request.retryOf());
    RememberedRow past = key.remembered(identity);
    if (past == null) {
      return unremembered(key, request, identity, first);
    }
    if (past.failed()) {
      return new Attempts(past.attempt() + 1, past.budgetTask(), identity);
    }
    if (past.ending() != Ending.REJECTED) {
      return implied(key, request, first);
    }
    Attempts again = new Attempts(past.attempt(), past.budgetTask(), null);
    return keeps(past, key.nowMs()) ? again : implied(key, request, again);
  }

  /** Whether a rejected request's place is still kept for who comes back. */
  static boolean keeps(RememberedRow past, long nowMs) {
    return past.keptTag() != null
        && past.retryAtMs() != null
        && nowMs <= past.retryAtMs() + RememberedRow.KEPT_MS;
  }

  /** The call is not settled yet, or forgotten: it says itself that it is no first attempt. */
  private static Attempts unremembered(
      KeyState key, LeaseRequest request, String identity, Attempts first) {
    String leaseId = key.openLeaseOf(identity);
    if (leaseId != null) {
      for (QuotaState quota : key.quotas()) {
        Lease lease = quota.lease(leaseId);
        if (lease != null) {
          return new Attempts(lease.attempt() + 1, lease.standing().budgetTask(), null);
        }
      }
    }
    Attempts implied = implied(key, request, first);
    return implied.attempt > 1 ? implied : new Attempts(2, request.taskId(), null);
  }

  private static Attempts implied(KeyState key, LeaseRequest request, Attempts otherwise) {
    String task = request.taskId();
    for (RememberedRow failed : key.unclaimedFailures(request.agentId())) {
      boolean same = task == null || task.equals(failed.budgetTask()) || key.callsOf(task) == 0;
      if (same && failed.attempt() >= otherwise.attempt) {
        return new Attempts(failed.attempt() + 1, failed.budgetTask(), failed.idHash());
      }
    }
    return otherwise;
  }
}
