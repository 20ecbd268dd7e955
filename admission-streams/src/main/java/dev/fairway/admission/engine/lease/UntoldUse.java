package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;

/**
 * How large a call is taken to be of which nobody told it, its input or its output: in the fair
 * queue, and in the parts of its quota ({@link ActualUse#inParts}), at least what calls of its role
 * take, so that saying little of it and nothing afterwards does not pay.
 */
public final class UntoldUse {

  private UntoldUse() {}

  /**
   * The cost of a call that was made, and whose input nobody told.
   *
   * @param output output tokens
   */
  static long cost(QuotaState quota, Lease lease, long output) {
    long input = usualInput(quota, lease.standing().role());
    Amounts charge = Charges.of(quota.policy(), input, output);
    return Math.max(lease.cost(), Charges.cost(quota, charge, input, output));
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

  /**
   * Output that three of four calls of that role do not exceed, as it counts; for a role that is
   * not configured, of any role if that is more. 0 while nothing is known.
   */
  static long usualOutput(QuotaState quota, String role) {
    Long ofAll = quota.statistics().outputP75();
    if (ofAll == null) {
      return 0;
    }
    long own = quota.statistics().outputP75(role);
    boolean configured = quota.policy().roles().containsKey(role);
    return quota.policy().accounting().countedOutput(configured ? own : Math.max(own, ofAll));
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
