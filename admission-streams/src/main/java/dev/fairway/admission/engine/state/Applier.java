package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.LeaseCancelled;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.LimitLearned;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.MarginRestored;
import dev.fairway.admission.engine.Event.QuotaDefined;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Event.QuotaReleased;
import dev.fairway.admission.engine.Event.QuotaRemoved;
import dev.fairway.admission.engine.Event.TaskUpdated;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.TaskUpdate;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.state.Row.Ending;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import dev.fairway.admission.engine.state.Row.TaskNode;
import dev.fairway.admission.engine.state.Row.TaskRow;

/**
 * Changes state as events say, and decides nothing. Folding a journal's events through it gives the
 * state. What an event means for leases and the queue is in {@link LeaseApplier}, for definitions
 * in {@link DefinitionApplier}.
 */
final class Applier {

  private Applier() {}

  static void apply(KeyState key, Event event) {
    QuotaState quota = key.quotas.get(event.quotaId());
    if (event instanceof QuotaDefined e) {
      DefinitionApplier.define(key, e);
    } else if (event instanceof LeaseEnqueued e) {
      LeaseApplier.enqueue(key, quota, e);
    } else if (event instanceof LeaseGranted e) {
      LeaseApplier.grant(key, quota, e);
    } else if (event instanceof LeaseQueued e) {
      LeaseApplier.told(key, quota, e.agentId(), e.requestId(), e.etaMs());
    } else if (event instanceof Event.EtaRevised e) {
      LeaseApplier.told(key, quota, e.agentId(), e.requestId(), e.etaMs());
    } else if (event instanceof LeaseRejected e) {
      reject(key, quota, e);
    } else if (event instanceof LeaseRenewed e) {
      LeaseApplier.renew(key, quota, e);
    } else if (event instanceof LeaseSettled e) {
      LeaseApplier.settle(key, quota, e);
    } else if (event instanceof LeaseExpired e) {
      LeaseApplier.expire(key, quota, e);
    } else if (event instanceof LeaseCancelled e) {
      cancel(key, quota, e);
    } else if (event instanceof UnleasedCharged e) {
      unleased(key, quota, e);
    } else if (event instanceof MarginCut e) {
      margin(key, quota, e.toBp());
      quota.lastCutAtMs = key.nowMs;
      quota.restoreFromMs = key.nowMs;
    } else if (event instanceof MarginRestored e) {
      long from = quota.restoreFromMs + quota.policy.cleanIntervalMs();
      margin(key, quota, e.toBp());
      quota.restoreFromMs = e.toBp() < quota.policy.marginStartBp() ? (Long) from : null;
    } else if (event instanceof QuotaHeld e) {
      hold(key, quota, e);
    } else if (event instanceof QuotaReleased) {
      quota.holdReason = null;
      quota.holdUntilMs = null;
      key.touched.add(quota.id());
    } else if (event instanceof BucketsResynced e) {
      resync(key, quota, e);
    } else if (event instanceof LimitLearned e) {
      Buckets.refill(key, quota);
      SharedBuckets.refillParts(key, quota);
      quota.learnedLimits[e.dimension().ordinal()] = e.limitPerMinute();
      Buckets.clipAll(quota);
      SharedBuckets.clipParts(key, quota);
    } else if (event instanceof WaiterReweighted e) {
      LeaseApplier.reweight(key, quota, e);
    } else if (event instanceof TaskUpdated e) {
      updateTask(key, e);
    } else if (event instanceof QuotaRemoved) {
      quota.removed = true;
      key.touched.add(quota.id());
    }
    // What is left (DecisionRepeated, RequestIgnored, DuplicateIgnored, SettlementIgnored) is told,
    // and
    // changes nothing.
  }

  private static void reject(KeyState key, QuotaState quota, LeaseRejected e) {
    if (e.contentHash() == null) {
      return; // Told, and not remembered: what stands under this id, if anything, stays as it is.
    }
    String identity = Identity.ofRequest(e.agentId(), e.requestId());
    Waiter waiter = key.waiters.get(identity);
    if (waiter != null) {
      LeaseApplier.leaveQueue(key, quota, waiter, identity);
    }
    key.remember(
        new RememberedRow(
            e.quotaId(),
            identity,
            e.contentHash(),
            Ending.REJECTED,
            null,
            e.reason(),
            e.retryAtMs(),
            e.keptTag(),
            key.nowMs + KeyState.REMEMBER_MS,
            e.attempt(),
            e.budgetTask(),
            false,
            null));
  }

  private static void updateTask(KeyState key, TaskUpdated e) {
    TaskRow before = key.tasks.get(e.taskId());
    key.updateTask(e.taskId(), e.role(), new TaskNode(e.state(), e.blockedOn()));
    boolean doneBefore = before != null && before.node() != null && done(before.node().state());
    if (before != null && done(e.state()) && !doneBefore) {
      TaskRow now = key.tasks.get(e.taskId());
      if (now.role() != null && now.calls() > 0) {
        key.roles.learnTask(key, now.role(), now.calls());
      }
    }
  }

  /** A task that failed says nothing of how many calls one takes. */
  private static boolean done(TaskUpdate.State state) {
    return state == TaskUpdate.State.DONE || state == TaskUpdate.State.MERGED;
  }

  private static void cancel(KeyState key, QuotaState quota, LeaseCancelled e) {
    String identity = Identity.ofRequest(e.agentId(), e.requestId());
    String contentHash = null;
    if (e.wasWaiting()) {
      Waiter waiter = key.waiters.get(identity);
      contentHash = waiter.contentHash();
      LeaseApplier.leaveQueue(key, quota, waiter, identity);
    }
    key.remember(ended(key, e.quotaId(), identity, contentHash, Ending.CANCELLED));
  }

  private static void unleased(KeyState key, QuotaState quota, UnleasedCharged e) {
    Buckets.refill(key, quota);
    Buckets.charge(quota, e.charged());
    SharedBuckets.takeAlso(key, e.also());
    String identity = Identity.ofRequest(e.agentId(), e.requestId());
    key.remember(ended(key, e.quotaId(), identity, null, Ending.UNLEASED));
  }

  private static RememberedRow ended(
      KeyState key, String quotaId, String identity, String contentHash, Ending ending) {
    long forgetAtMs = key.nowMs + KeyState.REMEMBER_MS;
    return new RememberedRow(
        quotaId,
        identity,
        contentHash,
        ending,
        null,
        null,
        null,
        null,
        forgetAtMs,
        1,
        null,
        false,
        null);
  }

  private static void margin(KeyState key, QuotaState quota, int toBp) {
    Buckets.refill(key, quota);
    SharedBuckets.refillParts(key, quota);
    quota.marginBp = toBp;
    Buckets.clipAll(quota);
    SharedBuckets.clipParts(key, quota);
  }

  private static void hold(KeyState key, QuotaState quota, QuotaHeld e) {
    quota.holdReason = e.reason();
    quota.holdUntilMs = e.untilMs();
    if (e.reason() == HoldReason.OVERLOADED) {
      quota.overloads++;
    }
    key.touched.add(quota.id());
  }

  private static void resync(KeyState key, QuotaState quota, BucketsResynced e) {
    Buckets.refill(key, quota);
    for (Event.Resync r : e.dimensions()) {
      int i = r.dimension().ordinal();
      quota.buckets[i] = quota.buckets[i].withBalance(r.after());
      Long before = quota.absorbedBeforeMs[i];
      quota.absorbedBeforeMs[i] = before == null ? e.sentAtMs() : Math.max(before, e.sentAtMs());
    }
    Long last = quota.lastSignalSentAtMs;
    quota.lastSignalSentAtMs = last == null ? e.sentAtMs() : Math.max(last, e.sentAtMs());
  }
}
