package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.bucket.Bucket;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.state.Row.RowId;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The tenants and the reserves of a quota, as its definition has them. */
final class Parts {

  private Parts() {}

  /** Parts of a quota that has none yet; their buckets are empty. */
  static void define(QuotaState quota) {
    OrderPolicy order = quota.policy.order();
    TreeSet<String> names = new TreeSet<>(order.tenants().keySet());
    names.add(OrderPolicy.DEFAULT_TENANT);
    names.forEach(name -> quota.tenants.put(name, new TenantState(name, order)));
    order
        .reserves()
        .forEach(
            r -> quota.reserves.buckets.put(r.leaseClass(), new ShareBuckets(r.shareBp(), false)));
  }

  /** Parts of a new quota: ceilings are full, reserves have their share of what there is. */
  static void start(KeyState key, QuotaState quota) {
    define(quota);
    quota.tenants.values().forEach(tenant -> startCeiling(key, quota, tenant));
    quota.reserves.buckets.keySet().forEach(name -> startReserve(key, quota, name));
  }

  private static void startCeiling(KeyState key, QuotaState quota, TenantState tenant) {
    if (tenant.ceiling != null) {
      tenant.ceiling.start(quota, key.nowMs);
    }
    key.putTenant(quota, tenant);
  }

  private static void startReserve(KeyState key, QuotaState quota, String leaseClass) {
    ShareBuckets reserve = quota.reserves().of(leaseClass);
    boolean[] there = new boolean[Dimension.count()];
    for (int i = 0; i < there.length; i++) {
      there[i] = reserve.buckets[i] != null;
    }
    reserve.start(quota, key.nowMs);
    for (int i = 0; i < there.length; i++) {
      if (!there[i] && reserve.buckets[i] != null) {
        Dimension d = Dimension.of(i);
        long level = Math.max(0, quota.bucketAt(d, key.nowMs).balance());
        long share =
            FixedPoint.mulDiv(
                level,
                quota
                    .policy
                    .order()
                    .reserves()
                    .get(quota.policy.order().laneOf(leaseClass))
                    .shareBp(),
                FixedPoint.ONE_BP);
        reserve.buckets[i] = Bucket.at(Math.min(share, reserve.cap(quota, d)));
      }
    }
    key.changes.put(RowLoader.reserveRow(quota, leaseClass));
  }

  /**
   * Parts after a definition changed: what is still defined keeps its tags and, at the same share,
   * its levels. Of slots a ceiling has what its tenant's open calls leave of it, whatever it was
   * before: nothing but their ends would ever correct another number. The lines are empty: who
   * waits is put in again.
   */
  static void redefine(KeyState key, QuotaState quota, OrderPolicy before) {
    Map<String, TenantState> tenants = new TreeMap<>(quota.tenants);
    Map<String, ShareBuckets> reserves = new TreeMap<>(quota.reserves.buckets);
    quota.tenants.clear();
    quota.reserves.buckets.clear();
    define(quota);
    tenants.forEach(
        (name, old) -> {
          TenantState tenant = quota.tenant(name);
          if (tenant == null) {
            key.deleteTenant(quota, old);
            return;
          }
          tenant.virtualTime = old.virtualTime;
          tenant.tag = old.tag;
          tenant.flows = old.flows;
          boolean sameShare =
              old.ceiling != null
                  && tenant.ceiling != null
                  && old.policy.ceilingBp().equals(tenant.policy.ceilingBp());
          if (sameShare) {
            keep(old.ceiling, tenant.ceiling);
          }
        });
    if (!quota.policy.order().hasTenants() && before.hasTenants()) {
      key.changes.delete(new RowId(Row.Kind.TENANT, quota.id(), OrderPolicy.DEFAULT_TENANT));
    }
    reserves.forEach(
        (name, old) -> {
          ShareBuckets reserve = quota.reserves().of(name);
          if (reserve == null) {
            key.changes.delete(new RowId(Row.Kind.RESERVE, quota.id(), name));
          } else if (before
              .reserves()
              .get(before.laneOf(name))
              .equals(quota.policy.order().reserves().get(quota.policy.order().laneOf(name)))) {
            keep(old, reserve);
          }
        });
    quota.tenants.values().forEach(tenant -> startCeiling(key, quota, tenant));
    LeaseApplier.takeCeilingSlots(key, quota);
    quota.reserves.buckets.keySet().forEach(name -> startReserve(key, quota, name));
    SharedBuckets.clipParts(key, quota);
  }

  private static void keep(ShareBuckets old, ShareBuckets share) {
    System.arraycopy(old.buckets, 0, share.buckets, 0, old.buckets.length);
    share.refilledAtMs = old.refilledAtMs;
  }
}
