/**
 * Estimates of the input tokens of a model call, before it is made: for who embeds the client, and
 * for the gateway. Never by the number of characters.
 *
 * <pre>{@code
 * EstimateErrors errors = new EstimateErrors();
 * InputEstimator estimator = new TokenizerEstimator(errors);
 * Input input = estimator.estimate(CallFormat.ANTHROPIC_MESSAGES, model, body);
 * LeaseCall.Builder call = LeaseCall.of(quota).estimateMethod(input.method());
 * if (input.inputTokens() != null) {
 *   call.inputTokens(input.inputTokens());
 * }
 * ... // once the provider told what the call used, cached or not:
 * estimator.learn(model, input, usage.inputTokens() + cached);
 * }</pre>
 *
 * <p>Bodies are those of the providers' APIs, as Jackson's trees. The tokenizer is jtokkit, which
 * is optional in this module: who uses {@link dev.fairway.agent.estimate.TokenizerEstimator} or
 * {@link dev.fairway.agent.estimate.TokenCounter} puts {@code com.knuddels:jtokkit} on the class
 * path.
 */
package dev.fairway.agent.estimate;
