package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.WaitsFor;
import dev.fairway.admission.engine.WaitsFor.Reason;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.QuotaState;
import java.util.List;

/**
 * What stands in the way of everybody in a quota, whatever its buckets hold: holds, breakers,
 * ramps, the moments around a reset, and an operator's pause.
 */
final class Gates {
  /** Longer waits are told as this one. */
  static final long LONGEST_MS = 366L * 24 * 3_600_000;

  private Gates() {}

  /**
   * Until anything is granted at all: the buckets fill until then, and no further than their caps.
   * Where ETAs are sums, nothing is added up during a hold.
   */
  static Wait start(QuotaState quota, long atMs) {
    return quota.policy().rules().has(Rule.EXACT_ETA)
        ? opens(quota, others(quota), atMs)
        : Wait.NONE;
  }

  /** Until no hold and no breaker is in the way, in a quota and in those that it takes from. */
  static Wait opens(QuotaState quota, List<QuotaState> others, long atMs) {
    Wait wait = open(Wait.NONE, quota, atMs);
    for (QuotaState other : others) {
      wait = open(wait, other, atMs);
    }
    return wait;
  }

  private static Wait open(Wait wait, QuotaState quota, long atMs) {
    long probeMs = quota.breaker().isOpen() ? quota.breaker().untilMs() - atMs : 0;
    return wait.orLonger(hold(quota, atMs)).orLonger(probeMs, Reason.BREAKER, quota, null);
  }

  /** Until no hold is in the way. */
  static Wait hold(QuotaState quota, long atMs) {
    if (quota.holdReason(atMs) == null) {
      return Wait.NONE;
    }
    long ms = quota.holdUntilMs() == null ? LONGEST_MS : quota.holdUntilMs() - atMs;
    return Wait.NONE.orLonger(ms, Reason.HOLD, quota, null);
  }

  /** Until a hold or a ramp lets anybody go. */
  static Wait paced(QuotaState quota, long atMs) {
    return ramp(quota, 0, atMs).orLonger(hold(quota, atMs));
  }

  /** Until the ramp of a request's own quota lets it go behind those ahead. */
  static Wait ownRamp(QuotaState quota, Ahead ahead, long atMs) {
    List<QuotaState> also = quota.also() == null ? List.of() : quota.also();
    return ramp(quota, Ramps.phase(quota, also, ahead.demand()), atMs);
  }

  /** The same in a quota that it takes from too. */
  static Wait rampOf(QuotaState other, Ahead ahead, long atMs) {
    return ramp(other, Ramps.phase(other, ahead.demand()), atMs);
  }

  private static Wait ramp(QuotaState quota, long phase, long atMs) {
    long ms = Ramps.waitMs(quota, phase, atMs + hold(quota, atMs).ms(), atMs);
    Wait before = open(Wait.NONE, quota, atMs);
    // A ramp comes after what opened it: the longer of both is what the wait is for.
    return ms <= 2 * before.ms()
        ? new Wait(ms, before.waitsFor())
        : new Wait(ms, new WaitsFor(Reason.RAMP, quota.id(), null));
  }

  /** Right after a reset nothing is granted. */
  static Wait outOfGuard(QuotaState quota, Wait wait, long atMs) {
    if (wait.ms() >= LONGEST_MS) {
      return wait;
    }
    long ms = quota.afterResetsMs(atMs + wait.ms()) - atMs;
    return wait.waitsFor() == null
        ? wait.orLonger(ms, Reason.RESET, quota, null)
        : new Wait(ms, wait.waitsFor());
  }

  /** Of a quota and those that it takes from too, the first that an operator paused, or null. */
  static QuotaState paused(QuotaState quota) {
    if (isPaused(quota)) {
      return quota;
    }
    return others(quota).stream().filter(Gates::isPaused).findFirst().orElse(null);
  }

  private static boolean isPaused(QuotaState quota) {
    return quota.definition().state() == State.PAUSED;
  }

  private static List<QuotaState> others(QuotaState quota) {
    return quota.also() == null ? List.of() : quota.also();
  }
}
