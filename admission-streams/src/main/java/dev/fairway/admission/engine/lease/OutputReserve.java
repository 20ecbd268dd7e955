package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;

/** How many output tokens a grant reserves; debt absorbs what a call uses beyond. */
public interface OutputReserve {

  /** Tokens to reserve, never negative. */
  long tokens(LeaseRequest request);

  /** MAX_TOKENS: what the call may produce at most; nothing where that is unknown. */
  OutputReserve MAX_TOKENS =
      request -> {
        Long maxTokens = request.estimate().maxOutputTokens();
        return maxTokens != null ? maxTokens : 0;
      };
}
