package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.Reweighting;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Charges;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import dev.fairway.admission.engine.state.Row.WaiterRow;
import java.util.HashSet;
import java.util.TreeSet;

/** What events mean for the requests that wait. */
final class LineApplier {

  private LineApplier() {}

  static void enqueue(KeyState key, QuotaState quota, LeaseEnqueued e) {
    TenantState tenant = quota.tenant(e.waiter().standing().tenant());
    Waiter waiter = inFlow(tenant, e.waiter());
    String identity = KeyState.identityOf(waiter);
    key.forget(identity);
    useKeptTag(key, waiter);
    TrafficApplier.enqueuing(key, quota, waiter);
    if (e.retries() != null && key.remembered(e.retries()) != null) {
      key.remember(key.remembered(e.retries()).claimed());
    }
    if (tenant.line.size() == 0) {
      startTurn(key, quota, tenant);
    }
    indexWaiter(key, quota, waiter, identity);
    quota.arrivals = waiter.arrival() + 1;
    String agent = waiter.request().agentId();
    FlowTags.setTag(key, quota, tenant, agent, endOfLine(quota, tenant, waiter));
    FlowTags.claim(key, quota, tenant, agent);
    RememberedRow failed = e.retries() == null ? null : key.remembered(e.retries());
    count(key, quota, waiter, 1, failed == null ? 0 : failed.cost());
    key.touched.add(quota.id());
    putRow(key, quota, waiter);
  }

  /**
   * Where its agent's line ends with it: a call that goes back to its old place counts behind all
   * that its agent had in line since, or nothing would count for it at all.
   */
  private static long endOfLine(QuotaState quota, TenantState tenant, Waiter waiter) {
    Long flow = tenant.flows.tag(waiter.request().agentId());
    if (flow == null) {
      return waiter.finishTag();
    }
    long length = Tags.length(waiter.cost(), waiter.weightMilli());
    boolean counts = quota.policy.rules().has(Rule.STRICT_PLACES) && flow > waiter.startTag();
    long behind = counts ? Amounts.saturatedAdd(flow, length) : flow;
    return Math.max(behind, waiter.finishTag());
  }

  private static Waiter inFlow(TenantState tenant, Waiter waiter) {
    return waiter.since(tenant.flows.shift(waiter.request().agentId()));
  }

  private static void putRow(KeyState key, QuotaState quota, Waiter waiter) {
    key.changes.put(new WaiterRow(FlowTags.asWritten(quota, waiter)));
  }

  /**
   * Counts a call that is in line, or takes it back.
   *
   * @param failedShare what the call took that it retries, which its own estimate may fall short of
   */
  private static void count(
      KeyState key, QuotaState quota, Waiter waiter, int calls, long failedShare) {
    Standing standing = waiter.standing();
    boolean retry = quota.policy.rules().has(Rule.COUNTED_ATTEMPTS) && waiter.attempt() > 1;
    quota.calls.count(key.nowMs, calls, retry ? calls : 0);
    String task = waiter.request().taskId();
    if (task != null) {
      key.countCall(task, calls, 0, standing.role());
    }
    if (retry && standing.budgetTask() != null) {
      key.countCall(standing.budgetTask(), 0, calls, null);
    } else if (retry && calls > 0) {
      long share = Charges.share(quota, waiter.cost(), false);
      key.addRetry(waiter.request().agentId(), Math.max(share, failedShare));
    } else if (retry) {
      key.takeBackRetry(waiter.request().agentId());
    }
  }

  /** A kept tag serves one retry: with more, an agent could bring a backlog in at an old tag. */
  private static void useKeptTag(KeyState key, Waiter waiter) {
    String retryOf = waiter.request().retryOf();
    if (retryOf == null) {
      return;
    }
    RememberedRow row = key.remembered.get(Identity.ofRequest(waiter.request().agentId(), retryOf));
    if (row != null && row.keptTag() != null) {
      key.remember(row.withoutTag());
    }
  }

  static void indexWaiter(KeyState key, QuotaState quota, Waiter waiter, String identity) {
    key.waiters.put(identity, waiter);
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    tenant.line.add(waiter, tenant.length(waiter.cost()), lanes(quota, waiter));
    tenant.lines.computeIfAbsent(waiter.request().agentId(), a -> new HashSet<>()).add(identity);
    quota.waiting++;
    quota.waitingPerAgent.merge(waiter.request().agentId(), 1, Integer::sum);
    quota.deadlines.add(waiter.deadlineMs(), identity);
    quota.arrivalTimes.add(waiter.enqueuedAtMs(), identity);
    String task = waiter.request().taskId();
    if (task != null) {
      key.waitersOfTask.computeIfAbsent(task, t -> new TreeSet<>()).add(identity);
    }
  }

  /**
   * Retries have no reserve. Neither has a call that is larger than its reserve ever is: it would
   * stand in the way of those that a drain looks at.
   */
  static long lanes(QuotaState quota, Waiter waiter) {
    String leaseClass = waiter.standing().leaseClass();
    int lane = quota.policy.order().laneOf(leaseClass);
    if (lane < 0 || waiter.attempt() > 1) {
      return 0;
    }
    ShareBuckets reserve = quota.reserves().of(leaseClass);
    for (int i = 0; i < Dimension.count() && quota.policy.rules().has(Rule.STRICT_PLACES); i++) {
      Dimension d = Dimension.of(i);
      if (reserve.has(d) && waiter.estimate().get(d) > reserve.largestDefined(quota, d)) {
        return 0;
      }
    }
    return 1L << lane;
  }

  static void dequeue(KeyState key, QuotaState quota, Waiter waiter, String identity) {
    key.waiters.remove(identity);
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    tenant.line.remove(waiter);
    tenant.lines.computeIfPresent(
        waiter.request().agentId(),
        (agent, ids) -> ids.remove(identity) && ids.isEmpty() ? null : ids);
    quota.waiting--;
    quota.waitingPerAgent.computeIfPresent(
        waiter.request().agentId(), (agent, count) -> count > 1 ? count - 1 : null);
    quota.deadlines.remove(waiter.deadlineMs(), identity);
    quota.arrivalTimes.remove(waiter.enqueuedAtMs(), identity);
    String task = waiter.request().taskId();
    if (task != null) {
      key.waitersOfTask.computeIfPresent(
          task, (t, ids) -> ids.remove(identity) && ids.isEmpty() ? null : ids);
    }
    key.changes.delete(new WaiterRow(waiter).id());
  }

  /**
   * Out of the queue without a grant: the flow's tag and what was counted are as if it had not
   * come.
   */
  static void leaveQueue(KeyState key, QuotaState quota, Waiter waiter, String identity) {
    dequeue(key, quota, waiter, identity);
    long length = Tags.length(waiter.cost(), waiter.weightMilli());
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    String agent = waiter.request().agentId();
    long tag = Amounts.saturatedSubtract(tenant.finishTag(agent), length);
    FlowTags.setTag(key, quota, tenant, agent, tag);
    count(key, quota, waiter, -1, 0);
    key.touched.add(quota.id());
  }

  static void told(KeyState key, QuotaState quota, String agentId, String requestId, long etaMs) {
    String identity = Identity.ofRequest(agentId, requestId);
    replaceWaiter(key, quota, key.waiters.get(identity).told(key.nowMs, etaMs), identity);
  }

  /** By a copy at the same place. */
  private static void replaceWaiter(
      KeyState key, QuotaState quota, Waiter waiter, String identity) {
    key.waiters.put(identity, waiter);
    quota.tenant(waiter.standing().tenant()).line.replace(waiter);
    putRow(key, quota, waiter);
  }

  /** Another weight: the finish follows from the start, and the flow's tag with it. */
  static void reweight(KeyState key, QuotaState quota, WaiterReweighted e) {
    Waiter old = key.waiters.get(Identity.ofRequest(e.agentId(), e.requestId()));
    Standing standing = e.reason() == Reweighting.CACHE ? old.standing().bumped() : old.standing();
    Waiter again = old.weighing(e.weightMilli(), e.finishTag(), standing);
    reorder(key, quota, old, again);
    long longer =
        Tags.length(again.cost(), again.weightMilli()) - Tags.length(old.cost(), old.weightMilli());
    FlowTags.shiftTag(key, quota, quota.tenant(standing.tenant()), e.agentId(), longer);
  }

  static void pass(KeyState key, QuotaState quota, LeaseGranted e) {
    String identity = Identity.ofRequest(e.order().passedAgentId(), e.order().passedRequestId());
    Waiter head = key.waiters.get(identity);
    Amounts taken = e.charged();
    for (Amounts also : e.taken().also().values()) {
      taken = taken.max(also);
    }
    boolean small = e.order().lane() == Lane.BACKFILL_SMALL;
    replaceWaiter(key, quota, head.in(head.standing().passedBy(small, taken)), identity);
  }

  /** What a call that passed uses beyond its estimate has passed too: saying less does not pay. */
  static void passedMore(KeyState key, QuotaState quota, Lease lease, Amounts actual) {
    Waiter head = key.waiters.get(lease.taken().passed());
    Amounts more = actual.minus(lease.charged()).max(Amounts.NONE);
    if (head != null && head.request().quotaId().equals(quota.id()) && !more.isZero()) {
      Standing standing = head.standing().passedBy(lease.taken().passedSmall(), more);
      replaceWaiter(key, quota, head.in(standing), lease.taken().passed());
    }
  }

  /**
   * Back in line after a definition changed; in another tenant its flow's tag begins with it, and
   * that tenant's turn, if nobody waits there.
   */
  static void putBack(KeyState key, QuotaState quota, Waiter waiter, boolean moved) {
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    if (moved && tenant.line.size() == 0) {
      startTurn(key, quota, tenant);
    }
    Waiter back = moved ? inFlow(tenant, waiter) : waiter;
    indexWaiter(key, quota, back, KeyState.identityOf(back));
    if (moved) {
      FlowTags.setTag(key, quota, tenant, back.request().agentId(), back.finishTag());
    }
    putRow(key, quota, back);
  }

  /** Among the tenants, if there are any, one that did not wait starts now. */
  static void startTurn(KeyState key, QuotaState quota, TenantState tenant) {
    if (quota.policy.order().hasTenants()) {
      tenant.tag = quota.startOf(tenant);
      key.putTenant(quota, tenant);
    }
  }

  /** Rebuilds a waiter's place after its weight or what is limited changed. */
  static void reorder(KeyState key, QuotaState quota, Waiter old, Waiter waiter) {
    String identity = KeyState.identityOf(old);
    dequeue(key, quota, old, identity);
    indexWaiter(key, quota, waiter, identity);
    putRow(key, quota, waiter);
  }
}
