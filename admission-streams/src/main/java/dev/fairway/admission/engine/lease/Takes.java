package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a grant would take at one time: from its own quota, and from each that this one takes from
 * too. All of it is taken in one step, or none.
 *
 * @param own charge of its own quota
 * @param also charges of the others
 * @param cold whether the cached prefix counts
 */
public record Takes(Amounts own, List<Share> also, boolean cold) {

  /** What is taken from another quota. */
  public record Share(QuotaState quota, Amounts charge) {}

  /** What a request takes at that time; every quota it takes from must be defined. */
  public static Takes of(QuotaState quota, LeaseRequest request, Forecast forecast, long atMs) {
    boolean cold = Charges.coldCache(quota.policy(), request, atMs);
    Amounts own = Charges.estimated(request, forecast, quota.policy(), cold);
    Amounts demand = Charges.demand(request, forecast, quota.policy(), cold);
    return new Takes(own, demand == null ? List.of() : also(quota, demand), cold);
  }

  /** What a waiting request takes at that time. */
  public static Takes of(QuotaState quota, Waiter waiter, long atMs) {
    return of(quota, waiter.request(), waiter.forecast(), atMs);
  }

  /** What a call takes from the other quotas, by what it takes of every dimension. */
  static List<Share> also(QuotaState quota, Amounts demand) {
    List<Share> also = new ArrayList<>();
    for (QuotaState other : quota.also()) {
      also.add(new Share(other, Charges.limitedBy(other.policy(), demand)));
    }
    return also;
  }

  /** The charges of the others by quota id. */
  public Map<String, Amounts> alsoById() {
    if (also.isEmpty()) {
      return Map.of();
    }
    Map<String, Amounts> charges = new TreeMap<>();
    also.forEach(share -> charges.put(share.quota().id(), share.charge()));
    return charges;
  }
}
