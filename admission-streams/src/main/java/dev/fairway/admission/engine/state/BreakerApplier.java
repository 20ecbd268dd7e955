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
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.Ramp;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.state.Row.BreakerRow;
import dev.fairway.admission.engine.state.Row.RowId;

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
    if (e.reason() == HoldReason.OVERLOADED && quota.policy.breaker()) {
      set(key, quota, quota.breaker.paused(key.nowMs));
    }
  }

  /** A grant moves the time of the next one. */
  static void granted(KeyState key, QuotaState quota, LeaseGranted e) {
    charge(key, quota, e.charged());
    e.taken().also().forEach((id, charge) -> charge(key, key.quotas.get(id), charge));
  }

  private static void charge(KeyState key, QuotaState quota, Amounts charge) {
    Ramp ramp = quota == null ? null : quota.breaker.ramp();
    if (ramp != null) {
      long phase = Ramps.phase(quota, charge);
      set(key, quota, quota.breaker.with(ramp.granted(key.nowMs, phase)));
    }
  }

  /** What a paced grant did not use makes room for the next one. */
  static void settled(KeyState key, QuotaState quota, Lease before, LeaseSettled e) {
    Ramp ramp = quota.breaker.ramp();
    if (ramp != null && before.grantedAtMs() >= ramp.fromMs()) {
      long unused = Ramps.phase(quota, before.charged()) - Ramps.phase(quota, e.actual());
      if (unused > 0) {
        set(key, quota, quota.breaker.with(ramp.returned(unused)));
      }
    }
  }

  /** A policy without a breaker has no use for what one knew. */
  static void redefined(KeyState key, QuotaState quota) {
    if (!quota.policy.breaker()) {
      set(key, quota, BreakerState.NONE);
    }
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
