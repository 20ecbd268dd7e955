package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;

/** RATE: refill and depth are scaled by the margin, and the whole balance is usable. */
public final class RateMargin implements MarginMode {
  /** The only instance needed. */
  public static final RateMargin INSTANCE = new RateMargin();

  private RateMargin() {}

  @Override
  public MarginModeName name() {
    return MarginModeName.RATE;
  }

  @Override
  public long unitsPerMs(long limitPerMinute, int rateBp, int marginBp, long outsideMilli) {
    return FixedPoint.unitsPerMs(
        limitPerMinute, Math.max(1, rateBp * marginBp / FixedPoint.ONE_BP));
  }

  @Override
  public long cap(long depth, int marginBp) {
    // Never below one: an empty bucket must not count as a full one.
    return Math.max(1, FixedPoint.mulDiv(depth, marginBp, FixedPoint.ONE_BP));
  }

  @Override
  public long usable(Dimension dimension, long balance, long depth, int marginBp) {
    return balance;
  }
}
