package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.Shift;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Taken;
import dev.fairway.admission.engine.state.TenantState;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a settlement moves besides its own quota's buckets: the other quotas that the lease took
 * from, the reserve of its class, and its tenant's bucket and tag. No provider's number stands for
 * a reserve or a ceiling, so nothing is absorbed there.
 */
final class Shifts {

  private Shifts() {}

  /**
   * More is known of an open lease; reserve and ceiling wait for the end.
   *
   * @param input its input if that is new, else null
   */
  static Shift atRenewal(KeyState key, QuotaState quota, Lease lease, Long input, Long cost) {
    if (input == null) {
      return new Shift(Map.of(), Amounts.NONE, Amounts.NONE, tenantTag(quota, lease, cost));
    }
    long output = lease.forecast().outputTokens();
    Map<String, Amounts> also = new TreeMap<>();
    lease
        .taken()
        .also()
        .forEach(
            (id, held) -> {
              QuotaState other = key.quota(id);
              if (other != null) {
                Amounts actual = Charges.everyDimension(input, output);
                also.put(id, inOther(other, lease, held, actual));
              }
            });
    return new Shift(also, Amounts.NONE, Amounts.NONE, tenantTag(quota, lease, cost));
  }

  /** The lease ends. */
  static Shift atEnd(
      KeyState key, QuotaState quota, Lease lease, Settlement settlement, Amounts actual) {
    Taken taken = lease.taken();
    Map<String, Amounts> also = new TreeMap<>();
    taken
        .also()
        .forEach(
            (id, held) -> {
              QuotaState other = key.quota(id);
              if (other != null) {
                Amounts used = ActualUse.inOther(quota.policy(), lease, settlement, held);
                also.put(id, inOther(other, lease, held, used));
              }
            });
    return new Shift(
        also,
        reserve(taken, actual),
        difference(taken.ceiling(), actual),
        tenantTag(quota, lease, ActualUse.cost(quota, lease, settlement, actual)));
  }

  /** What moves another quota, as far as {@link QuotaState#moves} has it. */
  private static Amounts inOther(QuotaState other, Lease lease, Amounts held, Amounts actual) {
    Amounts difference = difference(held, actual);
    for (Dimension d : Dimension.values()) {
      if (difference.has(d)) {
        difference = difference.with(d, other.moves(d, lease, difference.get(d)));
      }
    }
    return difference;
  }

  /** Per dimension that refills: held less actual, positive for a refund. */
  private static Amounts difference(Amounts held, Amounts actual) {
    Amounts difference = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      if (d.refills() && held.has(d) && actual.has(d)) {
        difference = difference.with(d, Amounts.saturatedSubtract(held.get(d), actual.get(d)));
      }
    }
    return difference;
  }

  /**
   * What the reserve paid comes back as far as the call used less than that. Where it paid alone,
   * what the call used beyond its estimate is the reserve's debt: else a call that claims to need
   * nothing would always be let in.
   */
  private static Amounts reserve(Taken taken, Amounts actual) {
    Amounts shift = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      if (taken.reserve().has(d) && actual.has(d)) {
        long paid = taken.reserve().get(d);
        long used = taken.outOfReserve() ? actual.get(d) : Math.min(paid, actual.get(d));
        shift = shift.with(d, Amounts.saturatedSubtract(paid, used));
      }
    }
    return shift;
  }

  /**
   * What the tenant's tag moves.
   *
   * @param cost in the fair queue, or null where nothing is known but the estimate
   */
  static long tenantTag(QuotaState quota, Lease lease, Long cost) {
    TenantState tenant = quota.tenant(lease.standing().tenant());
    if (cost == null || tenant == null || !quota.policy().order().hasTenants()) {
      return 0;
    }
    return tenant.length(cost) - tenant.length(lease.cost());
  }
}
