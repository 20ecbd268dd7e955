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
import dev.fairway.admission.engine.Event.SafeCapacityTold;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.state.Row.Ending;
import dev.fairway.admission.engine.state.Row.RememberedRow;

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
      LeaseApplier.enqueue(key, quota, e.waiter());
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
      quota.learnedLimits[e.dimension().ordinal()] = e.limitPerMinute();
      Buckets.clipAll(quota);
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
            key.nowMs + KeyState.REMEMBER_MS));
  }

  private static void cancel(KeyState key, QuotaState quota, LeaseCancelled e) {
    String identity = Identity.ofRequest(e.agentId(), e.requestId());
    String contentHash = null;
    if (e.wasWaiting()) {
      Waiter waiter = key.waiters.get(identity);
      contentHash = waiter.contentHash();
      LeaseApplier.leaveQueue(key, quota, waiter, identity);
    }
    key.remember(ended(key, e.quotaId(), identity, contentHash, Ending.CANCELLED, null));
  }

  private static void unleased(KeyState key, QuotaState quota, UnleasedCharged e) {
    Buckets.refill(key, quota);
    Buckets.charge(quota, e.charged());
    String identity = Identity.ofRequest(e.agentId(), e.requestId());
    key.remember(ended(key, e.quotaId(), identity, null, Ending.UNLEASED, null));
  }

  static RememberedRow ended(
      KeyState key,
      String quotaId,
      String identity,
      String contentHash,
      Ending ending,
      String leaseId) {
    long forgetAtMs = key.nowMs + KeyState.REMEMBER_MS;
    return new RememberedRow(
        quotaId, identity, contentHash, ending, leaseId, null, null, null, forgetAtMs);
  }

  private static void margin(KeyState key, QuotaState quota, int toBp) {
    Buckets.refill(key, quota);
    quota.marginBp = toBp;
    Buckets.clipAll(quota);
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
      quota.absorbedBeforeMs[i] = before == null ? e.sentAtMs() : Math.max(before, e.sentAtMs());
    }
    Long last = quota.lastSignalSentAtMs;
    quota.lastSignalSentAtMs = last == null ? e.sentAtMs() : Math.max(last, e.sentAtMs());
  }
}
