package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;

/** What a call is charged, and what it costs in the fair queue. Pure arithmetic. */
public final class Charges {

  private Charges() {}

  /** Whether the call's cached prefix will have left the provider's cache at that time. */
  public static boolean coldCache(LeaseRequest request, long atMs) {
    Long expiresAtMs = request.estimate().cacheExpiresAtMs();
    return request.estimate().cachedTokens() > 0 && (expiresAtMs == null || expiresAtMs <= atMs);
  }

  /** Charge of a request per limited dimension, with a warm or a cold cache. */
  public static Amounts estimated(LeaseRequest request, QuotaPolicy policy, boolean coldCache) {
    return of(policy, inputEstimate(request, policy, coldCache), outputEstimate(request));
  }

  /** Charge of one call with these tokens, per limited dimension. */
  public static Amounts of(QuotaPolicy policy, long input, long output) {
    Amounts charge = Amounts.NONE;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (policy.limits().has(d)) {
        charge = charge.with(d, component(d, input, output));
      }
    }
    return charge;
  }

  /**
   * What a request takes of every dimension, limited or not; null where its quota takes from no
   * other.
   */
  public static Amounts demand(LeaseRequest request, QuotaPolicy policy, boolean coldCache) {
    if (policy.order().also().isEmpty()) {
      return null;
    }
    return everyDimension(inputEstimate(request, policy, coldCache), outputEstimate(request));
  }

  /** What a call with these tokens takes of every dimension. */
  static Amounts everyDimension(long input, long output) {
    Amounts all = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      all = all.with(d, component(d, input, output));
    }
    return all;
  }

  /** What of a call counts in another quota: its limited dimensions. */
  static Amounts limitedBy(QuotaPolicy policy, Amounts amounts) {
    Amounts charge = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      if (policy.limits().has(d)) {
        charge = charge.with(d, amounts.get(d));
      }
    }
    return charge;
  }

  private static long component(Dimension dimension, long input, long output) {
    switch (dimension) {
      case INPUT_TOKENS:
        return input;
      case OUTPUT_TOKENS:
        return output;
      case TOKENS:
        return Amounts.saturatedAdd(input, output);
      default:
        return 1;
    }
  }

  static long inputEstimate(LeaseRequest request, QuotaPolicy policy, boolean coldCache) {
    boolean prefixCounts = coldCache || policy.accounting().cacheReadsCount();
    return uncachedInput(request, policy) + (prefixCounts ? request.estimate().cachedTokens() : 0);
  }

  /** Input that is not expected from the prompt cache. */
  public static long uncachedInput(LeaseRequest request, QuotaPolicy policy) {
    Long uncached = request.estimate().inputTokens();
    return uncached != null ? uncached : policy.defaultEstimate();
  }

  static long outputEstimate(LeaseRequest request) {
    return OutputReserve.MAX_TOKENS.tokens(request);
  }

  /**
   * Cost in the fair queue, at least 1. FAIRWAY: the dominant dimension's share, in tokens of the
   * reference dimension (DRF). SEED: the estimated tokens.
   *
   * @param charge charge per limited dimension
   * @param input input tokens of the call
   * @param output output tokens of the call
   */
  public static long cost(QuotaPolicy policy, Amounts charge, long input, long output) {
    if (!policy.dominantCost()) {
      return Math.max(1, Amounts.saturatedAdd(input, output));
    }
    Dimension reference = reference(policy.limits());
    if (reference == null) {
      return 1;
    }
    long limitOfReference = policy.limits().get(reference);
    long cost = 1;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && charge.has(d) && policy.limits().has(d)) {
        long share =
            FixedPoint.mulDiv(Math.max(0, charge.get(d)), limitOfReference, policy.limits().get(d));
        cost = Math.max(cost, share);
      }
    }
    return Math.min(cost, FixedPoint.MAX_AMOUNT);
  }

  /** Cost of a request's estimate. */
  public static long estimatedCost(LeaseRequest request, QuotaPolicy policy, boolean coldCache) {
    long input = inputEstimate(request, policy, coldCache);
    long output = outputEstimate(request);
    return cost(policy, of(policy, input, output), input, output);
  }

  /** The first limited of input, tokens, output, requests; null if only concurrency is limited. */
  private static Dimension reference(Amounts limits) {
    for (Dimension d :
        new Dimension[] {
          Dimension.INPUT_TOKENS, Dimension.TOKENS, Dimension.OUTPUT_TOKENS, Dimension.REQUESTS
        }) {
      if (limits.has(d)) {
        return d;
      }
    }
    return null;
  }
}
