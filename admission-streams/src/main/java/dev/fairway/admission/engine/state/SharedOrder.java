package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.lease.Charges;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Quotas that begin, or cease, to be drained in one order with others. Costs and tags count shares
 * of a minute there, and tokens of its own limit in a quota on its own: the one says nothing in the
 * other, and neither do shares of a limit and mere tokens. So whoever waits then starts like a
 * newcomer, in order of arrival.
 */
final class SharedOrder {

  private SharedOrder() {}

  /**
   * Which quotas are in a shared order, of those that a definition may bring in or let out.
   *
   * @param quota the quota as it is, or null if it is new
   */
  static Map<String, Boolean> before(KeyState key, QuotaState quota, QuotaDefinition definition) {
    Map<String, Boolean> members = new TreeMap<>();
    definition.also().forEach(name -> note(key, name, members));
    if (quota != null) {
      quota.policy.order().also().forEach(name -> note(key, name, members));
      note(key, quota.id(), members);
    }
    return members;
  }

  private static void note(KeyState key, String name, Map<String, Boolean> members) {
    QuotaState quota = key.quotas.get(name);
    if (quota != null) {
      members.put(name, quota.inSharedOrder());
    }
  }

  /**
   * A quota was defined, and its line is empty. None that shares starts behind the virtual time of
   * another; otherwise who comes in where time stood still would be ahead of all the others.
   *
   * @param recosted whether calls cost something else in it now, where it is on its own
   * @return whether who waited in it starts like a newcomer
   */
  static boolean redefined(
      KeyState key, QuotaState quota, Map<String, Boolean> before, boolean recosted) {
    key.linkAlso(quota);
    for (QuotaState taker : key.takersOf(quota)) {
      FlowTags.raise(key, quota.id(), taker.virtualTime());
    }
    for (String name : quota.policy.order().also()) {
      FlowTags.raise(key, name, quota.virtualTime());
    }
    boolean shared = quota.inSharedOrder();
    boolean anew = before.getOrDefault(quota.id(), shared) != shared || (recosted && !shared);
    if (anew) {
      forgetTags(key, quota);
    }
    before.keySet().stream()
        .filter(name -> !name.equals(quota.id()))
        .forEach(name -> changed(key, name, before.get(name)));
    return anew;
  }

  /** A quota that took from those is gone. */
  static void left(KeyState key, List<String> also) {
    also.forEach(name -> changed(key, name, true));
  }

  private static void changed(KeyState key, String name, boolean before) {
    QuotaState quota = key.quotas.get(name);
    if (quota == null || quota.inSharedOrder() == before) {
      return;
    }
    List<Waiter> waiting = Remeasure.takeOutAll(key, quota);
    forgetTags(key, quota);
    Remeasure.putBack(key, quota, waiting, Map.of(), true);
    key.touched.add(quota.id());
  }

  private static void forgetTags(KeyState key, QuotaState quota) {
    for (TenantState tenant : quota.tenants.values()) {
      key.endPlaces(quota, tenant);
      for (String agent : tenant.flows.agents()) {
        key.changes.delete(Row.flowId(quota.id(), tenant.name, agent));
      }
      tenant.flows = new Flows();
      tenant.tag = quota.topVirtualTime;
      key.putTenant(quota, tenant);
    }
    for (Lease lease : List.copyOf(quota.leases.values())) {
      if (lease.status() != Lease.Status.SETTLED) {
        // A settlement moves tags by what it used more, or less, than this.
        long cost = Charges.knownCost(quota, lease);
        LeaseApplier.replace(key, quota, lease, lease.costing(cost));
      }
    }
  }

  /**
   * Virtual time of what a quota takes from too, or {@link Long#MIN_VALUE}. Those of several quotas
   * run at speeds of their own. Where others wait it is the slowest that a call has to wait for, so
   * that it starts with who waits there; a quota that others wait for has its own.
   */
  static long virtualTime(KeyState key, QuotaState quota) {
    if (isWantedByOthers(key, quota, quota)) {
      return Long.MIN_VALUE;
    }
    long latest = Long.MIN_VALUE;
    long least = Long.MAX_VALUE;
    for (String name : quota.policy.order().also()) {
      QuotaState other = key.quota(name);
      if (other != null) {
        long time = other.virtualTime();
        latest = Math.max(latest, time);
        boolean wanted = other.waiting > 0 || isWantedByOthers(key, other, quota);
        least = wanted ? Math.min(least, time) : least;
      }
    }
    return least < Long.MAX_VALUE ? least : latest;
  }

  /** Whether anybody waits in a quota that takes from that one too, but for one of them. */
  private static boolean isWantedByOthers(KeyState key, QuotaState taken, QuotaState but) {
    return key.takersOf(taken).stream().anyMatch(taker -> taker != but && taker.waiting > 0);
  }
}
