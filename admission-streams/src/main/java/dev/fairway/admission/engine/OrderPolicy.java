package dev.fairway.admission.engine;

import dev.fairway.admission.engine.QuotaDefinition.Budgets;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.bucket.FixedPoint;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The knobs of a definition that decide in which order, and at whose cost, requests are served.
 *
 * @param tenants tenants by name, in order of name; empty if the quota has one level only
 * @param reserves classes with a reserve, in order of name; their index is their lane
 * @param retriesPerTask most retries of one task, and of an agent in an hour; null: no bound
 * @param retryShareBp share of a quota's calls that may be retries; null: no bound
 * @param also quotas of the same key that a lease takes from too, in order of definition
 */
public record OrderPolicy(
    Map<String, TenantPolicy> tenants,
    List<Reserve> reserves,
    Integer retriesPerTask,
    Integer retryShareBp,
    List<String> also) {

  /** The tenant of who matches none. */
  public static final String DEFAULT_TENANT = "default";

  /** The class of who claims one that it may not have. */
  public static final String DEFAULT_CLASS = "batch";

  /** Most downstream tasks that weigh. */
  public static final int MAX_UNBLOCKS = 32;

  /** Retries a minute that need no calls beside them. */
  public static final int RETRY_FLOOR = 10;

  private static final int DEFAULT_RETRIES_PER_TASK = 12;
  private static final double DEFAULT_RETRY_SHARE = 0.1;
  private static final TenantPolicy ANYBODY =
      new TenantPolicy(1000, null, List.of(), List.of(), List.of(), MAX_UNBLOCKS);

  /**
   * A tenant.
   *
   * @param weightMilli weight among tenants, thousandths
   * @param ceilingBp share of each limit it may use at most, or null
   * @param agents agent id patterns; empty: nobody by its id, and anybody by its claim
   * @param roles roles its agents may claim; empty: all
   * @param classes classes its agents may claim; empty: all
   * @param maxUnblocks most downstream tasks that weigh
   */
  public record TenantPolicy(
      int weightMilli,
      Integer ceilingBp,
      List<String> agents,
      List<String> roles,
      List<String> classes,
      int maxUnblocks) {}

  /** A class with a share of the rate of its own, basis points. */
  public record Reserve(String leaseClass, int shareBp) {}

  static OrderPolicy of(QuotaDefinition d) {
    boolean seed = d.preset() == Preset.SEED;
    Budgets b = d.budgets() != null ? d.budgets() : new Budgets(null, null, null);
    Integer retries = b.retriesPerTask();
    Double share = b.retryShare();
    if (!seed) {
      retries = retries != null ? retries : (Integer) DEFAULT_RETRIES_PER_TASK;
      share = share != null ? share : (Double) DEFAULT_RETRY_SHARE;
    }
    TreeMap<String, TenantPolicy> tenants = new TreeMap<>();
    d.tenants().forEach((name, tenant) -> tenants.put(name, tenant(tenant)));
    List<Reserve> reserves = new ArrayList<>();
    new TreeMap<>(d.classes())
        .forEach(
            (name, reserve) -> {
              if (reserve > 0) {
                reserves.add(new Reserve(name, Math.max(1, bp(reserve))));
              }
            });
    return new OrderPolicy(
        Collections.unmodifiableSortedMap(tenants),
        List.copyOf(reserves),
        retries,
        share == null ? null : (Integer) bp(share),
        List.copyOf(d.also()));
  }

  private static TenantPolicy tenant(Tenant t) {
    return new TenantPolicy(
        (int) Math.max(1, Math.round(t.weight() * 1000)),
        t.ceiling() == null ? null : (Integer) Math.max(1, bp(t.ceiling())),
        t.agents(),
        t.roles(),
        t.classes(),
        t.maxUnblocks() == null
            ? MAX_UNBLOCKS
            : Math.max(0, Math.min(t.maxUnblocks(), MAX_UNBLOCKS)));
  }

  private static int bp(double share) {
    return (int) Math.round(share * FixedPoint.ONE_BP);
  }

  /** Whether tenants are served before agents: two levels. */
  public boolean hasTenants() {
    return !tenants.isEmpty();
  }

  /** The tenant of that name; who is not defined is anybody, at weight 1. */
  public TenantPolicy tenant(String name) {
    return tenants.getOrDefault(name, ANYBODY);
  }

  /** Position of the class among those with a reserve, or -1. */
  public int laneOf(String leaseClass) {
    for (int i = 0; i < reserves.size(); i++) {
      if (reserves.get(i).leaseClass().equals(leaseClass)) {
        return i;
      }
    }
    return -1;
  }
}
