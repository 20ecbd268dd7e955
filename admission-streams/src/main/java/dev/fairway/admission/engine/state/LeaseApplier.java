package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Bucket;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Charges;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.lease.Told;
import dev.fairway.admission.engine.lease.Unleased;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.state.Lease.Status;
import dev.fairway.admission.engine.state.Row.Ending;
import dev.fairway.admission.engine.state.Row.LeaseRow;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What events mean for leases. */
final class LeaseApplier {
  private static final Set<Outcome> FAILURES =
      EnumSet.of(Outcome.RATE_LIMITED, Outcome.OVERLOADED, Outcome.FAILED_AFTER_SEND);

  private LeaseApplier() {}

  static void grant(KeyState key, QuotaState quota, LeaseGranted e) {
    String identity = Identity.ofRequest(e.agentId(), e.requestId());
    Waiter waiter = key.waiters.get(identity);
    LineApplier.dequeue(key, quota, waiter, identity);
    Buckets.refill(key, quota);
    Buckets.charge(quota, e.charged());
    SharedBuckets.take(key, quota, waiter.standing(), e.taken());
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    FlowTags.moveTime(key, quota, tenant, e.virtualTime());
    quota.topVirtualTime = Math.max(quota.topVirtualTime, e.order().topVirtualTime());
    tenant.tag = e.order().tenantTag();
    key.putTenant(quota, tenant);
    e.taken().also().keySet().forEach(id -> FlowTags.raise(key, id, e.order().topVirtualTime()));
    if (e.order().passedRequestId() != null) {
      LineApplier.pass(key, quota, e);
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
            Told.NOTHING,
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
    LearnApplier.learnWait(key, quota, waiter);
    indexLease(key, quota, lease);
    key.changes.put(new LeaseRow(lease));
    BreakerApplier.granted(key, quota, e);
  }

  static void indexLease(KeyState key, QuotaState quota, Lease lease) {
    quota.leases.put(lease.leaseId(), lease);
    quota.sent.add(lease.sentByMs(), lease.leaseId());
    quota.unleased += lease.isUnleased() ? 1 : 0;
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
    quota.sent.remove(lease.sentByMs(), lease.leaseId());
    quota.unleased -= lease.isUnleased() ? 1 : 0;
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

  static void replace(KeyState key, QuotaState quota, Lease old, Lease lease) {
    unindexLease(key, quota, old);
    indexLease(key, quota, lease);
    key.changes.put(new LeaseRow(lease));
  }

  /**
   * An ended lease stays while a resync may ask for it, or a last minute may count it, be it that
   * of a quota that it took from too; an expired one while it may be settled late.
   */
  private static long sweepAtMs(QuotaState quota, Lease lease) {
    boolean mayCount = quota.lastMinute.counts() || quota.takesFromOthers();
    long resync =
        mayCount
            ? RollingUse.keptUntilMs(lease)
            : lease.grantedAtMs() + QuotaState.RESYNC_WINDOW_MS;
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

  /** Each open lease holds a slot of its tenant's ceiling, and nobody else does. */
  static void takeCeilingSlots(KeyState key, QuotaState quota) {
    Dimension d = Dimension.CONCURRENT_REQUESTS;
    for (TenantState tenant : quota.tenants.values()) {
      if (tenant.ceiling != null && tenant.ceiling.has(d)) {
        tenant.ceiling.buckets[d.ordinal()] = Bucket.at(tenant.ceiling.cap(quota, d));
      }
    }
    for (Lease lease : List.copyOf(quota.leases.values())) {
      TenantState tenant = quota.tenant(lease.standing().tenant());
      boolean counts =
          lease.status() == Status.OPEN
              && tenant != null
              && tenant.ceiling != null
              && tenant.ceiling.has(d);
      if (counts) {
        tenant.ceiling.charge(Amounts.of(d, 1));
        if (!lease.taken().ceiling().has(d)) {
          replace(key, quota, lease, lease.holdingOfCeiling(d, 1));
        }
      }
    }
  }

  /** A signal was applied: its own call, and those sent before it, are uncertain no more. */
  static void signalled(KeyState key, QuotaState quota, BucketsResynced e) {
    for (Event.Resync r : e.dimensions()) {
      Long beforeMs = quota.absorbedBeforeMs[r.dimension().ordinal()];
      if (beforeMs == null) {
        continue;
      }
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
      quota.lastMinute.add(lease, lease.charged());
    } else {
      quota.lastMinute.remove(lease.leaseId());
    }
    for (Map.Entry<String, Amounts> held : lease.taken().also().entrySet()) {
      QuotaState other = key.quotas.get(held.getKey());
      if (other != null && in) {
        other.lastMinute.add(lease, held.getValue());
      } else if (other != null) {
        other.lastMinute.remove(lease.leaseId());
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
    quota.lastMinute.clear();
    for (Lease lease : quota.leases.values()) {
      quota.indexUncertain(lease, lease.charged());
      quota.lastMinute.add(lease, lease.charged());
    }
    for (QuotaState taker : key.quotas.values()) {
      for (Lease lease : taker.leases.values()) {
        Amounts held = lease.taken().also().get(quota.id());
        if (held != null) {
          quota.indexUncertain(lease, held);
          quota.lastMinute.add(lease, held);
        }
      }
    }
  }

  /** A tenant ends: a call that comes back in one of its name later comes anew. */
  static void endPlaces(KeyState key, QuotaState quota, String tenant) {
    for (Lease lease : List.copyOf(quota.leases.values())) {
      if (lease.status() == Status.OPEN && tenant.equals(lease.standing().tenant())) {
        replace(key, quota, lease, lease.withoutPlace());
      }
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
    LearnApplier.learnDelay(quota, e.sendDelayMs());
    Taken taken = SharedBuckets.left(old.taken(), e.shift());
    String tenant = old.standing().tenant();
    FlowTags.used(key, quota, tenant, e.agentId(), e.tagShift(), e.shift().tenantTag());
    Lease lease =
        old.renewed(e.adjusted(), e.told(), e.expiresAtMs(), taken)
            .costing(e.cost())
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
    LearnApplier.learnDelay(quota, e.sendDelayMs());
    BreakerApplier.settled(key, quota, old, e);
    FlowTags.settled(key, quota, old, e);
    TrafficApplier.settled(key, quota, old, e);
    LearnApplier.learnCall(key, quota, old, e);
    if (e.outcome() == Outcome.SUCCEEDED) {
      quota.overloads = 0;
      key.succeeded(e.agentId(), Charges.share(quota, cost(old, e.tagShift()), true));
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
      LineApplier.passedMore(key, quota, old, e.actual());
    }
    Lease lease =
        old.ended(Status.SETTLED, key.nowMs, e.actual(), SharedBuckets.left(old.taken(), e.shift()))
            .sentAfter(e.sendDelayMs());
    replace(key, quota, old, lease);
    boolean failed = FAILURES.contains(e.outcome());
    long share = failed ? Charges.share(quota, cost(old, e.tagShift()), false) : 0;
    key.remember(ended(key, old, Ending.SETTLED, failed, share));
    if (e.outcome() == Outcome.UNLEASED) {
      // Its report, should it come again, is of this call.
      String report = Unleased.identity(quota, e.agentId(), e.requestId());
      key.remember(Applier.ended(key, e.quotaId(), report, null, Ending.UNLEASED));
    }
  }

  /** An expired lease was not told to have failed: only who says so retries it. */
  private static RememberedRow ended(
      KeyState key, Lease lease, Ending ending, boolean failed, long share) {
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
        failed ? lease.request().agentId() : null,
        null,
        share);
  }

  /** What a call cost in the fair queue, after its tag moved once more. */
  private static long cost(Lease before, long tagShift) {
    int weight = before.weightMilli();
    long length = Tags.length(before.cost(), weight);
    return Tags.cost(Amounts.saturatedAdd(length, tagShift), weight);
  }

  static void expire(KeyState key, QuotaState quota, LeaseExpired e) {
    Lease old = quota.leases.get(e.leaseId());
    Buckets.refill(key, quota);
    Buckets.adjust(quota, e.adjusted());
    SharedBuckets.adjust(key, quota, old, e.shift());
    Buckets.freeSlot(quota, old.charged());
    SharedBuckets.freeSlots(key, quota, old);
    String tenant = old.standing().tenant();
    FlowTags.used(key, quota, tenant, e.agentId(), e.tagShift(), e.shift().tenantTag());
    Lease lease =
        old.ended(
                Status.EXPIRED,
                key.nowMs,
                old.charged().minus(e.adjusted()),
                SharedBuckets.left(old.taken(), e.shift()))
            .costing(e.cost())
            .heeded();
    replace(key, quota, old, lease);
    long share = Charges.share(quota, cost(old, e.tagShift()), false);
    key.remember(ended(key, old, Ending.EXPIRED, false, share));
  }
}
