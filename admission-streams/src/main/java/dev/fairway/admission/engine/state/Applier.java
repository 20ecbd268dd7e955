package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.AlertCleared;
import dev.fairway.admission.engine.Event.AlertRaised;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.CacheClaimChecked;
import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.LeaseCancelled;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.LimitForgotten;
import dev.fairway.admission.engine.Event.LimitLearned;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.MarginModeChanged;
import dev.fairway.admission.engine.Event.MarginRestored;
import dev.fairway.admission.engine.Event.QuotaDefined;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Event.QuotaReleased;
import dev.fairway.admission.engine.Event.QuotaRemoved;
import dev.fairway.admission.engine.Event.ResetLearned;
import dev.fairway.admission.engine.Event.SafeCapacityTold;
import dev.fairway.admission.engine.Event.SafetyFactorChanged;
import dev.fairway.admission.engine.Event.TaskUpdated;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.TaskUpdate;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.lease.Unleased;
import dev.fairway.admission.engine.margin.Need;
import dev.fairway.admission.engine.state.Row.AlertRow;
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
    if (BreakerApplier.apply(key, quota, event)) {
      return;
    }
    if (event instanceof SafeCapacityTold e) {
      ShareApplier.told(key, quota, e);
    } else if (event instanceof QuotaDefined e) {
      DefinitionApplier.define(key, e);
    } else if (event instanceof LeaseEnqueued e) {
      LineApplier.enqueue(key, quota, e);
    } else if (event instanceof LeaseGranted e) {
      LeaseApplier.grant(key, quota, e);
    } else if (event instanceof LeaseQueued e) {
      LineApplier.told(key, quota, e.agentId(), e.requestId(), e.etaMs());
    } else if (event instanceof Event.EtaRevised e) {
      LineApplier.told(key, quota, e.agentId(), e.requestId(), e.etaMs());
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
      Buckets.learn(key, quota, e.dimension(), e.limitPerMinute());
      SharedBuckets.clipParts(key, quota);
    } else if (event instanceof LimitForgotten e) {
      Buckets.refill(key, quota);
      SharedBuckets.refillParts(key, quota);
      quota.forgetLimit(e.dimension());
      SharedBuckets.clipParts(key, quota);
    } else if (event instanceof MarginModeChanged e) {
      Buckets.refill(key, quota);
      SharedBuckets.refillParts(key, quota);
      quota.modes[e.dimension().ordinal()] = e.to();
      quota.outside[e.dimension().ordinal()] = quota.outside(e.dimension()).paused();
      Buckets.clipAll(quota);
      SharedBuckets.clipParts(key, quota);
      noteFloor(key, quota);
    } else if (event instanceof SafetyFactorChanged e) {
      safetyFactor(key, quota, e);
    } else if (event instanceof CacheClaimChecked e) {
      quota.statistics().learnCache(key, quota.id(), e.agentId(), e.believed());
    } else if (event instanceof ResetLearned e) {
      Buckets.refill(key, quota);
      SharedBuckets.refillParts(key, quota);
      quota.resetAtMs[e.dimension().ordinal()] = e.resetAtMs();
      SharedBuckets.clipParts(key, quota);
    } else if (event instanceof AlertRaised e) {
      alert(key, quota, new AlertRow(e.quotaId(), e.kind(), e.subject(), key.nowMs), true);
    } else if (event instanceof AlertCleared e) {
      alert(key, quota, quota.alerts.remove(e.kind(), e.subject()), false);
    } else if (event instanceof WaiterReweighted e) {
      LineApplier.reweight(key, quota, e);
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
      LineApplier.leaveQueue(key, quota, waiter, identity);
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
            null,
            e.tenant()));
    FlowTags.keep(key, quota, e);
  }

  private static void updateTask(KeyState key, TaskUpdated e) {
    TaskRow before = key.tasks.get(e.taskId());
    key.updateTask(e.taskId(), e.role(), new TaskNode(e.state(), e.blockedOn()));
    boolean doneBefore = before != null && before.node() != null && done(before.node().state());
    if (before != null && done(e.state()) && !doneBefore) {
      TaskRow now = key.tasks.get(e.taskId());
      if (now.role() != null && now.calls() > 0) {
        learnTask(key, now.role(), now.calls());
      }
    }
  }

  /** A task belongs to the key: every quota that the role calls learns of it. */
  private static void learnTask(KeyState key, String role, int calls) {
    for (QuotaState quota : key.quotas.values()) {
      if (quota.policy.observes() && quota.statistics.role(role) != null) {
        quota.statistics.learnTask(key, quota.id(), role, calls);
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
      LineApplier.leaveQueue(key, quota, waiter, identity);
    }
    key.remember(ended(key, e.quotaId(), identity, contentHash, Ending.CANCELLED));
  }

  private static void unleased(KeyState key, QuotaState quota, UnleasedCharged e) {
    Buckets.refill(key, quota);
    Buckets.charge(quota, e.charged());
    SharedBuckets.takeAlso(key, e.also());
    TrafficApplier.unleased(key, quota, e);
    if (e.tenant() != null) {
      SharedBuckets.takeOfCeiling(key, quota, e.tenant(), e.ceiling());
      FlowTags.used(key, quota, e.tenant(), e.agentId(), e.tagShift(), e.tenantTag());
      UnleasedCall.keep(key, quota, e);
    }
    String identity = Unleased.identity(quota, e.agentId(), e.requestId());
    key.remember(ended(key, e.quotaId(), identity, null, Ending.UNLEASED));
    String request = Identity.ofRequest(e.agentId(), e.requestId());
    boolean known =
        key.remembered(request) != null
            || key.waiters.containsKey(request)
            || key.leaseOfRequest.containsKey(request);
    if (!known) {
      // Should its own request still come, the call is made and charged.
      key.remember(ended(key, e.quotaId(), request, null, Ending.UNLEASED));
    }
  }

  static RememberedRow ended(
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
        null,
        null);
  }

  private static void margin(KeyState key, QuotaState quota, int toBp) {
    Buckets.refill(key, quota);
    SharedBuckets.refillParts(key, quota);
    int beforeBp = quota.marginBp;
    quota.marginBp = toBp;
    Buckets.follow(quota, beforeBp);
    SharedBuckets.clipParts(key, quota);
    noteFloor(key, quota);
  }

  /** Since when nothing is left to take off the margin. */
  static void noteFloor(KeyState key, QuotaState quota) {
    boolean followed = quota.anyIn(MarginModeName.ADAPTIVE);
    boolean atFloor =
        followed
            ? quota.zMilli >= Need.MAX_Z_MILLI
            : quota.marginBp <= quota.policy.marginFloorBp()
                && quota.marginBp < quota.policy.marginStartBp();
    quota.floorSinceMs =
        !atFloor ? null : quota.floorSinceMs != null ? quota.floorSinceMs : (Long) key.nowMs;
  }

  private static void safetyFactor(KeyState key, QuotaState quota, SafetyFactorChanged e) {
    boolean raised = e.toMilli() > e.fromMilli();
    if (raised) {
      quota.lastCutAtMs = key.nowMs;
      quota.zFallsFromMs = key.nowMs;
    } else {
      quota.zFallsFromMs =
          e.toMilli() > Need.START_Z_MILLI ? (Long) (quota.zFallsFromMs + Need.CLEAN_MS) : null;
    }
    quota.zMilli = e.toMilli();
    noteFloor(key, quota);
    key.touched.add(quota.id());
  }

  private static void alert(KeyState key, QuotaState quota, AlertRow row, boolean raised) {
    if (raised) {
      quota.alerts.put(row);
      key.changes.put(row);
    } else {
      key.changes.delete(row.id());
    }
    if (row.kind() == AlertKind.ESTIMATE_ERROR) {
      quota.statistics.alerted(key, quota.id(), row.subject(), raised);
    }
  }

  private static void hold(KeyState key, QuotaState quota, QuotaHeld e) {
    quota.holdReason = e.reason();
    quota.holdUntilMs = e.untilMs();
    if (e.reason() == HoldReason.OVERLOADED) {
      quota.overloads++;
    }
    BreakerApplier.held(key, quota, e);
    key.touched.add(quota.id());
  }

  private static void resync(KeyState key, QuotaState quota, BucketsResynced e) {
    Buckets.refill(key, quota);
    for (Event.Resync r : e.dimensions()) {
      int i = r.dimension().ordinal();
      quota.buckets[i] = quota.buckets[i].withBalance(r.after());
      Long before = quota.absorbedBeforeMs[i];
      if (r.low() != null) { // A bound from above alone holds no call: ours goes by what they used.
        quota.absorbedBeforeMs[i] = before == null ? e.sentAtMs() : Math.max(before, e.sentAtMs());
      }
      Long answered = quota.answeredAtMs[i];
      quota.answeredAtMs[i] =
          answered == null ? e.answeredAtMs() : Math.max(answered, e.answeredAtMs());
      if (quota.modes[i] == MarginModeName.ADAPTIVE) {
        long lost = Amounts.saturatedSubtract(r.before(), r.after());
        quota.outside[i] = quota.outside[i].sampled(key.nowMs, lost, r.outsideMilli());
      }
    }
    LeaseApplier.signalled(key, quota, e);
    Long last = quota.lastSignalSentAtMs;
    quota.lastSignalSentAtMs = last == null ? e.sentAtMs() : Math.max(last, e.sentAtMs());
  }
}
