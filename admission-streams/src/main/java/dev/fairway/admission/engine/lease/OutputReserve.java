package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.state.Statistics;

/**
 * How many output tokens a grant reserves; debt absorbs what a call uses beyond. A request that
 * does not tell the most that it may produce takes what three of four calls of its role do not
 * exceed; nothing until that is known, and never in SEED.
 */
public interface OutputReserve {

  /** Tokens to reserve for a request with those claims, never negative. */
  long tokens(LeaseRequest request, Claims claims, Statistics statistics);

  /** What that policy reserves for that request. */
  static OutputReserve of(QuotaPolicy policy, LeaseRequest request) {
    return isGuess(policy, request) ? LEARNED : MAX_TOKENS;
  }

  /** Whether what is reserved is no more than a guess, which the call need not come to. */
  static boolean isGuess(QuotaPolicy policy, LeaseRequest request) {
    boolean untold =
        policy.rules().has(Rule.LEARNED_ESTIMATE) && request.estimate().maxOutputTokens() == null;
    return untold || policy.learnedOutput();
  }

  /** MAX_TOKENS: what the call may produce at most. */
  OutputReserve MAX_TOKENS =
      (request, claims, statistics) -> {
        Long maxTokens = request.estimate().maxOutputTokens();
        return maxTokens != null ? maxTokens : 0;
      };

  /** LEARNED: what three of four calls of its role do not exceed, at most max_tokens. */
  OutputReserve LEARNED =
      (request, claims, statistics) -> {
        Long maxTokens = request.estimate().maxOutputTokens();
        Long learned = statistics.outputP75(claims.role());
        if (learned == null) {
          return MAX_TOKENS.tokens(request, claims, statistics);
        }
        return maxTokens != null ? Math.min(maxTokens, learned) : learned;
      };
}
