package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.Shift;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Taken;
import dev.fairway.admission.engine.state.TenantState;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * What a settlement moves besides its own quota's buckets: the other quotas that the lease took
 * from, the reserve of its class, and its tenant's bucket and tag. No provider's number stands for
 * a reserve or a ceiling, so nothing is absorbed there.
 */
final class Shifts {

  private Shifts() {}

  /**
   * More is known of an open lease. Of output no header tells until it ends, so that the other
   * quotas wait for the end as its own does; no header ever tells of a part.
   *
   * @param told what is told by now
   */
  static Shift atRenewal(KeyState key, QuotaState quota, Lease lease, Told told, Long cost) {
    long tenantTag = tenantTag(quota, lease, cost);
    Map<String, Amounts> also = new TreeMap<>();
    if (!Objects.equals(told.input(), lease.told().input())) {
      Amounts actual = Charges.everyDimension(told.input(), lease.forecast().outputTokens());
      also = also(key, lease, held -> actual);
    }
    if (!quota.policy().rules().has(Rule.STRICT_REPORTS) || told.sameUse(lease.told())) {
      return new Shift(also, Amounts.NONE, Amounts.NONE, tenantTag);
    }
    Taken taken = lease.taken();
    Amounts used = ActualUse.inPartsSoFar(quota, lease, told);
    // What a reserve paid beside others comes back at the end, once: nothing is charged to it.
    Amounts reserve = taken.outOfReserve() ? reserve(taken, used) : Amounts.NONE;
    return new Shift(also, reserve, difference(taken.ceiling(), used), tenantTag);
  }

  /** The lease ends. */
  static Shift atEnd(
      KeyState key,
      QuotaState quota,
      Lease lease,
      Settlement settlement,
      Amounts actual,
      long cost) {
    Amounts used = ActualUse.inParts(quota, lease, settlement, actual);
    return new Shift(
        also(key, lease, held -> ActualUse.inOther(quota.policy(), lease, settlement, held)),
        reserve(lease.taken(), used),
        difference(lease.taken().ceiling(), used),
        tenantTag(quota, lease, cost));
  }

  /**
   * What moves the other quotas.
   *
   * @param used what counts there, by what the lease holds of it
   */
  private static Map<String, Amounts> also(KeyState key, Lease lease, UnaryOperator<Amounts> used) {
    Map<String, Amounts> also = new TreeMap<>();
    lease
        .taken()
        .also()
        .forEach(
            (id, held) -> {
              QuotaState other = key.quota(id);
              if (other != null) {
                also.put(id, inOther(other, lease, held, used.apply(held)));
              }
            });
    return also;
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
