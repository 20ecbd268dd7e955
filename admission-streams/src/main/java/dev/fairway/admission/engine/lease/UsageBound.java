package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;

/**
 * How much of its quota one call can be said to have used: at most what ten minutes of the limit
 * hold, of the quota or of one that it takes from. A provider refuses what exceeds its limit, and
 * only output, or a limit set far below the provider's, goes beyond; a report of more is an error
 * of whoever wrote it, and closes the quota for ten minutes and not for days.
 */
final class UsageBound {
  private static final long MINUTES = 10;

  private UsageBound() {}

  /**
   * The settlement, with a usage that a call can have had; from one that was cut nothing is
   * learned.
   */
  static Settlement within(QuotaState quota, Settlement s) {
    Usage told = s.usage();
    if (quota == null || told == null || !quota.policy().rules().has(Rule.STRICT_REPORTS)) {
      return s;
    }
    Told before = toldBefore(quota, s);
    Usage usage = input(quota, told, before.output());
    usage = output(quota, usage, before.input());
    return usage.equals(told) ? s : SettlementRules.using(usage, s);
  }

  private static Told toldBefore(QuotaState quota, Settlement s) {
    Lease lease = s.leaseId() == null ? null : quota.lease(s.leaseId());
    return lease == null ? Told.NOTHING : lease.told();
  }

  private static Usage input(QuotaState quota, Usage told, Long outputBefore) {
    long beside = told.outputTokens() == null ? ActualUse.orZero(outputBefore) : 0;
    long most = most(quota, Dimension.INPUT_TOKENS, beside);
    if (told.inputTokens() == null || ActualUse.countedInput(quota.policy(), told) <= most) {
      return told;
    }
    ProviderAccounting counts = quota.policy().accounting();
    return new Usage(
        most,
        counts.cacheReadsCount() ? (Long) 0L : told.cacheReadTokens(),
        counts.cacheWritesCount() ? (Long) 0L : told.cacheWriteTokens(),
        told.outputTokens(),
        false);
  }

  private static Usage output(QuotaState quota, Usage told, Long inputBefore) {
    long beside =
        told.inputTokens() == null
            ? ActualUse.orZero(inputBefore)
            : ActualUse.countedInput(quota.policy(), told);
    long most = most(quota, Dimension.OUTPUT_TOKENS, beside);
    if (ActualUse.orZero(ActualUse.countedOutput(quota.policy(), told)) <= most) {
      return told;
    }
    return new Usage(
        told.inputTokens(),
        told.cacheReadTokens(),
        told.cacheWriteTokens(),
        quota.policy().accounting().outputWithin(most),
        false);
  }

  /**
   * The most of a dimension.
   *
   * @param beside what of the call counts in a limit of both input and output already
   */
  private static long most(QuotaState quota, Dimension d, long beside) {
    long most = mostIn(quota, d, beside);
    if (quota.also() != null) {
      for (QuotaState other : quota.also()) {
        most = Math.min(most, mostIn(other, d, beside));
      }
    }
    return most;
  }

  private static long mostIn(QuotaState quota, Dimension d, long beside) {
    long both = Math.max(0, tenMinutes(quota, Dimension.TOKENS) - beside);
    return Math.min(tenMinutes(quota, d), both);
  }

  private static long tenMinutes(QuotaState quota, Dimension d) {
    return quota.limits(d) ? MINUTES * quota.largestDefined(d) : Long.MAX_VALUE;
  }

  /**
   * What of the use of a call without a lease is charged: what it takes down to one limit below
   * nothing. Such a call is over when it is reported, maybe for long, and the provider's own level,
   * which has refilled since, was never lower than that.
   */
  static Amounts notTooDeep(QuotaState quota, Amounts used, long atMs) {
    Amounts charge = used;
    for (Dimension d : Dimension.values()) {
      if (d.refills() && used.has(d) && quota.limits(d)) {
        long level = quota.bucketAt(d, atMs).balance();
        long left = Math.max(0, Amounts.saturatedAdd(level, quota.largestDefined(d)));
        charge = charge.with(d, Math.min(used.get(d), left));
      }
    }
    return charge;
  }
}
