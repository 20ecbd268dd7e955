package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.FixedPoint;

/**
 * Tags of self-clocked fair queueing. Tags are fixed point: {@value #SCALE} units are a cost of one
 * at weight 1. That is a token of the reference dimension, and where quotas share one a
 * hundred-millionth of a minute's limit.
 */
public final class Tags {
  /** Tag units of a cost of one at weight 1. */
  public static final long SCALE = 1000;

  private Tags() {}

  /** Length of a cost at a weight, in tag units. */
  public static long length(long cost, int weightMilli) {
    return cost * (SCALE * 1000) / weightMilli;
  }

  /** The cost of that length at a weight. */
  public static long cost(long length, int weightMilli) {
    long cost = FixedPoint.mulDiv(Math.max(0, length), weightMilli, SCALE * 1000);
    return length(cost, weightMilli) < length ? cost + 1 : cost; // Lengths are rounded down.
  }

  /** Virtual finish time of a cost that starts at that tag. */
  public static long finish(long startTag, long cost, int weightMilli) {
    return Amounts.saturatedAdd(startTag, length(cost, weightMilli));
  }
}
