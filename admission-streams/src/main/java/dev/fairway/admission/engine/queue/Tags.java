package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.bucket.Amounts;
import java.util.Map;

/**
 * Weights and tags of self-clocked fair queueing. Tags are fixed point: {@value #SCALE} units are
 * one token of the reference dimension at weight 1.
 */
public final class Tags {
  /** Tag units of one token at weight 1. */
  public static final long SCALE = 1000;

  /** Most downstream tasks that a request may claim to unblock. */
  public static final int MAX_UNBLOCKS = 32;

  private static final int MIN_WEIGHT_MILLI = 100;
  private static final int MAX_WEIGHT_MILLI = 1_000_000_000;
  private static final int MAX_HALVINGS = 30;

  private Tags() {}

  /**
   * Weight in thousandths: base(role) x (1 + 0.5 x unblocks) x 0.5^repeat_failures, at least 0.1.
   */
  public static int weightMilli(LeaseRequest request, Map<String, Double> roles) {
    long base = baseMilli(request.role(), roles);
    long unblocks = request.unblocks() == null ? 0 : Math.min(request.unblocks(), MAX_UNBLOCKS);
    long weight = base * (2 + unblocks) / 2 >> Math.min(request.repeatFailures(), MAX_HALVINGS);
    return (int) Math.max(MIN_WEIGHT_MILLI, Math.min(weight, MAX_WEIGHT_MILLI));
  }

  /** An unknown role weighs the least that is configured. */
  private static long baseMilli(String role, Map<String, Double> roles) {
    Double weight = roles.get(role);
    if (weight == null) {
      weight = roles.values().stream().min(Double::compare).orElse(1.0);
    }
    return Math.round(weight * 1000);
  }

  /** Length of a cost at a weight, in tag units. */
  public static long length(long cost, int weightMilli) {
    return cost * (SCALE * 1000) / weightMilli;
  }

  /** Virtual finish time of a cost that starts at that tag. */
  public static long finish(long startTag, long cost, int weightMilli) {
    return Amounts.saturatedAdd(startTag, length(cost, weightMilli));
  }
}
