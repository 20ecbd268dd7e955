package dev.fairway.admission.engine.breaker;

import dev.fairway.admission.engine.bucket.Amounts;

/**
 * Paces the first grants after a pause, or, as a trickle, those that stand in for probes.
 * Immutable; pure integer arithmetic.
 *
 * <p>With t the milliseconds since its start, the clock of the ramp runs at the speed 1/2 + t / 120
 * s: half speed at first, full speed after 60 s. A <i>phase</i> is a time of that clock in units of
 * 1/{@value #PHASE_PER_MS} ms, an integer at every millisecond.
 *
 * <p>The clock of a trickle runs at a quarter of the speed for as long as nobody answers, and saves
 * nothing up. One grant keeps the next one back no longer than a probe may stay silent.
 *
 * @param fromMs when it starts; no grant before, epoch milliseconds
 * @param nextPhase phase at which the next grant may go
 * @param trickle whether it is a trickle
 */
public record Ramp(long fromMs, long nextPhase, boolean trickle) {
  /** The clock runs at full speed after this time. */
  public static final long FULL_AFTER_MS = 60_000;

  /**
   * The ramp ends after this time, at twice the speed. Since full speed it has given out a minute
   * of the rate more than was refilled: all that a bucket had saved up.
   */
  public static final long LASTS_MS = 180_000;

  /** Phase units of a millisecond at full speed. */
  static final long PHASE_PER_MS = 4 * FULL_AFTER_MS;

  private static final int FULL_SPEED_BP = 10_000;

  private static final int TRICKLE_PART = 4;

  private static final long TRICKLE_PHASE_PER_MS = PHASE_PER_MS / TRICKLE_PART;

  /** Most phase that one grant of a trickle takes. */
  private static final long MOST_PHASE_OF_TRICKLE = Breaker.PROBE_TIMEOUT_MS * TRICKLE_PHASE_PER_MS;

  /** Phase that may be saved up: a second of the rate. */
  private static final long BURST_PHASE = 1_000 * PHASE_PER_MS;

  /** A ramp that starts then. */
  public static Ramp startingAt(long fromMs) {
    return new Ramp(fromMs, 0, false);
  }

  /** A trickle that starts then. */
  static Ramp trickleFrom(long fromMs) {
    return new Ramp(fromMs, 0, true);
  }

  /** When it is over; {@link Long#MAX_VALUE} for a trickle, which no time ends. */
  public long endMs() {
    return trickle ? Long.MAX_VALUE : fromMs + LASTS_MS;
  }

  /** Speed of the clock at that time, basis points, at most 10 000. */
  public int speedBp(long atMs) {
    if (trickle) {
      return FULL_SPEED_BP / TRICKLE_PART;
    }
    long t = Math.max(0, Math.min(atMs - fromMs, FULL_AFTER_MS));
    return (int) (FULL_SPEED_BP / 2 + t * (FULL_SPEED_BP / 2) / FULL_AFTER_MS);
  }

  /** After a grant whose charge takes that much phase to refill. */
  public Ramp granted(long atMs, long phase) {
    return new Ramp(fromMs, Amounts.saturatedAdd(ready(atMs), bounded(phase)), trickle);
  }

  /** That much of what was granted was not used. */
  public Ramp returned(long phase) {
    return new Ramp(fromMs, nextPhase - Math.min(bounded(phase), nextPhase), trickle);
  }

  /**
   * Milliseconds from that time until the next grant may go, if grants worth so much phase go
   * before it; 0 for now.
   */
  public long msUntil(long atMs, long phaseAhead) {
    long target = Amounts.saturatedAdd(ready(atMs), phaseAhead);
    return Math.max(0, Amounts.saturatedAdd(fromMs, msOf(target)) - atMs);
  }

  private long bounded(long phase) {
    return trickle ? Math.min(phase, MOST_PHASE_OF_TRICKLE) : phase;
  }

  private long ready(long atMs) {
    return Math.max(nextPhase, phaseOf(atMs - fromMs) - (trickle ? 0 : BURST_PHASE));
  }

  /** Phase after so many milliseconds: the integral of the clock's speed. */
  private long phaseOf(long ms) {
    if (trickle) {
      return Math.max(0, ms) * TRICKLE_PHASE_PER_MS;
    }
    long t = Math.max(0, Math.min(ms, LASTS_MS));
    return t * (2 * FULL_AFTER_MS + t);
  }

  /** The first millisecond at which the clock shows that phase, or the end of the ramp. */
  private long msOf(long phase) {
    if (trickle) {
      return phase / TRICKLE_PHASE_PER_MS + (phase % TRICKLE_PHASE_PER_MS == 0 ? 0 : 1);
    }
    long low = 0;
    long high = LASTS_MS;
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (phaseOf(middle) >= phase) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
