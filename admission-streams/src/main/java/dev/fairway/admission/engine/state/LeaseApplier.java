package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.Reweighting;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.learn.CallSample;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.state.Lease.Status;
import dev.fairway.admission.engine.state.Row.Ending;
import dev.fairway.admission.engine.state.Row.FlowRow;
import dev.fairway.admission.engine.state.Row.LeaseRow;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import dev.fairway.admission.engine.state.Row.WaiterRow;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What events mean for waiting requests, leases and the flows of the fair queue. */
final class LeaseApplier {
  /** How long after its grant a lease can matter to a resync. */
  static final long RESYNC_WINDOW_MS = 60_000;

  /** A learned delay moves by this share of each observation. */
  private static final int DELAY_SHARE = 8;

  /** The learned maximum forgets this share of itself at each observation. */
  private static final int DELAY_DECAY = 64;

  private static final long SHORTEST_ETA_MS = 100;

  private LeaseApplier() {}

  static void enqueue(KeyState key, QuotaState quota, LeaseEnqueued e) {
    Waiter waiter = e.waiter();
    String identity = KeyState.identityOf(waiter);
    key.forget(identity);
    useKeptTag(key, waiter);
    TrafficApplier.enqueuing(key, quota, waiter);
    if (e.retries() != null && key.remembered(e.retries()) != null) {
      key.remember(key.remembered(e.retries()).claimed());
    }
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    if (quota.policy.order().hasTenants() && tenant.line.size() == 0) {
      tenant.tag = quota.startOf(tenant);
      key.putTenant(quota, tenant);
    }
    indexWaiter(key, quota, waiter, identity);
    quota.arrivals = waiter.arrival() + 1;
    String agent = waiter.request().agentId();
    setTag(key, quota, tenant, agent, Math.max(tenant.startTag(agent), waiter.finishTag()));
    count(key, quota, waiter, 1);
    key.touched.add(quota.id());
    key.changes.put(new WaiterRow(waiter));
  }

  /** Counts a call that is in line, or takes it back. */
  private static void count(KeyState key, QuotaState quota, Waiter waiter, int calls) {
    Standing standing = waiter.standing();
    boolean retry = quota.policy.order().ranked() && waiter.attempt() > 1;
    quota.calls.count(key.nowMs, calls, retry ? calls : 0);
    String task = waiter.request().taskId();
    if (task != null) {
      key.countCall(task, calls, 0, standing.role());
    }
    if (retry && standing.budgetTask() != null) {
      key.countCall(standing.budgetTask(), 0, calls, null);
    } else if (retry && calls > 0) {
      key.addRetry(waiter.request().agentId());
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
    quota.waiting++;
    quota.waitingPerAgent.merge(waiter.request().agentId(), 1, Integer::sum);
    quota.deadlines.add(waiter.deadlineMs(), identity);
    quota.arrivalTimes.add(waiter.enqueuedAtMs(), identity);
    String task = waiter.request().taskId();
    if (task != null) {
      key.waitersOfTask.computeIfAbsent(task, t -> new TreeSet<>()).add(identity);
    }
  }

  /** Retries have no reserve. */
  static long lanes(QuotaState quota, Waiter waiter) {
    int lane = quota.policy.order().laneOf(waiter.standing().leaseClass());
    return lane < 0 || waiter.attempt() > 1 ? 0 : 1L << lane;
  }

  static void dequeue(KeyState key, QuotaState quota, Waiter waiter, String identity) {
    key.waiters.remove(identity);
    quota.tenant(waiter.standing().tenant()).line.remove(waiter);
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
    shiftTag(key, quota, tenant, waiter.request().agentId(), -length);
    count(key, quota, waiter, -1);
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
    key.changes.put(new WaiterRow(waiter));
  }

  /** Another weight: the finish follows from the start, and the flow's tag with it. */
  static void reweight(KeyState key, QuotaState quota, WaiterReweighted e) {
    Waiter old = key.waiters.get(Identity.ofRequest(e.agentId(), e.requestId()));
    Standing standing = e.reason() == Reweighting.CACHE ? old.standing().bumped() : old.standing();
    Waiter again = old.weighing(e.weightMilli(), e.finishTag(), standing);
    reorder(key, quota, old, again);
    long longer =
        Tags.length(again.cost(), again.weightMilli()) - Tags.length(old.cost(), old.weightMilli());
    shiftTag(key, quota, quota.tenant(standing.tenant()), e.agentId(), longer);
  }

  static void grant(KeyState key, QuotaState quota, LeaseGranted e) {
    String identity = Identity.ofRequest(e.agentId(), e.requestId());
    Waiter waiter = key.waiters.get(identity);
    dequeue(key, quota, waiter, identity);
    Buckets.refill(key, quota);
    Buckets.charge(quota, e.charged());
    SharedBuckets.take(key, quota, waiter.standing(), e.taken());
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    moveTime(key, quota, tenant, e.virtualTime());
    quota.topVirtualTime = Math.max(quota.topVirtualTime, e.order().topVirtualTime());
    tenant.tag = e.order().tenantTag();
    key.putTenant(quota, tenant);
    e.taken().also().keySet().forEach(id -> raise(key, id, e.order().topVirtualTime()));
    if (e.order().passedRequestId() != null) {
      pass(key, quota, e);
    }
    Lease lease =
        new Lease(
            waiter.request(),
            waiter.contentHash(),
            waiter.appendedAtMs(),
            waiter.deadlineMs(),
            e.leaseId(),
            e.attempt(),
            Status.OPEN,
            e.grantedAtMs(),
            e.expiresAtMs(),
            null,
            e.charged(),
            false,
            e.coldCache(),
            waiter.cost(),
            waiter.weightMilli(),
            waiter.startTag(),
            e.grantedAtMs() + quota.sendDelayMeanMs(),
            false,
            quota.sendDelaySpreadMs(),
            waiter.forecast(),
            (int) Math.round(1000 * quota.statistics.sigma(waiter.standing().role())),
            false,
            waiter.standing(),
            e.taken());
    learnWait(key, quota, waiter);
    indexLease(key, quota, lease);
    key.changes.put(new LeaseRow(lease));
    BreakerApplier.granted(key, quota, e);
  }

  private static void moveTime(
      KeyState key, QuotaState quota, TenantState tenant, long virtualTime) {
    tenant.virtualTime = virtualTime;
    for (String agent : tenant.flows.forgetUpTo(virtualTime)) {
      key.changes.delete(Row.flowId(quota.id(), tenant.name, agent));
    }
  }

  /** Who comes anew to a quota that is taken from starts where those are that take from it. */
  private static void raise(KeyState key, String quotaId, long virtualTime) {
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

  private static void pass(KeyState key, QuotaState quota, LeaseGranted e) {
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
  private static void passedMore(KeyState key, QuotaState quota, Lease lease, Amounts actual) {
    Waiter head = key.waiters.get(lease.taken().passed());
    Amounts more = actual.minus(lease.charged()).max(Amounts.NONE);
    if (head != null && head.request().quotaId().equals(quota.id()) && !more.isZero()) {
      Standing standing = head.standing().passedBy(lease.taken().passedSmall(), more);
      replaceWaiter(key, quota, head.in(standing), lease.taken().passed());
    }
  }

  static void indexLease(KeyState key, QuotaState quota, Lease lease) {
    quota.leases.put(lease.leaseId(), lease);
    quota.sent.add(lease.sentAtMs(), lease.leaseId());
    quota.indexUncertain(lease, lease.charged());
    countInLastMinute(key, quota, lease, true);
    if (lease.status() == Status.OPEN) {
      key.leaseOfRequest.put(KeyState.identityOf(lease), lease.leaseId());
      quota.expiries.add(lease.expiresAtMs(), lease.leaseId());
      quota.reserved = quota.reserved.plus(lease.charged());
      quota.open++;
      SharedBuckets.hold(key, lease, true);
    } else {
      quota.sweeps.add(sweepAtMs(quota, lease), lease.leaseId());
    }
  }

  private static void unindexLease(KeyState key, QuotaState quota, Lease lease) {
    quota.leases.remove(lease.leaseId());
    quota.sent.remove(lease.sentAtMs(), lease.leaseId());
    quota.unindexUncertain(lease.leaseId());
    countInLastMinute(key, quota, lease, false);
    if (lease.status() == Status.OPEN) {
      key.leaseOfRequest.remove(KeyState.identityOf(lease));
      quota.expiries.remove(lease.expiresAtMs(), lease.leaseId());
      quota.reserved = quota.reserved.minus(lease.charged());
      quota.open--;
      SharedBuckets.hold(key, lease, false);
    } else {
      quota.sweeps.remove(sweepAtMs(quota, lease), lease.leaseId());
    }
  }

  private static void replace(KeyState key, QuotaState quota, Lease old, Lease lease) {
    unindexLease(key, quota, old);
    indexLease(key, quota, lease);
    key.changes.put(new LeaseRow(lease));
  }

  /**
   * An ended lease stays while a resync may ask for it, or a last minute may count it, be it that
   * of a quota that it took from too; an expired one while it may be settled late.
   */
  private static long sweepAtMs(QuotaState quota, Lease lease) {
    boolean mayCount = quota.countsLastMinute() || quota.takesFromOthers();
    long resync = mayCount ? RollingUse.keptUntilMs(lease) : lease.grantedAtMs() + RESYNC_WINDOW_MS;
    return lease.status() == Status.EXPIRED
        ? Math.max(resync, lease.endedAtMs() + quota.policy.lateSettlementWindowMs() + 1)
        : resync;
  }

  /** Each open lease holds a slot from now on. */
  static void takeSlots(KeyState key, QuotaState quota) {
    for (Lease lease : List.copyOf(quota.leases.values())) {
      if (lease.status() == Status.OPEN) {
        replace(key, quota, lease, lease.holding(Dimension.CONCURRENT_REQUESTS, 1));
      }
    }
  }

  /** A signal was applied: its own call, and those sent before it, are uncertain no more. */
  static void signalled(KeyState key, QuotaState quota, BucketsResynced e) {
    for (Event.Resync r : e.dimensions()) {
      long beforeMs = quota.absorbedBeforeMs[r.dimension().ordinal()];
      if (r.dimension() == Dimension.INPUT_TOKENS) {
        quota.uncertainInput.absorb(beforeMs);
      } else if (r.dimension() == Dimension.TOKENS) {
        quota.uncertainTokens.absorb(beforeMs);
      }
    }
    Lease own = e.leaseId() == null ? null : quota.leases.get(e.leaseId());
    if (own != null && quota.policy.observes() && !own.signalled()) {
      replace(key, quota, own, own.withSignal());
    }
  }

  /** Counts what a lease holds in the last minute of each quota it took from, in or out. */
  static void countInLastMinute(KeyState key, QuotaState quota, Lease lease, boolean in) {
    if (in) {
      quota.indexLastMinute(lease, lease.charged());
    } else {
      quota.unindexLastMinute(lease.leaseId());
    }
    for (Map.Entry<String, Amounts> held : lease.taken().also().entrySet()) {
      QuotaState other = key.quotas.get(held.getKey());
      if (other != null && in) {
        other.indexLastMinute(lease, held.getValue());
      } else if (other != null) {
        other.unindexLastMinute(lease.leaseId());
      }
    }
  }

  /**
   * What is limited, or how the provider counts, may have changed: what is uncertain and what the
   * last minute took follow from the leases.
   */
  static void rebuildDerived(KeyState key, QuotaState quota) {
    quota.uncertainInput.clear();
    quota.uncertainTokens.clear();
    for (RollingUse use : quota.rolling) {
      use.clear();
    }
    for (Lease lease : quota.leases.values()) {
      quota.indexUncertain(lease, lease.charged());
      quota.indexLastMinute(lease, lease.charged());
    }
    for (QuotaState taker : key.quotas.values()) {
      for (Lease lease : taker.leases.values()) {
        Amounts held = lease.taken().also().get(quota.id());
        if (held != null) {
          quota.indexUncertain(lease, held);
          quota.indexLastMinute(lease, held);
        }
      }
    }
  }

  /** Waits too short to be told apart from none teach nothing. */
  private static void learnWait(KeyState key, QuotaState quota, Waiter waiter) {
    Long etaMs = waiter.firstEtaMs();
    if (quota.policy.observes() && etaMs != null && etaMs >= SHORTEST_ETA_MS) {
      long waitedMs = key.nowMs - waiter.enqueuedAtMs();
      quota.statistics.learnWait(key, quota.id(), waiter.standing().role(), etaMs, waitedMs);
    }
  }

  /** The late window may have changed. */
  static void rescheduleSweeps(QuotaState quota) {
    quota.sweeps.clear();
    for (Lease lease : quota.leases.values()) {
      if (lease.status() != Status.OPEN) {
        quota.sweeps.add(sweepAtMs(quota, lease), lease.leaseId());
      }
    }
  }

  static void renew(KeyState key, QuotaState quota, LeaseRenewed e) {
    Lease old = quota.leases.get(e.leaseId());
    Buckets.refill(key, quota);
    Buckets.adjust(quota, e.adjusted());
    SharedBuckets.adjust(key, quota, old, e.shift());
    learnDelay(quota, e.sendDelayMs());
    Taken taken = SharedBuckets.left(old.taken(), e.shift());
    Lease lease =
        old.renewed(e.adjusted(), e.inputKnown(), e.expiresAtMs(), taken)
            .sentAfter(e.sendDelayMs());
    replace(key, quota, old, lease);
  }

  static void settle(KeyState key, QuotaState quota, LeaseSettled e) {
    Lease old = quota.leases.get(e.leaseId());
    Buckets.refill(key, quota);
    Buckets.adjust(quota, e.adjusted());
    SharedBuckets.adjust(key, quota, old, e.shift());
    if (old.status() == Status.OPEN) {
      Buckets.freeSlot(quota, old.charged());
      SharedBuckets.freeSlots(key, quota, old);
    }
    learnDelay(quota, e.sendDelayMs());
    BreakerApplier.settled(key, quota, old, e);
    shiftTags(key, quota, old, e);
    TrafficApplier.settled(key, quota, old, e);
    learnCall(key, quota, old, e);
    if (e.outcome() == Outcome.SUCCEEDED) {
      quota.overloads = 0;
    }
    if (e.outcome() == Outcome.RATE_LIMITED) {
      // No interval with a 429 in it is clean.
      quota.restoreFromMs = quota.restoreFromMs == null ? null : (Long) key.nowMs;
      quota.zFallsFromMs = quota.zFallsFromMs == null ? null : (Long) key.nowMs;
    }
    if (e.outcome() == Outcome.NOT_SENT && old.request().taskId() != null) {
      key.countCall(old.request().taskId(), -1, 0, null);
    }
    if (old.taken().passed() != null) {
      passedMore(key, quota, old, e.actual());
    }
    Lease lease =
        old.ended(Status.SETTLED, key.nowMs, e.actual(), SharedBuckets.left(old.taken(), e.shift()))
            .sentAfter(e.sendDelayMs());
    replace(key, quota, old, lease);
    key.remember(ended(key, old, Ending.SETTLED, FAILURES.contains(e.outcome())));
  }

  private static final Set<Outcome> FAILURES =
      EnumSet.of(Outcome.RATE_LIMITED, Outcome.OVERLOADED, Outcome.FAILED_AFTER_SEND);

  /** An expired lease was not told to have failed: only who says so retries it. */
  private static RememberedRow ended(KeyState key, Lease lease, Ending ending, boolean failed) {
    return new RememberedRow(
        lease.request().quotaId(),
        KeyState.identityOf(lease),
        lease.contentHash(),
        ending,
        lease.leaseId(),
        null,
        null,
        null,
        key.nowMs + KeyState.REMEMBER_MS,
        lease.attempt(),
        lease.standing().budgetTask(),
        failed || ending == Ending.EXPIRED,
        failed ? lease.request().agentId() : null);
  }

  private static void shiftTags(KeyState key, QuotaState quota, Lease lease, LeaseSettled e) {
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

  static void expire(KeyState key, QuotaState quota, LeaseExpired e) {
    Lease old = quota.leases.get(e.leaseId());
    Buckets.refill(key, quota);
    Buckets.freeSlot(quota, old.charged());
    SharedBuckets.freeSlots(key, quota, old);
    replace(key, quota, old, old.ended(Status.EXPIRED, key.nowMs, old.charged(), old.taken()));
    key.remember(ended(key, old, Ending.EXPIRED, false));
  }

  private static void learnCall(KeyState key, QuotaState quota, Lease lease, LeaseSettled e) {
    boolean known = e.usedInput() != null || e.usedOutput() != null;
    if (known && quota.policy.observes()) {
      CallSample sample =
          CallSample.of(
              quota.policy,
              lease.request(),
              lease.forecast(),
              lease.coldCache(),
              e.usedInput(),
              e.usedOutput());
      String role = lease.standing().role();
      quota.statistics.learn(key, quota.id(), role, e.agentId(), sample);
    }
  }

  private static void learnDelay(QuotaState quota, Long sendDelayMs) {
    if (sendDelayMs != null) {
      long delayUs = sendDelayMs * 1000;
      quota.sendDelayMeanUs += (delayUs - quota.sendDelayMeanUs) / DELAY_SHARE;
      long decayed = quota.sendDelayMaxMs - quota.sendDelayMaxMs / DELAY_DECAY;
      quota.sendDelayMaxMs = Math.max(sendDelayMs, decayed);
    }
  }

  /** Moves an agent's finish tag, never behind the virtual time. */
  private static void shiftTag(
      KeyState key, QuotaState quota, TenantState tenant, String agentId, long shift) {
    if (shift != 0) {
      long tag = Amounts.saturatedAdd(tenant.startTag(agentId), shift);
      setTag(key, quota, tenant, agentId, tag);
    }
  }

  private static void setTag(
      KeyState key, QuotaState quota, TenantState tenant, String agentId, long tag) {
    Long old = tenant.flows.tag(agentId);
    if (tenant.flows.set(agentId, tag, tenant.virtualTime)) {
      key.changes.put(new FlowRow(quota.id(), agentId, tag, tenant.name));
    } else if (old != null) {
      key.changes.delete(Row.flowId(quota.id(), tenant.name, agentId));
    }
  }

  /** Back in line after a definition changed; in another tenant its flow's tag begins with it. */
  static void putBack(KeyState key, QuotaState quota, Waiter waiter, boolean moved) {
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    if (quota.policy.order().hasTenants() && tenant.line.size() == 0) {
      tenant.tag = quota.startOf(tenant);
      key.putTenant(quota, tenant);
    }
    indexWaiter(key, quota, waiter, KeyState.identityOf(waiter));
    if (moved) {
      setTag(key, quota, tenant, waiter.request().agentId(), waiter.finishTag());
    }
    key.changes.put(new WaiterRow(waiter));
  }

  /** Rebuilds a waiter's place after its weight or what is limited changed. */
  static void reorder(KeyState key, QuotaState quota, Waiter old, Waiter waiter) {
    String identity = KeyState.identityOf(old);
    dequeue(key, quota, old, identity);
    indexWaiter(key, quota, waiter, identity);
    key.changes.put(new WaiterRow(waiter));
  }
}
