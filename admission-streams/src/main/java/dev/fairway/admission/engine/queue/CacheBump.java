package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.Reweighting;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Waiter;

/**
 * A request whose cache is about to end, and that can still use it, counts twice, once: what it
 * saves is charged to nobody. Whose calls do not read what they claim is not believed.
 */
public final class CacheBump {
  private static final long SOON_MS = 60_000;

  private CacheBump() {}

  /** The new weight of a waiting request, or null where there is no reason. */
  public static WaiterReweighted of(KeyState key, QuotaState quota, Waiter waiter, long atMs) {
    if (!quota.policy().rules().has(Rule.CACHE_BUMP)
        || waiter.standing().cacheBumped()
        || !quota.statistics().believesCache(waiter.request().agentId())
        || !endsSoon(waiter, atMs)) {
      return null;
    }
    int weight = waiter.weightMilli() * 2;
    long finish = Tags.finish(waiter.startTag(), waiter.cost(), weight);
    Waiter bumped = waiter.weighing(weight, finish, waiter.standing());
    long leftMs = waiter.request().estimate().cacheExpiresAtMs() - atMs;
    if (Eta.leastMs(key, quota, bumped, atMs) >= leftMs) {
      return null; // It would come too late all the same.
    }
    return new WaiterReweighted(
        quota.id(),
        waiter.request().requestId(),
        waiter.request().agentId(),
        Reweighting.CACHE,
        weight,
        finish);
  }

  private static boolean endsSoon(Waiter waiter, long atMs) {
    Estimate estimate = waiter.request().estimate();
    Long endsAtMs = estimate.cacheExpiresAtMs();
    boolean soon = endsAtMs != null && endsAtMs > atMs && endsAtMs - atMs < SOON_MS;
    return soon && estimate.cachedTokens() > waiter.forecast().inputTokens();
  }
}
