package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.bucket.Dimension;

/**
 * How a margin is applied to a bucket: how fast it refills, how high it gets, and what of it may be
 * used. Pure arithmetic; a change of mode keeps the balance, clipped to the new cap.
 */
public interface MarginMode {

  /** The mode of that name, which is not AUTO. */
  static MarginMode of(MarginModeName name) {
    switch (name) {
      case RESERVE:
        return ReserveMargin.INSTANCE;
      case ADAPTIVE:
        return AdaptiveMargin.INSTANCE;
      default:
        return RateMargin.INSTANCE;
    }
  }

  /** Name, never AUTO. */
  MarginModeName name();

  /**
   * Refill units per millisecond ({@link
   * dev.fairway.admission.engine.bucket.FixedPoint#unitsPerMs}), always positive.
   *
   * @param rateBp share of the limit that the provider's window gives back continuously
   * @param outsideMilli what others take, thousandths of a token per minute
   */
  long unitsPerMs(long limitPerMinute, int rateBp, int marginBp, long outsideMilli);

  /** Highest balance that refills and refunds reach. */
  long cap(long depth, int marginBp);

  /** What of a balance may be used. */
  long usable(Dimension dimension, long balance, long depth, int marginBp);
}
