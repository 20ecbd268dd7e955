package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.state.QuotaState;

/** What a call is charged, and what it costs in the fair queue. Pure arithmetic. */
public final class Charges {

  private Charges() {}

  /** Whether the call's cached prefix will have left the provider's cache at that time. */
  public static boolean coldCache(LeaseRequest request, long atMs) {
    Long expiresAtMs = request.estimate().cacheExpiresAtMs();
    return request.estimate().cachedTokens() > 0 && (expiresAtMs == null || expiresAtMs <= atMs);
  }

  /** What a request that arrives now is expected to use. */
  public static Forecast forecast(LeaseRequest request, QuotaState quota) {
    QuotaPolicy policy = quota.policy();
    long output = OutputReserve.of(policy).tokens(request, quota.statistics());
    return new Forecast(uncachedInput(request, quota, output), output);
  }

  /** The agent's estimate as its role's errors correct it; without one, what its role uses. */
  private static long uncachedInput(LeaseRequest request, QuotaState quota, long output) {
    QuotaPolicy policy = quota.policy();
    Long estimate = request.estimate().inputTokens();
    if (!policy.learns()) {
      return estimate != null ? estimate : policy.defaultEstimate();
    }
    if (estimate == null) {
      Double mean = quota.statistics().meanInput(request.role());
      estimate = mean == null ? policy.defaultEstimate() : Math.round(mean);
      return Math.min(estimate, fitting(request, quota, output, estimate));
    }
    long corrected = Math.round(estimate * quota.statistics().correction(request.role()));
    // What the agent asks for may never fit; a correction alone must not be the reason.
    return corrected <= estimate
        ? corrected
        : Math.max(estimate, Math.min(corrected, fitting(request, quota, output, corrected)));
  }

  /** The most input that still fits beside the prefix and the output. */
  private static long fitting(LeaseRequest request, QuotaState quota, long output, long wanted) {
    long most = wanted;
    if (quota.limits(Dimension.INPUT_TOKENS)) {
      most = quota.largest(Dimension.INPUT_TOKENS) - request.estimate().cachedTokens();
    }
    if (quota.limits(Dimension.TOKENS)) {
      long left = quota.largest(Dimension.TOKENS) - request.estimate().cachedTokens() - output;
      most = Math.min(most, left);
    }
    return Math.max(0, most);
  }

  /** Charge of a request per limited dimension, with a warm or a cold cache. */
  public static Amounts estimated(
      LeaseRequest request, Forecast forecast, QuotaPolicy policy, boolean coldCache) {
    return of(policy, inputEstimate(request, forecast, policy, coldCache), forecast.outputTokens());
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

  static long inputEstimate(
      LeaseRequest request, Forecast forecast, QuotaPolicy policy, boolean coldCache) {
    return forecast.inputTokens() + countedPrefix(request, policy, coldCache);
  }

  /** The part of the cached prefix that counts. */
  public static long countedPrefix(LeaseRequest request, QuotaPolicy policy, boolean coldCache) {
    boolean counts = coldCache || policy.accounting().cacheReadsCount();
    return counts ? request.estimate().cachedTokens() : 0;
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
  public static long estimatedCost(
      LeaseRequest request, Forecast forecast, QuotaPolicy policy, boolean coldCache) {
    long input = inputEstimate(request, forecast, policy, coldCache);
    long output = forecast.outputTokens();
    return cost(policy, of(policy, input, output), input, output);
  }

  /** The first limited of input, tokens, output, requests; null if only concurrency is limited. */
  public static Dimension reference(Amounts limits) {
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
