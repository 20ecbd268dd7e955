package dev.fairway.admission.engine.learn;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Charges;
import dev.fairway.admission.engine.lease.Forecast;

/**
 * What one settled call teaches. Null is unknown.
 *
 * @param error (actual - charge) / charge of the dimension that is uncertain, -1 to 1
 * @param bias actual input / the agent's own estimate, 1/2 to 2
 * @param estimateError (actual - estimate) / estimate of the agent's own input estimate, -1 to 1
 * @param input input tokens that counted
 * @param output output tokens produced
 */
public record CallSample(Double error, Double bias, Double estimateError, Long input, Long output) {

  /** The sample of a call, from what was forecast and what was used. */
  public static CallSample of(
      QuotaPolicy policy,
      LeaseRequest request,
      Forecast forecast,
      boolean coldCache,
      Long input,
      Long output) {
    long prefix = Charges.countedPrefix(request, policy, coldCache);
    Double error = null;
    if (input != null && policy.limits().has(Dimension.INPUT_TOKENS)) {
      error = relative(input, forecast.inputTokens() + prefix);
    } else if (input != null && output != null && policy.limits().has(Dimension.TOKENS)) {
      long counted = input + policy.accounting().countedOutput(output);
      error = relative(counted, forecast.inputTokens() + prefix + forecast.outputTokens());
    }
    Long own = request.estimate().inputTokens();
    Double bias = null;
    Double estimateError = null;
    if (input != null && own != null && own > 0) {
      bias = Math.max(0.5, Math.min(2, (input - prefix) / (double) own));
      estimateError = relative(input, own + prefix);
    }
    return new CallSample(error, bias, estimateError, input, output);
  }

  private static Double relative(long actual, long expected) {
    return expected <= 0 ? null : (Double) Math.min(1, (actual - expected) / (double) expected);
  }
}
