package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;

/**
 * How large a call is taken to be of which nobody told it: in the fair queue, and in the parts of
 * its quota ({@link ActualUse#inParts}), at least what calls of its role take, so that saying
 * little of it and nothing afterwards does not pay.
 */
public final class UntoldUse {

  private UntoldUse() {}

  /**
   * The cost of a call that was made, and whose input nobody told.
   *
   * @param output output tokens
   */
  static long cost(QuotaState quota, Lease lease, long output) {
    QuotaPolicy policy = quota.policy();
    if (!policy.rules().has(Rule.STRICT_REPORTS)) {
      return lease.cost();
    }
    long input = usualInput(quota, lease.standing().role());
    return Math.max(
        lease.cost(), Charges.cost(quota, Charges.of(policy, input, output), input, output));
  }

  /**
   * Mean input of a call of that role, or of any; 0 while nothing is known. A role that is not
   * configured may be one agent's own, taught with calls that take next to nothing: it is no reason
   * to take a call for smaller than others are.
   */
  static long usualInput(QuotaState quota, String role) {
    double ofAll = quota.statistics().meanInput();
    Double mean = quota.statistics().meanInput(role);
    if (mean == null) {
      return Math.round(ofAll);
    }
    boolean configured = quota.policy().roles().containsKey(role);
    return Math.round(configured ? mean : Math.max(mean, ofAll));
  }

  /** Input of a call without a lease, of which nobody told it. */
  static long unleasedInput(QuotaState quota) {
    return Math.max(quota.policy().defaultEstimate(), Math.round(quota.statistics().meanInput()));
  }

  /** A lease is reaped: what is known of its call is charged, and nothing given back. */
  public static LeaseExpired expired(KeyState key, QuotaState quota, Lease lease) {
    Moves moves = Moves.atExpiry(key, quota, lease);
    return new LeaseExpired(
        quota.id(),
        lease.request().requestId(),
        lease.request().agentId(),
        lease.leaseId(),
        moves.tagShift(),
        moves.cost() == lease.cost() ? null : (Long) moves.cost(),
        moves.adjusted(),
        moves.shift());
  }
}
