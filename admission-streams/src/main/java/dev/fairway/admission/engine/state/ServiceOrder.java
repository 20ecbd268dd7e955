package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.queue.AdmissionOrder;
import dev.fairway.admission.engine.queue.FairQueue.Prefix;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/**
 * The order of a quota's tenants and their lines. A tenant whose requests wait is one backlogged
 * flow: its k-th request ends at its start tag plus the lengths of the first k. So who of another
 * tenant is served before a tag is a prefix of that tenant's line, found by its summed length.
 */
final class ServiceOrder implements AdmissionOrder {
  private final QuotaState quota;

  ServiceOrder(QuotaState quota) {
    this.quota = quota;
  }

  @Override
  public int size() {
    return quota.waiting;
  }

  @Override
  public Waiter head() {
    List<TenantState> tenants = tenants();
    return tenants.isEmpty() ? null : tenants.get(0).head();
  }

  @Override
  public List<TenantState> tenants() {
    List<TenantState> waiting = new ArrayList<>();
    for (TenantState tenant : quota.tenants.values()) {
      if (tenant.line.size() > 0) {
        waiting.add(tenant);
      }
    }
    if (waiting.size() > 1) {
      waiting.sort(
          Comparator.<TenantState>comparingLong(tenant -> topTag(tenant, tenant.head(), 0))
              .thenComparingLong(tenant -> tenant.head().arrival()));
    }
    return waiting;
  }

  private long topTag(TenantState tenant, Waiter waiter, long lengthBefore) {
    return quota.policy.order().hasTenants()
        ? end(tenant, tenant.tag, lengthBefore, waiter)
        : waiter.finishTag();
  }

  private static long end(TenantState tenant, long tag, long lengthBefore, Waiter waiter) {
    return Amounts.saturatedAdd(
        Amounts.saturatedAdd(tag, lengthBefore), tenant.length(waiter.cost()));
  }

  @Override
  public long topTag(Waiter waiter) {
    if (!quota.policy.order().hasTenants()) {
      return waiter.finishTag();
    }
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    if (tenant.line.size() == 0) {
      return end(tenant, quota.startOf(tenant), 0, waiter);
    }
    long before = tenant.line.before(waiter.finishTag(), waiter.arrival()).length();
    return end(tenant, tenant.tag, before, waiter);
  }

  @Override
  public Ahead ahead(Waiter waiter) {
    TenantState own = quota.tenant(waiter.standing().tenant());
    long topTag = topTag(waiter);
    Sum sum = new Sum();
    for (TenantState tenant : quota.tenants.values()) {
      if (tenant.line.size() > 0) {
        sum.add(
            tenant,
            tenant == own
                ? tenant.line.before(waiter.finishTag(), waiter.arrival())
                : tenant.line.upToLength(
                    Amounts.saturatedSubtract(topTag, tenant.tag), waiter.arrival()));
      }
    }
    return sum.ahead();
  }

  @Override
  public Ahead before(long topTag, long arrival) {
    Sum sum = new Sum();
    for (TenantState tenant : quota.tenants.values()) {
      if (tenant.line.size() > 0) {
        sum.add(
            tenant,
            quota.policy.order().hasTenants()
                ? tenant.line.upToLength(Amounts.saturatedSubtract(topTag, tenant.tag), arrival)
                : tenant.line.before(topTag, arrival));
      }
    }
    return sum.ahead();
  }

  private static final class Sum {
    private int count;
    private Amounts demand = Amounts.NONE;
    private Amounts inLanes = Amounts.NONE;
    private Map<String, Amounts> byTenant = Map.of();

    void add(TenantState tenant, Prefix prefix) {
      count += prefix.count();
      demand = demand.plus(prefix.demand());
      inLanes = inLanes.plus(prefix.inLanes());
      if (tenant.ceiling != null) {
        byTenant = new TreeMap<>(byTenant);
        byTenant.merge(tenant.name, prefix.demand(), Amounts::plus);
      }
    }

    Ahead ahead() {
      return new Ahead(count, demand, inLanes, byTenant);
    }
  }

  @Override
  public Amounts inLanes() {
    Amounts all = Amounts.NONE;
    for (TenantState tenant : quota.tenants.values()) {
      all = all.plus(tenant.line.inLanes());
    }
    return all;
  }

  @Override
  public void forEach(BiPredicate<Waiter, Ahead> visitor) {
    List<TenantState> tenants = tenants();
    PriorityQueue<Cursor> cursors = new PriorityQueue<>(Math.max(1, tenants.size()));
    tenants.forEach(tenant -> cursors.add(new Cursor(tenant)));
    Sum sum = new Sum();
    while (!cursors.isEmpty()) {
      Cursor next = cursors.poll();
      if (!visitor.test(next.waiter, sum.ahead())) {
        return;
      }
      sum.add(next.tenant, next.own());
      if (next.advance()) {
        cursors.add(next);
      }
    }
  }

  private final class Cursor implements Comparable<Cursor> {
    private final TenantState tenant;
    private final Iterator<Waiter> rest;
    private long length;
    private Waiter waiter;
    private long topTag;

    Cursor(TenantState tenant) {
      this.tenant = tenant;
      this.rest = tenant.line.iterator();
      advance();
    }

    /** The request at hand, as a prefix of one. */
    Prefix own() {
      Amounts demand = waiter.demand();
      boolean inLane = LineApplier.lanes(quota, waiter) != 0;
      return new Prefix(1, demand, inLane ? demand : Amounts.NONE, tenant.length(waiter.cost()));
    }

    boolean advance() {
      if (!rest.hasNext()) {
        return false;
      }
      waiter = rest.next();
      topTag = topTag(tenant, waiter, length);
      length = Amounts.saturatedAdd(length, tenant.length(waiter.cost()));
      return true;
    }

    @Override
    public int compareTo(Cursor other) {
      int byTag = Long.compare(topTag, other.topTag);
      return byTag != 0 ? byTag : Long.compare(waiter.arrival(), other.waiter.arrival());
    }
  }
}
