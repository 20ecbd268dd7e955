package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BreakerCause;
import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.BreakerHalfOpen;
import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Event.RampEnded;
import dev.fairway.admission.engine.Event.RampStarted;
import dev.fairway.admission.engine.Event.RefusalCounted;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.Ramp;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.state.Row.BreakerRow;
import dev.fairway.admission.engine.state.Row.RowId;
import java.util.Map;

/** What events mean for the breaker of a quota and for the ramp after a pause. */
final class BreakerApplier {

  private BreakerApplier() {}

  /** Applies an event of the breaker's own; false if it is another one. */
  static boolean apply(KeyState key, QuotaState quota, Event event) {
    if (event instanceof RefusalCounted) {
      set(key, quota, quota.breaker.refused(key.nowMs));
    } else if (event instanceof BreakerOpened e) {
      boolean idle =
          e.cause() == BreakerCause.PROBE_NOT_SENT || e.cause() == BreakerCause.PROBE_SILENT;
      set(key, quota, quota.breaker.opened(e.failures(), e.probeAtMs(), key.nowMs, idle));
    } else if (event instanceof BreakerHalfOpen e) {
      set(key, quota, quota.breaker.halfOpen(e.leaseId(), e.probeUntilMs()));
    } else if (event instanceof BreakerClosed e) {
      Long trickleMs = e.trickleFromMs();
      BreakerState breaker = quota.breaker;
      set(key, quota, trickleMs == null ? breaker.closed() : breaker.trickling(trickleMs));
    } else if (event instanceof RampStarted e) {
      set(key, quota, quota.breaker.with(Ramp.startingAt(e.fromMs())));
    } else if (event instanceof RampEnded) {
      set(key, quota, quota.breaker.with(null));
    } else {
      return false;
    }
    return true;
  }

  static void held(KeyState key, QuotaState quota, QuotaHeld e) {
    if (e.reason() == HoldReason.OVERLOADED && quota.policy.rules().has(Rule.EPISODES)) {
      set(key, quota, quota.breaker.paused(key.nowMs));
    }
  }

  /** A grant moves the time of the next one. */
  static void granted(KeyState key, QuotaState quota, LeaseGranted e) {
    Map<String, Amounts> also = e.taken().also();
    charge(key, quota, phase(key, quota, e.charged(), also));
    also.forEach(
        (id, charge) -> {
          QuotaState other = key.quotas.get(id);
          if (other != null) {
            charge(key, other, Ramps.phase(other, charge));
          }
        });
  }

  /** What a paced grant did not use makes room for the next one, wherever it was paced. */
  static void settled(KeyState key, QuotaState quota, Lease before, LeaseSettled e) {
    Map<String, Amounts> took = before.taken().also();
    Map<String, Amounts> used = SharedBuckets.left(before.taken(), e.shift()).also();
    long own = phase(key, quota, before.charged(), took) - phase(key, quota, e.actual(), used);
    giveBack(key, quota, before, own);
    took.forEach(
        (id, charge) -> {
          QuotaState other = key.quotas.get(id);
          if (other != null) {
            long unused = Ramps.phase(other, charge) - Ramps.phase(other, used.get(id));
            giveBack(key, other, before, unused);
          }
        });
  }

  private static long phase(
      KeyState key, QuotaState quota, Amounts charge, Map<String, Amounts> also) {
    return Ramps.phase(quota, charge, also, key.quotas::get);
  }

  private static void charge(KeyState key, QuotaState quota, long phase) {
    Ramp ramp = quota.breaker.ramp();
    if (ramp != null) {
      set(key, quota, quota.breaker.with(ramp.granted(key.nowMs, phase)));
    }
  }

  private static void giveBack(KeyState key, QuotaState quota, Lease lease, long phase) {
    Ramp ramp = quota.breaker.ramp();
    if (ramp != null && phase > 0 && lease.grantedAtMs() >= ramp.fromMs()) {
      set(key, quota, quota.breaker.with(ramp.returned(phase)));
    }
  }

  /** A rule that is not in force has no use for what it knew. */
  static void redefined(KeyState key, QuotaState quota) {
    set(key, quota, quota.breaker.under(quota.policy.rules()));
  }

  private static void set(KeyState key, QuotaState quota, BreakerState state) {
    if (state.equals(quota.breaker)) {
      return;
    }
    quota.breaker = state;
    if (state.equals(BreakerState.NONE)) {
      key.changes.delete(new RowId(Row.Kind.BREAKER, quota.id(), ""));
    } else {
      key.changes.put(new BreakerRow(quota.id(), state));
    }
  }
}
