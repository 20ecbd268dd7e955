package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.state.Row.FlowRow;

/** Moves the finish tags of the fair queue, and its virtual times. */
final class FlowTags {

  private FlowTags() {}

  static void moveTime(KeyState key, QuotaState quota, TenantState tenant, long virtualTime) {
    tenant.virtualTime = virtualTime;
    for (String agent : tenant.flows.forgetUpTo(virtualTime)) {
      key.changes.delete(Row.flowId(quota.id(), tenant.name, agent));
    }
  }

  /** Who comes anew to a quota that is taken from starts where those are that take from it. */
  static void raise(KeyState key, String quotaId, long virtualTime) {
    QuotaState other = key.quotas.get(quotaId);
    if (other == null) {
      return;
    }
    if (other.policy.order().hasTenants()) {
      other.topVirtualTime = Math.max(other.topVirtualTime, virtualTime);
    } else {
      TenantState tenant = other.tenant(OrderPolicy.DEFAULT_TENANT);
      moveTime(key, other, tenant, Math.max(tenant.virtualTime, virtualTime));
    }
    key.touched.add(quotaId);
  }

  static void shiftTags(KeyState key, QuotaState quota, Lease lease, LeaseSettled e) {
    TenantState tenant = quota.tenant(lease.standing().tenant());
    if (tenant == null) {
      return; // No longer defined.
    }
    shiftTag(key, quota, tenant, e.agentId(), e.tagShift());
    if (e.shift().tenantTag() != 0) {
      long tag = Amounts.saturatedAdd(tenant.tag, e.shift().tenantTag());
      tenant.tag = Math.max(quota.topVirtualTime, tag);
      key.putTenant(quota, tenant);
    }
  }

  /** Moves an agent's finish tag, never behind the virtual time. */
  static void shiftTag(
      KeyState key, QuotaState quota, TenantState tenant, String agentId, long shift) {
    if (shift != 0) {
      long tag = Amounts.saturatedAdd(tenant.startTag(agentId), shift);
      setTag(key, quota, tenant, agentId, tag);
    }
  }

  static void setTag(KeyState key, QuotaState quota, TenantState tenant, String agentId, long tag) {
    Long old = tenant.flows.tag(agentId);
    if (tenant.flows.set(agentId, tag, tenant.virtualTime)) {
      key.changes.put(new FlowRow(quota.id(), agentId, tag, tenant.name));
    } else if (old != null) {
      key.changes.delete(Row.flowId(quota.id(), tenant.name, agentId));
    }
  }
}
