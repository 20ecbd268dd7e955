package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.CacheClaimChecked;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
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
 * costs nothing.
 */
final class CacheClaims {

  private CacheClaims() {}

  /** Notes it where it changes whether the agent is believed. */
  static void check(Transaction tx, QuotaState quota, Lease lease, Settlement settlement) {
    String agentId = lease.request().agentId();
    Boolean shown = shown(lease, settlement);
    if (shown != null
        && quota.policy().order().ranked()
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
    Long endsAtMs = claim.cacheExpiresAtMs();
    boolean inTime = !lease.coldCache() && endsAtMs != null && lease.sentAtMs() < endsAtMs;
    return known && inTime ? (Boolean) false : null;
  }
}
