package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
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
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.engine.state.Row.WaiterRow;
import java.util.List;

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

  static void enqueue(KeyState key, QuotaState quota, Waiter waiter) {
    String identity = KeyState.identityOf(waiter);
    key.forget(identity);
    useKeptTag(key, waiter);
    TrafficApplier.enqueuing(key, quota, waiter);
    indexWaiter(key, quota, waiter, identity);
    quota.arrivals = waiter.arrival() + 1;
    String agent = waiter.request().agentId();
    setTag(key, quota, agent, Math.max(quota.startTag(agent), waiter.finishTag()));
    if (waiter.request().taskId() != null) {
      key.countCall(waiter.request().taskId(), 1);
    }
    key.touched.add(quota.id());
    key.changes.put(new WaiterRow(waiter));
  }

  /** A kept tag serves one retry: with more, an agent could bring a backlog in at an old tag. */
  private static void useKeptTag(KeyState key, Waiter waiter) {
    String retryOf = waiter.request().retryOf();
    if (retryOf == null) {
      return;
    }
    RememberedRow row = key.remembered.get(Identity.ofRequest(waiter.request().agentId(), retryOf));
    if (row != null && row.keptTag() != null) {
      key.remember(
          new RememberedRow(
              row.quotaId(),
              row.idHash(),
              row.contentHash(),
              row.ending(),
              row.leaseId(),
              row.reason(),
              row.retryAtMs(),
              null,
              row.forgetAtMs()));
    }
  }

  static void indexWaiter(KeyState key, QuotaState quota, Waiter waiter, String identity) {
    key.waiters.put(identity, waiter);
    quota.order.add(waiter);
    quota.waitingPerAgent.merge(waiter.request().agentId(), 1, Integer::sum);
    quota.deadlines.add(waiter.deadlineMs(), identity);
    quota.arrivalTimes.add(waiter.enqueuedAtMs(), identity);
  }

  static void dequeue(KeyState key, QuotaState quota, Waiter waiter, String identity) {
    key.waiters.remove(identity);
    quota.order.remove(waiter);
    quota.waitingPerAgent.computeIfPresent(
        waiter.request().agentId(), (agent, count) -> count > 1 ? count - 1 : null);
    quota.deadlines.remove(waiter.deadlineMs(), identity);
    quota.arrivalTimes.remove(waiter.enqueuedAtMs(), identity);
    key.changes.delete(new WaiterRow(waiter).id());
  }

  /**
   * Out of the queue without a grant: the flow's tag and the task's count are as if it had not
   * come.
   */
  static void leaveQueue(KeyState key, QuotaState quota, Waiter waiter, String identity) {
    dequeue(key, quota, waiter, identity);
    long length = Tags.length(waiter.cost(), waiter.weightMilli());
    shiftTag(key, quota, waiter.request().agentId(), -length);
    if (waiter.request().taskId() != null) {
      key.countCall(waiter.request().taskId(), -1);
    }
  }

  static void told(KeyState key, QuotaState quota, String agentId, String requestId, long etaMs) {
    String identity = Identity.ofRequest(agentId, requestId);
    Waiter told = key.waiters.get(identity).told(key.nowMs, etaMs);
    key.waiters.put(identity, told);
    quota.order.replace(told);
    key.changes.put(new WaiterRow(told));
  }

  static void grant(KeyState key, QuotaState quota, LeaseGranted e) {
    String identity = Identity.ofRequest(e.agentId(), e.requestId());
    Waiter waiter = key.waiters.get(identity);
    dequeue(key, quota, waiter, identity);
    Buckets.refill(key, quota);
    Buckets.charge(quota, e.charged());
    quota.virtualTime = e.virtualTime();
    for (String agent : quota.flows.forgetUpTo(e.virtualTime())) {
      key.changes.delete(new RowId(Row.Kind.FLOW, quota.id(), agent));
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
            (int) Math.round(1000 * quota.statistics.sigma(waiter.request().role())),
            false);
    learnWait(key, quota, waiter);
    indexLease(key, quota, lease);
    key.changes.put(new LeaseRow(lease));
    BreakerApplier.granted(key, quota, e);
  }

  static void indexLease(KeyState key, QuotaState quota, Lease lease) {
    quota.leases.put(lease.leaseId(), lease);
    quota.sent.add(lease.sentAtMs(), lease.leaseId());
    quota.indexUncertain(lease);
    if (lease.status() == Status.OPEN) {
      key.leaseOfRequest.put(KeyState.identityOf(lease), lease.leaseId());
      quota.expiries.add(lease.expiresAtMs(), lease.leaseId());
      quota.reserved = quota.reserved.plus(lease.charged());
      quota.open++;
    } else {
      quota.sweeps.add(sweepAtMs(quota, lease), lease.leaseId());
    }
  }

  private static void unindexLease(KeyState key, QuotaState quota, Lease lease) {
    quota.leases.remove(lease.leaseId());
    quota.sent.remove(lease.sentAtMs(), lease.leaseId());
    quota.unindexUncertain(lease);
    if (lease.status() == Status.OPEN) {
      key.leaseOfRequest.remove(KeyState.identityOf(lease));
      quota.expiries.remove(lease.expiresAtMs(), lease.leaseId());
      quota.reserved = quota.reserved.minus(lease.charged());
      quota.open--;
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
   * An ended lease stays while a resync may ask for it, an expired one while it may be settled
   * late.
   */
  private static long sweepAtMs(QuotaState quota, Lease lease) {
    long resync = lease.grantedAtMs() + RESYNC_WINDOW_MS;
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

  /** What is limited may have changed: which calls are uncertain follows from the leases. */
  static void rebuildUncertain(QuotaState quota) {
    quota.uncertainInput.clear();
    quota.uncertainTokens.clear();
    quota.leases.values().forEach(quota::indexUncertain);
  }

  /** Waits too short to be told apart from none teach nothing. */
  private static void learnWait(KeyState key, QuotaState quota, Waiter waiter) {
    Long etaMs = waiter.firstEtaMs();
    if (quota.policy.observes() && etaMs != null && etaMs >= SHORTEST_ETA_MS) {
      long waitedMs = key.nowMs - waiter.enqueuedAtMs();
      quota.statistics.learnWait(key, quota.id(), waiter.request().role(), etaMs, waitedMs);
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
    learnDelay(quota, e.sendDelayMs());
    Lease lease =
        old.renewed(e.adjusted(), e.inputKnown(), e.expiresAtMs()).sentAfter(e.sendDelayMs());
    replace(key, quota, old, lease);
  }

  static void settle(KeyState key, QuotaState quota, LeaseSettled e) {
    Lease old = quota.leases.get(e.leaseId());
    Buckets.refill(key, quota);
    Buckets.adjust(quota, e.adjusted());
    if (old.status() == Status.OPEN) {
      Buckets.freeSlot(quota, old.charged());
    }
    learnDelay(quota, e.sendDelayMs());
    BreakerApplier.settled(key, quota, old, e);
    shiftTag(key, quota, e.agentId(), e.tagShift());
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
      key.countCall(old.request().taskId(), -1);
    }
    Lease lease = old.ended(Status.SETTLED, key.nowMs, e.actual()).sentAfter(e.sendDelayMs());
    replace(key, quota, old, lease);
    key.remember(
        Applier.ended(
            key,
            e.quotaId(),
            KeyState.identityOf(old),
            old.contentHash(),
            Ending.SETTLED,
            old.leaseId()));
  }

  static void expire(KeyState key, QuotaState quota, LeaseExpired e) {
    Lease old = quota.leases.get(e.leaseId());
    Buckets.refill(key, quota);
    Buckets.freeSlot(quota, old.charged());
    replace(key, quota, old, old.ended(Status.EXPIRED, key.nowMs, old.charged()));
    key.remember(
        Applier.ended(
            key,
            e.quotaId(),
            KeyState.identityOf(old),
            old.contentHash(),
            Ending.EXPIRED,
            old.leaseId()));
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
      String role = lease.request().role();
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
  static void shiftTag(KeyState key, QuotaState quota, String agentId, long shift) {
    if (shift != 0) {
      setTag(key, quota, agentId, Amounts.saturatedAdd(quota.startTag(agentId), shift));
    }
  }

  private static void setTag(KeyState key, QuotaState quota, String agentId, long tag) {
    Long old = quota.flows.tag(agentId);
    if (quota.flows.set(agentId, tag, quota.virtualTime)) {
      key.changes.put(new FlowRow(quota.id(), agentId, tag));
    } else if (old != null) {
      key.changes.delete(new RowId(Row.Kind.FLOW, quota.id(), agentId));
    }
  }

  /** Rebuilds a waiter's place after a definition changed its weight or what is limited. */
  static void reorder(KeyState key, QuotaState quota, Waiter old, Waiter waiter) {
    String identity = KeyState.identityOf(old);
    dequeue(key, quota, old, identity);
    indexWaiter(key, quota, waiter, identity);
    key.changes.put(new WaiterRow(waiter));
  }
}
