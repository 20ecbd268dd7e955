package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.lease.Claims;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.state.Row.FlowRow;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import java.util.EnumSet;
import java.util.Set;

/** Moves the finish tags of the fair queue, and its virtual times. */
final class FlowTags {
  /** These say nothing of how large calls are, and may bring the call back to its place. */
  private static final Set<Outcome> REFUSALS = EnumSet.of(Outcome.RATE_LIMITED, Outcome.OVERLOADED);

  private FlowTags() {}

  static void moveTime(KeyState key, QuotaState quota, TenantState tenant, long virtualTime) {
    tenant.virtualTime = virtualTime;
    for (String agent : tenant.flows.forgetUpTo(virtualTime, key.nowMs, tenant::waits)) {
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

  static void settled(KeyState key, QuotaState quota, Lease lease, LeaseSettled e) {
    boolean tells = !REFUSALS.contains(e.outcome());
    String tenant = lease.standing().tenant();
    used(key, quota, tenant, e.agentId(), e.tagShift(), e.shift().tenantTag(), tells);
  }

  /** More, or less, is known of what an agent used: its tag moves, and its tenant's. */
  static void used(
      KeyState key,
      QuotaState quota,
      String tenantName,
      String agentId,
      long tagShift,
      long tenantShift) {
    used(key, quota, tenantName, agentId, tagShift, tenantShift, true);
  }

  private static void used(
      KeyState key,
      QuotaState quota,
      String tenantName,
      String agentId,
      long tagShift,
      long tenantShift,
      boolean tells) {
    TenantState tenant = quota.tenant(tenantName);
    if (tenant == null) {
      return; // No longer defined.
    }
    long before = tenant.startTag(agentId);
    shiftTag(key, quota, tenant, agentId, tagShift);
    if (quota.policy.rules().has(Rule.STRICT_PLACES) && tells) {
      moveLine(key, quota, tenant, agentId, tenant.startTag(agentId) - before);
    }
    if (tenantShift != 0) {
      shiftTenant(quota, tenant, tenantShift);
      key.putTenant(quota, tenant);
    }
  }

  /**
   * A tenant whose requests wait goes on from where it stands, behind the virtual time or not: it
   * is served for that. One without any starts at the virtual time again.
   */
  private static void shiftTenant(QuotaState quota, TenantState tenant, long shift) {
    if (tenant.line.size() > 0) {
      tenant.tag = Amounts.saturatedAdd(tenant.tag, shift);
    } else {
      long from = Math.max(quota.topVirtualTime, tenant.tag);
      tenant.tag = Math.max(quota.topVirtualTime, Amounts.saturatedAdd(from, shift));
    }
  }

  /** Moves an agent's finish tag, never behind the virtual time. */
  static void shiftTag(
      KeyState key, QuotaState quota, TenantState tenant, String agentId, long shift) {
    if (shift != 0) {
      long from = shift > 0 ? tenant.startTag(agentId) : tenant.finishTag(agentId);
      setTag(key, quota, tenant, agentId, Amounts.saturatedAdd(from, shift));
    }
  }

  static void setTag(KeyState key, QuotaState quota, TenantState tenant, String agentId, long tag) {
    Flows flows = tenant.flows;
    setFlow(key, quota, tenant, agentId, tag, flows.shift(agentId), flows.keptUntilMs(agentId));
  }

  /**
   * The place of a rejected request is kept. What its agent takes meanwhile counts: places that it
   * comes back to follow each other, and what it is served in between, as they would have in line.
   */
  static void keep(KeyState key, QuotaState quota, LeaseRejected e) {
    boolean keeps =
        quota != null && e.tenant() != null && quota.policy.rules().has(Rule.STRICT_PLACES);
    TenantState tenant = keeps ? quota.tenant(e.tenant()) : null;
    RememberedRow row = key.remembered(Identity.ofRequest(e.agentId(), e.requestId()));
    if (tenant == null || row == null || row.keptUntilMs() == null) {
      return;
    }
    Flows flows = tenant.flows;
    Long flow = flows.tag(e.agentId());
    long untilMs = Math.max(flows.keptUntilMs(e.agentId()), row.keptUntilMs());
    long tag = flow == null ? row.keptTag() : flow;
    setFlow(key, quota, tenant, e.agentId(), tag, flows.shift(e.agentId()), untilMs);
  }

  /**
   * An agent came to another tenant than its id tells. Its flow there stays for a while, so that a
   * call that it makes without a lease is known to be that tenant's.
   */
  static void claim(KeyState key, QuotaState quota, TenantState tenant, String agentId) {
    OrderPolicy order = quota.policy.order();
    boolean claimed =
        quota.policy.rules().has(Rule.STRICT_REPORTS)
            && order.hasTenants()
            && !tenant.name.equals(Claims.tenantOf(order, agentId, null));
    if (claimed) {
      Flows flows = tenant.flows;
      long untilMs = Math.max(flows.keptUntilMs(agentId), key.nowMs + KeyState.REMEMBER_MS);
      long tag = tenant.finishTag(agentId);
      setFlow(key, quota, tenant, agentId, tag, flows.shift(agentId), untilMs);
    }
  }

  private static void setFlow(
      KeyState key,
      QuotaState quota,
      TenantState tenant,
      String agentId,
      long tag,
      long shift,
      long keptUntilMs) {
    Flows flows = tenant.flows;
    boolean stays = (shift != 0 && tenant.waits(agentId)) || keptUntilMs >= key.nowMs;
    if (tag > tenant.virtualTime || stays) {
      flows.put(agentId, tag, shift, keptUntilMs);
      key.changes.put(new FlowRow(quota.id(), agentId, tag, tenant.name, shift, keptUntilMs));
    } else if (flows.tag(agentId) != null) {
      flows.remove(agentId);
      key.changes.delete(Row.flowId(quota.id(), tenant.name, agentId));
    }
  }

  /**
   * Calls of the agent that wait already move with its tag, as if they had come in line after what
   * the call turned out to be: otherwise a backlog, queued at false estimates, would pay. One row
   * says so for all of them, however many they are.
   */
  private static void moveLine(
      KeyState key, QuotaState quota, TenantState tenant, String agentId, long by) {
    if (by == 0 || !tenant.waits(agentId)) {
      return;
    }
    for (String identity : tenant.lineOf(agentId)) {
      Waiter old = key.waiters.get(identity);
      Waiter moved = old.movedBy(by);
      key.waiters.put(identity, moved);
      tenant.line.remove(old);
      tenant.line.add(moved, tenant.length(moved.cost()), LineApplier.lanes(quota, moved));
    }
    long shift = Amounts.saturatedAdd(tenant.flows.shift(agentId), by);
    Flows flows = tenant.flows;
    long keptUntilMs = flows.keptUntilMs(agentId);
    setFlow(key, quota, tenant, agentId, tenant.finishTag(agentId), shift, keptUntilMs);
  }

  /** As its row has it: at the tags of when it came in line. */
  static Waiter asWritten(QuotaState quota, Waiter waiter) {
    return waiter.movedBy(waiter.flowShift() - shiftOf(quota, waiter));
  }

  /** As it stands in line now. */
  static Waiter asItStands(QuotaState quota, Waiter written) {
    return written.movedBy(shiftOf(quota, written) - written.flowShift());
  }

  private static long shiftOf(QuotaState quota, Waiter waiter) {
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    return tenant.flows.shift(waiter.request().agentId());
  }
}
