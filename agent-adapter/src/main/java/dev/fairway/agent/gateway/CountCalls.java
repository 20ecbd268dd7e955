package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.estimate.CountedTokens;
import dev.fairway.agent.estimate.EstimateErrors;
import dev.fairway.agent.gateway.GatewayConfig.Estimates;
import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.eclipse.jetty.client.BufferingResponseListener;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.http.HttpFields;

/**
 * Asks Anthropic to count a call's input, where that is allowed, with the rights of the call.
 * Thread-safe; nothing here blocks.
 */
final class CountCalls {
  private static final int ANSWER_BYTES_MAX = 64 * 1024;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Estimates config;
  private final HttpClient client;
  private final Map<String, String> keys;
  private final CountedTokens counts;

  /**
   * For one gateway.
   *
   * @param keys API keys by the name of their upstream
   * @param nowMs a clock that never goes back
   */
  CountCalls(
      Estimates config,
      HttpClient client,
      Map<String, String> keys,
      EstimateErrors errors,
      LongSupplier nowMs) {
    this.config = config;
    this.client = client;
    this.keys = keys;
    this.counts = new CountedTokens(config.countsPerMinute(), config.countWait(), errors, nowMs);
  }

  /** Whether anybody may be asked. */
  boolean isAllowed() {
    return config.countTokens();
  }

  /**
   * The input tokens of a message, or null if they are not to be had. Completes by itself in time.
   *
   * @param headers of the call: the count is asked for with the same rights and versions
   */
  CompletableFuture<Long> count(Upstream upstream, HttpFields headers, CallBody message) {
    return upstream.provider().equals("anthropic")
        ? counts.count(message.model(), message.json(), body -> ask(upstream, headers, body))
        : CompletableFuture.completedFuture(null);
  }

  private CompletableFuture<Long> ask(Upstream upstream, HttpFields headers, byte[] body) {
    CompletableFuture<Long> counted = new CompletableFuture<>();
    client
        .newRequest(upstream.url() + "/v1/messages/count_tokens")
        .method("POST")
        .headers(
            fields -> {
              Headers.toUpstream(headers, fields, upstream, keys.get(upstream.name()));
              fields.remove("idempotency-key");
            })
        .body(new BytesRequestContent("application/json", body))
        .timeout(config.countWait().toMillis(), TimeUnit.MILLISECONDS)
        .send(
            new BufferingResponseListener(ANSWER_BYTES_MAX) {
              @Override
              public void onComplete(Result result) {
                counted.complete(result.isFailed() ? null : tokens(result, getContent()));
              }
            });
    return counted;
  }

  private static Long tokens(Result result, byte[] answer) {
    if (result.getResponse().getStatus() != 200) {
      return null;
    }
    try {
      JsonNode tokens = JSON.readTree(answer).path("input_tokens");
      return tokens.isIntegralNumber() && tokens.canConvertToLong()
          ? (Long) tokens.longValue()
          : null;
    } catch (IOException e) {
      return null;
    }
  }
}
