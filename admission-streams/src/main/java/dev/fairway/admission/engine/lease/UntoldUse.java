package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a call costs in the fair queue of which nobody told how large it was: at least what calls of
 * its role take, so that saying little of it and nothing afterwards does not pay. FAIRWAY only.
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
    if (!policy.order().ranked()) {
      return lease.cost();
    }
    long input = usualInput(quota, lease.standing().role());
    return Math.max(
        lease.cost(), Charges.cost(policy, Charges.of(policy, input, output), input, output));
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

  /** A lease is reaped. */
  public static LeaseExpired expired(KeyState key, QuotaState quota, Lease lease) {
    Long cost = null;
    if (quota.policy().order().ranked() && !lease.inputKnown()) {
      cost = cost(quota, lease, ActualUse.outputSoFar(lease));
    }
    long more = quota.policy().order().ranked() ? moreOutput(lease) : 0;
    Amounts ceiling = more(lease.taken().ceiling(), more);
    Map<String, Amounts> also = new TreeMap<>();
    lease
        .taken()
        .also()
        .forEach(
            (id, held) -> {
              QuotaState other = key.quota(id);
              if (other != null && more > 0) {
                also.put(id, moved(other, lease, more(held, more)));
              }
            });
    return new LeaseExpired(
        quota.id(),
        lease.request().requestId(),
        lease.request().agentId(),
        lease.leaseId(),
        ActualUse.tagShift(lease, cost),
        Shifts.tenantTag(quota, lease, cost),
        cost,
        moved(quota, lease, more(lease.charged(), more)),
        also,
        ceiling);
  }

  /** Output that it was told to have produced beyond what was reserved: nobody gives that back. */
  private static long moreOutput(Lease lease) {
    return ActualUse.outputSoFar(lease) - lease.forecast().outputTokens();
  }

  /** The adjustment by which that much more output is charged, where output was. */
  private static Amounts more(Amounts charged, long output) {
    Amounts adjusted = Amounts.NONE;
    for (Dimension d : new Dimension[] {Dimension.OUTPUT_TOKENS, Dimension.TOKENS}) {
      adjusted = output > 0 && charged.has(d) ? adjusted.with(d, -output) : adjusted;
    }
    return adjusted;
  }

  private static Amounts moved(QuotaState quota, Lease lease, Amounts adjusted) {
    Amounts moved = adjusted;
    for (Dimension d : Dimension.values()) {
      moved = moved.has(d) ? moved.with(d, quota.moves(d, lease, moved.get(d))) : moved;
    }
    return moved;
  }
}
