package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;

/**
 * RESERVE: the bucket runs like the provider's, and the margin is a part of it that is never
 * granted. For shallow buckets, where a scaled depth would leave no room for a call.
 */
public final class ReserveMargin implements MarginMode {
  /** The only instance needed. */
  public static final ReserveMargin INSTANCE = new ReserveMargin();

  private ReserveMargin() {}

  @Override
  public MarginModeName name() {
    return MarginModeName.RESERVE;
  }

  @Override
  public long unitsPerMs(long limitPerMinute, int rateBp, int marginBp, long outsideMilli) {
    return OutsideRate.refillUnitsPerMs(limitPerMinute, rateBp, outsideMilli);
  }

  @Override
  public long cap(long depth, int marginBp) {
    return depth;
  }

  @Override
  public long usable(Dimension dimension, long balance, long depth, int marginBp) {
    return Amounts.saturatedSubtract(balance, depth - RateMargin.INSTANCE.cap(depth, marginBp));
  }
}
