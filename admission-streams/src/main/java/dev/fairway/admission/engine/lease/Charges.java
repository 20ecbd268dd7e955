package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition.Cost;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.RulePolicy;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import java.util.function.ToLongFunction;

/** What a call is charged, and what it costs in the fair queue. Pure arithmetic. */
public final class Charges {
  /**
   * What a whole minute of a limit costs where quotas share one. Fine enough for a call of some
   * hundred tokens of a limit of billions, and coarse enough for tags to last for centuries.
   */
  static final long MINUTE = 100_000_000;

  /** A minute of any limit, for costs of several quotas: finer than a token of any real limit. */
  private static final long SHARE_MINUTE = 1_000_000_000_000L;

  private Charges() {}

  /**
   * Whether the call's cached prefix counts because it will have left the provider's cache at that
   * time.
   */
  public static boolean coldCache(QuotaPolicy policy, LeaseRequest request, long atMs) {
    Long expiresAtMs = request.estimate().cacheExpiresAtMs();
    return policy.rules().has(Rule.COLD_CACHE)
        && request.estimate().cachedTokens() > 0
        && (expiresAtMs == null || expiresAtMs <= atMs);
  }

  /** What a request with those claims that arrives now is expected to use. */
  public static Forecast forecast(LeaseRequest request, Claims claims, QuotaState quota) {
    QuotaPolicy policy = quota.policy();
    long tokens = OutputReserve.of(policy, request).tokens(request, claims, quota.statistics());
    // What is a guess, and what an output token counts at the end of a call, must not be the reason
    // why one never fits: providers that reserve max_tokens reserve it as it is.
    long sure = OutputReserve.isGuess(policy, request) ? 0 : tokens;
    long output = policy.accounting().countedOutput(tokens);
    if (output > sure) {
      long input = claimedInput(request, claims, quota) + request.estimate().cachedTokens();
      long most = most(Dimension.OUTPUT_TOKENS, input, claims, quota);
      output = Math.min(output, Math.max(sure, most));
    }
    return new Forecast(uncachedInput(request, claims, quota, output), output);
  }

  /** The agent's estimate; without one, what its role uses. */
  private static long claimedInput(LeaseRequest request, Claims claims, QuotaState quota) {
    Long estimate = request.estimate().inputTokens();
    if (estimate != null) {
      return estimate;
    }
    boolean learned = quota.policy().rules().has(Rule.LEARNED_ESTIMATE);
    Double mean = learned ? quota.statistics().meanInput(claims.role()) : null;
    return mean == null ? quota.policy().defaultEstimate() : Math.round(mean);
  }

  /** What is claimed, as the errors of its role correct it. */
  private static long uncachedInput(
      LeaseRequest request, Claims claims, QuotaState quota, long output) {
    long claimed = claimedInput(request, claims, quota);
    boolean told = request.estimate().inputTokens() != null;
    RulePolicy rules = quota.policy().rules();
    if (told ? !rules.has(Rule.ESTIMATE_CORRECTION) : !rules.has(Rule.LEARNED_ESTIMATE)) {
      return claimed;
    }
    long fits = most(Dimension.INPUT_TOKENS, output, claims, quota);
    long most = Math.max(0, fits - request.estimate().cachedTokens());
    if (!told) {
      return Math.min(claimed, most);
    }
    long corrected = Math.round(claimed * quota.statistics().correction(claims.role()));
    // What the agent asks for may never fit; a correction alone must not be the reason.
    return corrected <= claimed ? corrected : Math.max(claimed, Math.min(corrected, most));
  }

  /**
   * The most input or output that fits, wherever it is taken from.
   *
   * @param beside what the call takes of combined tokens besides
   */
  private static long most(Dimension d, long beside, Claims claims, QuotaState quota) {
    long most = Math.min(FixedPoint.MAX_AMOUNT, mostIn(quota::largest, quota, d, beside));
    for (QuotaState other : quota.also()) {
      most = Math.min(most, mostIn(other::largest, other, d, beside));
    }
    ShareBuckets ceiling = quota.tenant(claims.tenant()).ceiling();
    if (ceiling != null) {
      most = Math.min(most, mostIn(x -> ceiling.largest(quota, x), quota, d, beside));
    }
    return most;
  }

  private static long mostIn(
      ToLongFunction<Dimension> largest, QuotaState quota, Dimension d, long beside) {
    long most = quota.limits(d) ? largest.applyAsLong(d) : Long.MAX_VALUE;
    return quota.limits(Dimension.TOKENS)
        ? Math.min(most, largest.applyAsLong(Dimension.TOKENS) - beside)
        : most;
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

  /**
   * What a request takes of every dimension, limited or not; null where its quota takes from no
   * other.
   */
  public static Amounts demand(
      LeaseRequest request, Forecast forecast, QuotaPolicy policy, boolean coldCache) {
    if (policy.order().also().isEmpty()) {
      return null;
    }
    long input = inputEstimate(request, forecast, policy, coldCache);
    return everyDimension(input, forecast.outputTokens());
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
   * Cost in the fair queue, at least 1. DOMINANT: the dominant dimension's share, in tokens of the
   * reference dimension (DRF). ESTIMATED_TOKENS: its tokens. Quotas that share one are drained in
   * one order, so that there it is the largest share of all that the call takes from, in {@link
   * #MINUTE}s, whatever their rules.
   *
   * @param charge charge per limited dimension
   * @param input input tokens of the call
   * @param output output tokens of the call
   */
  public static long cost(QuotaState quota, Amounts charge, long input, long output) {
    QuotaPolicy policy = quota.policy();
    long cost;
    if (quota.inSharedOrder()) {
      cost = largestShare(charge, policy.limits(), MINUTE);
      Amounts demand = everyDimension(input, output);
      for (QuotaState other : quota.alsoKnown()) {
        cost = Math.max(cost, largestShare(demand, other.policy().limits(), MINUTE));
      }
    } else if (policy.rules().cost() == Cost.DOMINANT) {
      Dimension reference = reference(policy.limits());
      long unit = reference == null ? 1 : policy.limits().get(reference);
      cost = largestShare(charge, policy.limits(), unit);
    } else {
      return Math.max(1, Amounts.saturatedAdd(input, output));
    }
    return Math.max(1, Math.min(cost, FixedPoint.MAX_AMOUNT));
  }

  /**
   * The largest part of a minute's limit that a charge takes of any dimension that refills.
   *
   * @param minute what a whole minute's limit counts
   */
  private static long largestShare(Amounts charge, Amounts limits, long minute) {
    long largest = 0;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && charge.has(d) && limits.has(d)) {
        long share = FixedPoint.mulDiv(Math.max(0, charge.get(d)), minute, limits.get(d));
        largest = Math.max(largest, share);
      }
    }
    return largest;
  }

  /**
   * What a cost is in a unit that is the same in all quotas of a key, for who compares calls of one
   * with calls of another: a {@link #SHARE_MINUTE}th of a minute of what it takes the most of.
   * Where nothing that refills is limited, the cost itself: such calls count by their number.
   *
   * @param cost cost in that quota now
   * @param up whether what is left over is rounded up
   */
  public static long share(QuotaState quota, long cost, boolean up) {
    long minute = MINUTE;
    if (!quota.inSharedOrder()) {
      Dimension reference = reference(quota.policy().limits());
      minute = reference == null ? SHARE_MINUTE : quota.policy().limits().get(reference);
    }
    long share = FixedPoint.mulDiv(Math.max(0, cost), SHARE_MINUTE, minute);
    boolean exact = FixedPoint.mulDiv(share, minute, SHARE_MINUTE) >= cost;
    return Math.max(1, up && !exact ? share + 1 : share);
  }

  /** Cost of a request's estimate. */
  public static long estimatedCost(
      LeaseRequest request, Forecast forecast, QuotaState quota, boolean coldCache) {
    QuotaPolicy policy = quota.policy();
    long input = inputEstimate(request, forecast, policy, coldCache);
    long output = forecast.outputTokens();
    return cost(quota, of(policy, input, output), input, output);
  }

  /** Cost of a call that is out, by its estimate and by what was told of it since. */
  public static long knownCost(QuotaState quota, Lease lease) {
    QuotaPolicy policy = quota.policy();
    Long told = lease.told().input();
    long input =
        told != null
            ? told
            : inputEstimate(lease.request(), lease.forecast(), policy, lease.coldCache());
    long output = ActualUse.outputSoFar(lease);
    return cost(quota, of(policy, input, output), input, output);
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
