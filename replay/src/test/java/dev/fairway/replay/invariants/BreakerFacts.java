package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.BreakerState.Phase;

/** What the fields of a breaker say, read without the engine's own reading of them. */
final class BreakerFacts {
  private BreakerFacts() {}

  /** Whether it is open, a probe in flight or not. */
  static boolean isOpen(BreakerState breaker) {
    return breaker.phase() == Phase.OPEN || breaker.phase() == Phase.HALF_OPEN;
  }

  /** Whether grants trickle, since its probes told nothing. */
  static boolean trickles(BreakerState breaker) {
    return breaker.ramp() != null && breaker.ramp().trickle();
  }

  /** Whether nobody knows yet that the provider takes calls again. */
  static boolean isUnproven(BreakerState breaker) {
    return isOpen(breaker) || trickles(breaker);
  }

  /** Whether a call was granted by the time that the last episode began. */
  static boolean predates(BreakerState breaker, long grantedAtMs) {
    return breaker.openedAtMs() != null && breaker.openedAtMs() >= grantedAtMs;
  }
}
