package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.CacheClaimChecked;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/**
 * What agents say that they have cached, held against what their calls read. Who claimed a cached
 * prefix, sent in time, and read less than half of it, is not believed until a call of its own
 * reads one: a claim moves a request up ({@link dev.fairway.admission.engine.queue.CacheBump}), and
 * costs nothing. Nor is who lets a lease expire without a word of what it read.
 */
public final class CacheClaims {

  private CacheClaims() {}

  /** Notes it where it changes whether the agent is believed. */
  static void check(Transaction tx, QuotaState quota, Lease lease, Settlement settlement) {
    note(tx, quota, lease, shown(lease, settlement));
  }

  /** A lease was reaped. What an interim settlement told of its input was looked at then. */
  public static void expired(Transaction tx, QuotaState quota, Lease lease) {
    boolean claimed = lease.request().estimate().cachedTokens() > 0;
    if (claimed && !lease.inputKnown() && inTime(lease)) {
      note(tx, quota, lease, false);
    }
  }

  private static void note(Transaction tx, QuotaState quota, Lease lease, Boolean shown) {
    String agentId = lease.request().agentId();
    if (shown != null
        && quota.policy().rules().has(Rule.CACHE_BUMP)
        && shown != quota.statistics().believesCache(agentId)) {
      tx.emit(new CacheClaimChecked(quota.id(), agentId, shown));
    }
  }

  /** Whether the call read what was claimed; null where it says nothing of that. */
  private static Boolean shown(Lease lease, Settlement settlement) {
    Estimate claim = lease.request().estimate();
    if (claim.cachedTokens() <= 0) {
      return null;
    }
    Usage usage = settlement.usage();
    boolean told = usage != null && usage.inputTokens() != null;
    long read = usage == null ? 0 : ActualUse.orZero(usage.cacheReadTokens());
    if (read >= claim.cachedTokens() - read) {
      return true;
    }
    // Who says nothing at all of a call that succeeded has not shown it either.
    boolean known = told || (settlement.outcome() == Outcome.SUCCEEDED && !lease.inputKnown());
    return known && inTime(lease) ? (Boolean) false : null;
  }

  private static boolean inTime(Lease lease) {
    Long endsAtMs = lease.request().estimate().cacheExpiresAtMs();
    return !lease.coldCache() && endsAtMs != null && lease.sentAtMs() < endsAtMs;
  }
}
