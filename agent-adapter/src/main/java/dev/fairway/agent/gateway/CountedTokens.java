package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.agent.fallback.ShareBucket;
import dev.fairway.agent.gateway.GatewayConfig.Estimates;
import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.eclipse.jetty.client.BufferingResponseListener;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.http.HttpFields;

/**
 * Has Anthropic count a call's input, where that is allowed and worth it: while the tokenizer is
 * known to be good enough for a model, nobody is asked. Counts are remembered ({@value #COUNTS_MAX}
 * of them), so many may be asked for in a minute, and a call waits so long for one; beyond, the
 * tokenizer's estimate stands. After a failure nobody is asked for {@value #PAUSE_MS} ms.
 * Thread-safe; nothing here blocks.
 */
final class CountedTokens {
  static final int COUNTS_MAX = 10_000;
  static final long PAUSE_MS = 10_000;

  /** A tokenizer that is off by less, nine times in ten, needs no help. */
  static final double GOOD_ENOUGH = 0.03;

  static final long CALLS_TO_JUDGE = 20;

  private static final int ANSWER_BYTES_MAX = 64 * 1024;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** What of a message the count takes. */
  private static final String[] FIELDS = {
    "model", "messages", "system", "tools", "tool_choice", "thinking"
  };

  private final Estimates config;
  private final HttpClient client;
  private final Map<String, String> keys;
  private final EstimateErrors errors;
  private final LongSupplier nowMs;
  private final ShareBucket budget;
  private final Map<String, Long> counts =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > COUNTS_MAX;
        }
      };

  /**
   * A counter.
   *
   * @param keys API keys by the name of their upstream
   * @param nowMs a clock that never goes back
   */
  CountedTokens(
      Estimates config,
      HttpClient client,
      Map<String, String> keys,
      EstimateErrors errors,
      LongSupplier nowMs) {
    this.config = config;
    this.client = client;
    this.keys = keys;
    this.errors = errors;
    this.nowMs = nowMs;
    OptionalLong none = OptionalLong.empty();
    this.budget =
        new ShareBucket(
            new ShareBucket.Amounts(OptionalLong.of(config.countsPerMinute()), none, none, none),
            nowMs.getAsLong() - ShareBucket.SAVED_MS);
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
    JsonNode body = message.json();
    if (!upstream.provider().equals("anthropic") || isGoodEnough(message.model())) {
      return CompletableFuture.completedFuture(null);
    }
    ObjectNode asking = JSON.createObjectNode();
    for (String field : FIELDS) {
      if (body.has(field)) {
        asking.set(field, body.get(field));
      }
    }
    byte[] bytes = asking.toString().getBytes(StandardCharsets.UTF_8);
    String key = CallBody.hash(asking.toString());
    synchronized (this) {
      Long known = counts.get(key);
      if (known != null || !mayAsk()) {
        return CompletableFuture.completedFuture(known);
      }
    }
    CompletableFuture<Long> counted = new CompletableFuture<>();
    counted.completeOnTimeout(null, config.countWait().toMillis(), TimeUnit.MILLISECONDS);
    client
        .newRequest(upstream.url() + "/v1/messages/count_tokens")
        .method("POST")
        .headers(
            fields -> {
              Headers.toUpstream(headers, fields, upstream, keys.get(upstream.name()));
              fields.remove("idempotency-key");
            })
        .body(new BytesRequestContent("application/json", bytes))
        .timeout(config.countWait().toMillis(), TimeUnit.MILLISECONDS)
        .send(
            new BufferingResponseListener(ANSWER_BYTES_MAX) {
              @Override
              public void onComplete(Result result) {
                Long tokens = result.isFailed() ? null : tokens(result, getContent());
                remember(key, tokens);
                counted.complete(tokens);
              }
            });
    return counted;
  }

  private boolean isGoodEnough(String model) {
    EstimateQuality quality = errors.of(model);
    return quality != null
        && quality.calls() >= CALLS_TO_JUDGE
        && quality.errorP90() <= GOOD_ENOUGH;
  }

  private boolean mayAsk() {
    ShareBucket.Amounts one = ShareBucket.Amounts.ofCalls(1, 0, 0);
    if (budget.waitMs(one, nowMs.getAsLong()) > 0) {
      return false;
    }
    budget.take(one, nowMs.getAsLong());
    return true;
  }

  private synchronized void remember(String key, Long tokens) {
    if (tokens == null) {
      budget.hold(nowMs.getAsLong() + PAUSE_MS);
    } else {
      counts.put(key, tokens);
    }
  }

  private static Long tokens(Result result, byte[] answer) {
    if (result.getResponse().getStatus() != 200) {
      return null;
    }
    try {
      JsonNode tokens = JSON.readTree(answer).path("input_tokens");
      return tokens.isIntegralNumber() && tokens.canConvertToLong() && tokens.longValue() > 0
          ? (Long) tokens.longValue()
          : null;
    } catch (IOException e) {
      return null;
    }
  }
}
