package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.MarginRestored;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/**
 * The margin falls at once and recovers slowly: additive increase, and a decrease by a step, for it
 * is the distance to a limit that is known and not a rate to be found.
 */
public final class Aimd {

  private Aimd() {}

  /**
   * A 429 on a granted lease. One episode cuts once: leases granted before the last cut were
   * granted at the old margin and say nothing of the new one, and neither does a refused probe of
   * an open breaker, which is still the same episode. Without episodes every 429 cuts, at the floor
   * too. Where the balance follows the provider's level, the safety factor takes the margin's
   * place.
   */
  public static void rateLimited(Transaction tx, QuotaState quota, Lease lease) {
    boolean every = !quota.policy().rules().has(Rule.EPISODES);
    if (!every && sameEpisode(quota, lease)) {
      return;
    }
    if (quota.anyIn(MarginModeName.ADAPTIVE)) {
      SafetyFactor.raise(tx, quota);
    }
    if (quota.anyIn(MarginModeName.RATE) || quota.anyIn(MarginModeName.RESERVE)) {
      int from = quota.marginBp();
      int to = Math.max(quota.policy().marginFloorBp(), from - quota.policy().marginCutBp());
      if (every || to < from) {
        tx.emit(new MarginCut(quota.id(), from, to));
      }
    }
  }

  private static boolean sameEpisode(QuotaState quota, Lease lease) {
    Long lastCut = quota.lastCutAtMs();
    boolean probe = quota.breaker().isUnproven() && !quota.breaker().predates(lease.grantedAtMs());
    return probe || (lastCut != null && lease.grantedAtMs() <= lastCut);
  }

  /** Gives back one step for each clean interval that is over. */
  public static void restoreDue(Transaction tx, QuotaState quota) {
    SafetyFactor.fallDue(tx, quota);
    while (quota.restoreDueMs() <= tx.nowMs() && tx.hasRoom()) {
      int from = quota.marginBp();
      int start = quota.policy().marginStartBp();
      int to = Math.min(start, from + quota.policy().marginCreepBp());
      tx.emit(new MarginRestored(quota.id(), from, to));
    }
  }
}
