package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.margin.LearnedLimits;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import dev.fairway.admission.engine.state.Waiter;

/** What never fits, or not as long as a limit is in force that the provider's answers named. */
public final class Limits {

  private Limits() {}

  /**
   * Why a request can never be granted.
   *
   * @param detail for people
   * @param retryAtMs when the limit that is in the way is forgotten, or null if it is the
   *     operator's own
   */
  public record Never(RejectReason reason, String detail, Long retryAtMs) {}

  /** Why what a request takes can never fit, or null if it can. */
  public static Never neverFits(QuotaState quota, Waiter waiter, Takes takes) {
    return neverFits(quota, waiter.standing().tenant(), takes);
  }

  /** The same for a request that would be served under that tenant. */
  public static Never neverFits(QuotaState quota, String tenant, Takes takes) {
    Never never = beyond(quota, takes.own());
    for (Takes.Share share : takes.also()) {
      never = longer(never, beyond(share.quota(), share.charge()));
    }
    return longer(never, beyondCeiling(quota, tenant, takes.own()));
  }

  /** What is in the way for longer, the first of equals; null is nothing. */
  private static Never longer(Never one, Never other) {
    if (one == null || other == null) {
      return one == null ? other : one;
    }
    boolean first =
        one.retryAtMs() == null
            || (other.retryAtMs() != null && one.retryAtMs() >= other.retryAtMs());
    return first ? one : other;
  }

  private static Never beyond(QuotaState quota, Amounts charge) {
    Never never = null;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.limits(d) && charge.get(d) > quota.largest(d)) {
        Never here =
            new Never(
                RejectReason.NEVER_FITS,
                "Expected at most "
                    + quota.largest(d)
                    + " "
                    + d.wireName()
                    + ", all that the limit of quota '"
                    + quota.id()
                    + "' can ever hold, but the call needs "
                    + charge.get(d)
                    + "; make it smaller"
                    + learned(quota, d, quota.largestDefined(d) >= charge.get(d)),
                retryAtMs(quota, d, quota.largestDefined(d) >= charge.get(d)));
        never = longer(never, here);
      }
    }
    return never;
  }

  private static Never beyondCeiling(QuotaState quota, String tenant, Amounts charge) {
    ShareBuckets ceiling = quota.tenant(tenant).ceiling();
    Never never = null;
    for (int i = 0; i < Dimension.count() && ceiling != null; i++) {
      Dimension d = Dimension.of(i);
      if (ceiling.has(d) && charge.get(d) > ceiling.largest(quota, d)) {
        Never here =
            new Never(
                RejectReason.TENANT_CEILING,
                "Expected at most "
                    + ceiling.largest(quota, d)
                    + " "
                    + d.wireName()
                    + ", the share of tenant '"
                    + tenant
                    + "' in the limit, but the call needs "
                    + charge.get(d)
                    + "; make it smaller, or raise the tenant's ceiling"
                    + learned(quota, d, ceiling.largestDefined(quota, d) >= charge.get(d)),
                retryAtMs(quota, d, ceiling.largestDefined(quota, d) >= charge.get(d)));
        never = longer(never, here);
      }
    }
    return never;
  }

  private static String learned(QuotaState quota, Dimension d, boolean wouldFit) {
    return wouldFit
        ? ". The provider's answers named a limit of "
            + quota.limit(d)
            + ", the definition says "
            + quota.policy().limits().get(d)
        : "";
  }

  private static Long retryAtMs(QuotaState quota, Dimension d, boolean wouldFit) {
    return wouldFit ? LearnedLimits.forgetAtMs(quota, d) : null;
  }
}
