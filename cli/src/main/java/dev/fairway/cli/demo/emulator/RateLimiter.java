package dev.fairway.cli.demo.emulator;

/**
 * The provider's decision: a call is admitted if the input level covers its input (clipped to the
 * depth, so that a call larger than the bucket passes a full one), the output level is positive,
 * and one request is left. Input is charged on arrival, output at the end; a refusal costs one
 * request.
 *
 * <p>Thread-safe. Times are monotonic nanoseconds of any origin.
 */
public final class RateLimiter {
  private final TokenBucket requests;
  private final TokenBucket input;
  private final TokenBucket output;

  public RateLimiter(ProviderLimits limits, long nowNanos) {
    requests = new TokenBucket(limits.requests(), nowNanos);
    input = new TokenBucket(limits.inputTokens(), nowNanos);
    output = new TokenBucket(limits.outputTokens(), nowNanos);
  }

  /** The limit that refused a call. */
  public enum Refusal {
    REQUESTS,
    INPUT_TOKENS,
    OUTPUT_TOKENS
  }

  /**
   * The answer to one call.
   *
   * @param refusal why it was refused, or null if it was admitted
   * @param limitPerMinute the limit that refused it, 0 if it was admitted
   * @param retryAfterSeconds whole seconds after which the same call would fit, rounded up; 0 if it
   *     was admitted
   * @param requests requests after this call
   * @param input input tokens after this call
   */
  record Verdict(
      Refusal refusal,
      long limitPerMinute,
      long retryAfterSeconds,
      Reading requests,
      Reading input) {

    boolean admitted() {
      return refusal == null;
    }
  }

  /** Decides on a call that arrives now with {@code inputTokens}, and charges it. */
  synchronized Verdict arrive(long nowNanos, long inputTokens) {
    double covered = Math.min((double) inputTokens, input.depth());
    Refusal refusal = null;
    TokenBucket refusing = null;
    double wait = 0;
    if (!requests.covers(1, nowNanos)) {
      refusal = Refusal.REQUESTS;
      refusing = requests;
      wait = requests.secondsUntil(1);
    }
    if (!input.covers(covered, nowNanos) && input.secondsUntil(covered) >= wait) {
      refusal = Refusal.INPUT_TOKENS;
      refusing = input;
      wait = input.secondsUntil(covered);
    }
    if (output.level(nowNanos) <= 0 && output.secondsUntil(1) >= wait) {
      refusal = Refusal.OUTPUT_TOKENS;
      refusing = output;
      wait = output.secondsUntil(1);
    }
    // A refusal takes the request that is left, but no debt: else a storm would lock the key for
    // good.
    requests.charge(refusal == null ? 1 : Math.min(1, requests.level(nowNanos)));
    if (refusal == null) {
      input.charge((double) inputTokens);
    }
    return new Verdict(
        refusal,
        refusing == null ? 0 : refusing.perMinute(),
        refusal == null ? 0 : Math.max(1, (long) Math.ceil(wait)),
        Reading.of(requests, nowNanos),
        Reading.of(input, nowNanos));
  }

  /** Charges the output of a call that ends now, and tells what is left of the output limit. */
  synchronized Reading finish(long nowNanos, long outputTokens) {
    output.level(nowNanos);
    output.charge((double) outputTokens);
    return Reading.of(output, nowNanos);
  }

  /** What is left of the output limit now. */
  synchronized Reading output(long nowNanos) {
    return Reading.of(output, nowNanos);
  }

  /** Input tokens left now, negative in debt. */
  public synchronized double inputLevel(long nowNanos) {
    return input.level(nowNanos);
  }
}
