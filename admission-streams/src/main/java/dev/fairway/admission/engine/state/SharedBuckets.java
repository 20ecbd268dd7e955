package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.Shift;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.Map;
import java.util.TreeMap;

/**
 * Changes to what a lease takes from besides its own quota's buckets: other quotas, the reserve of
 * its class, and its tenant's own bucket. A part that is no longer defined is passed over.
 */
final class SharedBuckets {

  private SharedBuckets() {}

  static void take(KeyState key, QuotaState quota, Standing standing, Taken taken) {
    takeAlso(key, taken.also());
    ShareBuckets reserve = quota.reserves().of(standing.leaseClass());
    if (reserve != null && !taken.reserve().isEmpty()) {
      reserve.refill(quota, key.nowMs);
      reserve.charge(taken.reserve());
      key.changes.put(RowLoader.reserveRow(quota, standing.leaseClass()));
    }
    takeOfCeiling(key, quota, standing.tenant(), taken.ceiling());
  }

  static void takeOfCeiling(KeyState key, QuotaState quota, String tenantName, Amounts charge) {
    TenantState tenant = quota.tenant(tenantName);
    if (tenant.ceiling != null) {
      tenant.ceiling.refill(quota, key.nowMs);
      tenant.ceiling.charge(charge);
      key.putTenant(quota, tenant);
    }
  }

  static void takeAlso(KeyState key, Map<String, Amounts> also) {
    also.forEach(
        (id, charge) -> {
          QuotaState other = key.quotas.get(id);
          if (other != null) {
            Buckets.refill(key, other);
            Buckets.charge(other, charge);
          }
        });
  }

  static void adjust(KeyState key, QuotaState quota, Lease lease, Shift shift) {
    shift
        .also()
        .forEach(
            (id, adjusted) -> {
              QuotaState other = key.quotas.get(id);
              if (other != null) {
                Buckets.refill(key, other);
                Buckets.adjust(other, adjusted);
              }
            });
    ShareBuckets reserve = quota.reserves().of(lease.standing().leaseClass());
    if (reserve != null && !shift.reserve().isEmpty()) {
      reserve.refill(quota, key.nowMs);
      reserve.adjust(quota, shift.reserve());
      key.changes.put(RowLoader.reserveRow(quota, lease.standing().leaseClass()));
    }
    TenantState tenant = quota.tenant(lease.standing().tenant());
    if (tenant != null && tenant.ceiling != null && !shift.ceiling().isEmpty()) {
      tenant.ceiling.refill(quota, key.nowMs);
      tenant.ceiling.adjust(quota, shift.ceiling());
      key.putTenant(quota, tenant);
    }
  }

  static void freeSlots(KeyState key, QuotaState quota, Lease lease) {
    lease
        .taken()
        .also()
        .forEach(
            (id, charged) -> {
              QuotaState other = key.quotas.get(id);
              if (other != null && charged.has(Dimension.CONCURRENT_REQUESTS)) {
                Buckets.freeSlot(other, charged);
                key.touched.add(id);
              }
            });
    TenantState tenant = quota.tenant(lease.standing().tenant());
    if (tenant != null
        && tenant.ceiling != null
        && lease.taken().ceiling().has(Dimension.CONCURRENT_REQUESTS)) {
      tenant.ceiling.freeSlot(lease.taken().ceiling());
      key.putTenant(quota, tenant);
    }
  }

  /** Counts what an open lease holds of other quotas, in or out. */
  static void hold(KeyState key, Lease lease, boolean in) {
    lease
        .taken()
        .also()
        .forEach(
            (id, charged) -> {
              QuotaState other = key.quotas.get(id);
              if (other != null) {
                other.reserved = in ? other.reserved.plus(charged) : other.reserved.minus(charged);
                other.heldByOthers += in ? 1 : -1;
                if (in) {
                  other.indexUncertain(lease, charged);
                } else {
                  other.unindexUncertain(lease.leaseId());
                }
              }
            });
  }

  /** What is held of other quotas, and of its quota's parts, after an adjustment. */
  static Taken left(Taken taken, Shift shift) {
    if (shift.also().isEmpty() && shift.ceiling().isEmpty() && shift.reserve().isEmpty()) {
      return taken;
    }
    Map<String, Amounts> held = new TreeMap<>(taken.also());
    shift.also().forEach((id, adjusted) -> held.computeIfPresent(id, (i, a) -> a.minus(adjusted)));
    return taken.holding(
        held, taken.reserve().minus(shift.reserve()), taken.ceiling().minus(shift.ceiling()));
  }

  /** Brings every part up to now, before what it is a share of changes. */
  static void refillParts(KeyState key, QuotaState quota) {
    quota.reserves.buckets.values().forEach(reserve -> reserve.refill(quota, key.nowMs));
    for (TenantState tenant : quota.tenants.values()) {
      if (tenant.ceiling != null) {
        tenant.ceiling.refill(quota, key.nowMs);
      }
    }
  }

  /** After what they are a share of changed: the caps came down, or rose. */
  static void clipParts(KeyState key, QuotaState quota) {
    quota.reserves.buckets.forEach(
        (name, reserve) -> {
          reserve.clip(quota);
          key.changes.put(RowLoader.reserveRow(quota, name));
        });
    for (TenantState tenant : quota.tenants.values()) {
      if (tenant.ceiling != null) {
        tenant.ceiling.clip(quota);
        key.putTenant(quota, tenant);
      }
    }
  }
}
