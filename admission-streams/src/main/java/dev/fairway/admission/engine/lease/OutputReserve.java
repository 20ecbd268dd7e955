package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.state.Statistics;

/** How many output tokens a grant reserves; debt absorbs what a call uses beyond. */
public interface OutputReserve {

  /** Tokens to reserve for a request with those claims, never negative. */
  long tokens(LeaseRequest request, Claims claims, Statistics statistics);

  /** What that policy reserves. */
  static OutputReserve of(QuotaPolicy policy) {
    return policy.learnedOutput() ? LEARNED : MAX_TOKENS;
  }

  /** MAX_TOKENS: what the call may produce at most; nothing where that is unknown. */
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
