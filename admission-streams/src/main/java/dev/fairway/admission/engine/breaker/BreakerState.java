package dev.fairway.admission.engine.breaker;

import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.RulePolicy;

/**
 * What 429s and overloads left behind at a quota. Immutable; boxed fields, the id and the ramp may
 * be null.
 *
 * @param phase phase of the breaker
 * @param failures waits of this episode that ended in another 429
 * @param openedAtMs when the last episode began; 429s of leases granted until then belong to it
 * @param untilMs OPEN: no probe before; HALF_OPEN: when the probe is given up. Else 0
 * @param probeLeaseId lease of the probe while HALF_OPEN
 * @param lastRefusedAtMs when the last 429 that counts came
 * @param pausedAtMs when the last pause for OVERLOADED began; OVERLOADED of leases granted until
 *     then belongs to it
 * @param ramp ramp in force, or to come after a hold; a trickle while CLOSED for want of answers
 * @param idleProbes probes in a row, until now, that were given back or stayed silent
 */
public record BreakerState(
    Phase phase,
    int failures,
    Long openedAtMs,
    long untilMs,
    String probeLeaseId,
    Long lastRefusedAtMs,
    Long pausedAtMs,
    Ramp ramp,
    int idleProbes) {

  /** Nothing happened so far. */
  public static final BreakerState NONE =
      new BreakerState(Phase.CLOSED, 0, null, 0, null, null, null, null, 0);

  /** Phases of a breaker. */
  public enum Phase {
    /** Grants go out. */
    CLOSED,
    /** Nothing is granted until the time of the next probe. */
    OPEN,
    /** One probe is in flight, and nothing else is granted. */
    HALF_OPEN
  }

  /** Whether it is open, a probe in flight or not. */
  public boolean isOpen() {
    return phase != Phase.CLOSED;
  }

  /** Whether grants trickle, since too many probes told nothing: each of them is a probe. */
  public boolean trickles() {
    return ramp != null && ramp.trickle();
  }

  /** Whether the provider took no call yet since it opened. */
  public boolean isUnproven() {
    return isOpen() || trickles();
  }

  /** Whether a lease was granted before the last episode began, or in the same millisecond. */
  public boolean predates(long grantedAtMs) {
    return openedAtMs != null && grantedAtMs <= openedAtMs;
  }

  /**
   * Open, with the next probe at that time.
   *
   * @param idle whether a probe was in flight that told nothing
   */
  public BreakerState opened(int nowFailures, long probeAtMs, long atMs, boolean idle) {
    return new BreakerState(
        Phase.OPEN,
        nowFailures,
        isUnproven() ? openedAtMs : (Long) atMs,
        probeAtMs,
        null,
        lastRefusedAtMs,
        pausedAtMs,
        null,
        idle ? idleProbes + 1 : 0);
  }

  /** With that probe in flight. */
  public BreakerState halfOpen(String leaseId, long probeUntilMs) {
    return new BreakerState(
        Phase.HALF_OPEN,
        failures,
        openedAtMs,
        probeUntilMs,
        leaseId,
        lastRefusedAtMs,
        pausedAtMs,
        ramp,
        idleProbes);
  }

  /** Closed again; the next 429 is a first one. */
  public BreakerState closed() {
    Ramp after = trickles() ? null : ramp;
    return new BreakerState(Phase.CLOSED, 0, openedAtMs, 0, null, null, pausedAtMs, after, 0);
  }

  /** Closed for want of answers, into a trickle; the next 429 opens it again as it was. */
  public BreakerState trickling(long fromMs) {
    Ramp trickle = Ramp.trickleFrom(fromMs);
    return new BreakerState(
        Phase.CLOSED, failures, openedAtMs, 0, null, null, pausedAtMs, trickle, 0);
  }

  /** After a 429 that counts. */
  public BreakerState refused(long atMs) {
    return with(atMs, pausedAtMs, ramp);
  }

  /** With a pause that began then. */
  public BreakerState paused(long atMs) {
    return with(lastRefusedAtMs, atMs, ramp);
  }

  /** With that ramp, or without one. */
  public BreakerState with(Ramp newRamp) {
    return with(lastRefusedAtMs, pausedAtMs, newRamp);
  }

  /**
   * What of it lasts under those rules: without a breaker it is closed, without a ramp grants are
   * paced no more, and without episodes each overload is one of its own.
   */
  public BreakerState under(RulePolicy rules) {
    Long pause = rules.has(Rule.EPISODES) ? pausedAtMs : null;
    Ramp paced = (trickles() ? rules.has(Rule.BREAKER) : rules.has(Rule.RAMP)) ? ramp : null;
    return rules.has(Rule.BREAKER)
        ? with(lastRefusedAtMs, pause, paced)
        : new BreakerState(Phase.CLOSED, 0, null, 0, null, null, pause, paced, 0);
  }

  private BreakerState with(Long newLastRefusedAtMs, Long newPausedAtMs, Ramp newRamp) {
    return new BreakerState(
        phase,
        failures,
        openedAtMs,
        untilMs,
        probeLeaseId,
        newLastRefusedAtMs,
        newPausedAtMs,
        newRamp,
        idleProbes);
  }
}
