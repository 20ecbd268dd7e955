package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;

/**
 * What a call costs in the fair queue of which nobody told how large it was: at least what calls of
 * its role take, so that saying little of it and nothing afterwards does not pay. FAIRWAY only.
 */
public final class UntoldUse {

  private UntoldUse() {}

  /**
   * The cost of a call that was made.
   *
   * @param output output tokens that were told, or null
   */
  static long cost(QuotaState quota, Lease lease, Long output) {
    QuotaPolicy policy = quota.policy();
    if (!policy.order().ranked()) {
      return lease.cost();
    }
    long input = lease.inputKnown() ? 0 : usualInput(quota, lease.standing().role());
    long made = output != null ? output : lease.forecast().outputTokens();
    return Math.max(
        lease.cost(), Charges.cost(policy, Charges.of(policy, input, made), input, made));
  }

  /** Mean input of a call of that role, or of any; 0 while nothing is known. */
  static long usualInput(QuotaState quota, String role) {
    Double mean = quota.statistics().meanInput(role);
    return Math.round(mean != null ? mean : quota.statistics().meanInput());
  }

  /** A lease is reaped. */
  public static LeaseExpired expired(QuotaState quota, Lease lease) {
    Long cost = quota.policy().order().ranked() ? (Long) cost(quota, lease, null) : null;
    return new LeaseExpired(
        quota.id(),
        lease.request().requestId(),
        lease.request().agentId(),
        lease.leaseId(),
        ActualUse.tagShift(lease, cost),
        Shifts.tenantTag(quota, lease, cost),
        cost);
  }
}
