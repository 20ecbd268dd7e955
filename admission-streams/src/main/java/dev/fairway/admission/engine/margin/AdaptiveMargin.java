package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.bucket.Dimension;

/**
 * ADAPTIVE: the balance follows the provider's own level, and what is kept free is what is
 * uncertain of a call and of those under way ({@link Need}). Output is produced long after its
 * grant, so a fixed part of it is kept as a reserve instead.
 */
public final class AdaptiveMargin implements MarginMode {
  /** The only instance needed. */
  public static final AdaptiveMargin INSTANCE = new AdaptiveMargin();

  /** What output may use. */
  private static final int OUTPUT_BP = 8_500;

  private AdaptiveMargin() {}

  @Override
  public MarginModeName name() {
    return MarginModeName.ADAPTIVE;
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
    return dimension == Dimension.OUTPUT_TOKENS
        ? ReserveMargin.INSTANCE.usable(dimension, balance, depth, OUTPUT_BP)
        : balance;
  }
}
