package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;

/**
 * How a margin is applied to a bucket: how fast it refills, how high it gets, and what of it may be
 * used. Pure arithmetic; a change of mode keeps the balance, clipped to the new cap.
 */
public interface MarginMode {

  /** Name, never AUTO. */
  MarginModeName name();

  /**
   * Refill units per millisecond ({@link
   * dev.fairway.admission.engine.bucket.FixedPoint#unitsPerMs}) for a limit per minute.
   */
  long unitsPerMs(long limitPerMinute, int marginBp);

  /** Highest balance that refills and refunds reach. */
  long cap(long depth, int marginBp);

  /** What of a balance may be used. */
  long usable(long balance, long depth, int marginBp);
}
