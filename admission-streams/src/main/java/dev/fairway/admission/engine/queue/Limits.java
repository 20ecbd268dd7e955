package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import dev.fairway.admission.engine.state.Waiter;

/** What never fits. */
public final class Limits {

  private Limits() {}

  /**
   * Why a request can never be granted.
   *
   * @param detail for people
   */
  public record Never(RejectReason reason, String detail) {}

  /** Why what a request takes can never fit, or null if it can. */
  public static Never neverFits(QuotaState quota, Waiter waiter, Takes takes) {
    return neverFits(quota, waiter.standing().tenant(), takes);
  }

  /** The same for a request that would be served under that tenant. */
  public static Never neverFits(QuotaState quota, String tenant, Takes takes) {
    Never never = beyond(quota, takes.own());
    for (Takes.Share share : takes.also()) {
      never = never != null ? never : beyond(share.quota(), share.charge());
    }
    return never != null ? never : beyondCeiling(quota, tenant, takes.own());
  }

  private static Never beyond(QuotaState quota, Amounts charge) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.limits(d) && charge.get(d) > quota.largest(d)) {
        return new Never(
            RejectReason.NEVER_FITS,
            "Expected at most "
                + quota.largest(d)
                + " "
                + d.wireName()
                + ", all that the limit of quota '"
                + quota.id()
                + "' can ever hold, but the call needs "
                + charge.get(d)
                + "; make it smaller");
      }
    }
    return null;
  }

  private static Never beyondCeiling(QuotaState quota, String tenant, Amounts charge) {
    ShareBuckets ceiling = quota.tenant(tenant).ceiling();
    for (int i = 0; i < Dimension.count() && ceiling != null; i++) {
      Dimension d = Dimension.of(i);
      if (ceiling.has(d) && charge.get(d) > ceiling.largest(quota, d)) {
        return new Never(
            RejectReason.TENANT_CEILING,
            "Expected at most "
                + ceiling.largest(quota, d)
                + " "
                + d.wireName()
                + ", the share of tenant '"
                + tenant
                + "' in the limit, but the call needs "
                + charge.get(d)
                + "; make it smaller, or raise the tenant's ceiling");
      }
    }
    return null;
  }
}
