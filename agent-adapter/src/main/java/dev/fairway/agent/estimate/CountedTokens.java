package dev.fairway.agent.estimate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.agent.fallback.ShareBucket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Has Anthropic count a message's input ({@code POST /v1/messages/count_tokens}), where that is
 * worth it: while the tokenizer is known to be good enough for a model, nobody is asked. Counts are
 * remembered ({@value #COUNTS_MAX} of them; beyond, the one unused longest is forgotten), so many
 * may be asked for in a minute, and a call waits so long for one; beyond, there is none, and the
 * tokenizer's estimate stands. After a failure nobody is asked for {@value #PAUSE_MS} ms.
 * Thread-safe; nothing here blocks.
 */
public final class CountedTokens {
  /** Counts that are remembered at a time. */
  public static final int COUNTS_MAX = 10_000;

  /** How long nobody is asked after a failure. */
  public static final long PAUSE_MS = 10_000;

  /** A tokenizer that is off by less, nine times in ten, needs no help. */
  public static final double GOOD_ENOUGH = 0.03;

  /** Calls of a model before its tokenizer is judged. */
  public static final long CALLS_TO_JUDGE = 20;

  /** What of a message the count takes. */
  private static final String[] FIELDS = {
    "model", "messages", "system", "tools", "tool_choice", "thinking"
  };

  private record Key(long high, long low) {}

  /** Sends the question; whoever has an HTTP client and a key. */
  @FunctionalInterface
  public interface Provider {
    /**
     * Asks for a count. Must not block.
     *
     * @param body JSON, for {@code count_tokens}
     * @return its {@code input_tokens}, or null or an exception after a failure, in time or later
     */
    CompletableFuture<Long> count(byte[] body);
  }

  private final Duration wait;
  private final EstimateErrors errors;
  private final LongSupplier nowMs;
  private final ShareBucket budget;
  private final Map<Key, Long> counts =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Long> eldest) {
          return size() > COUNTS_MAX;
        }
      };

  /**
   * A counter.
   *
   * @param countsPerMinute questions that the provider may be asked
   * @param wait how long a call waits for one
   * @param errors how good the tokenizer is
   * @param nowMs a clock in milliseconds that never goes back
   */
  public CountedTokens(
      int countsPerMinute, Duration wait, EstimateErrors errors, LongSupplier nowMs) {
    this.wait = wait;
    this.errors = errors;
    this.nowMs = nowMs;
    OptionalLong none = OptionalLong.empty();
    this.budget =
        new ShareBucket(
            new ShareBucket.Amounts(OptionalLong.of(countsPerMinute), none, none, none),
            nowMs.getAsLong() - ShareBucket.SAVED_MS);
  }

  /**
   * The input tokens of a message, or null if they are not to be had. Completes by itself in time,
   * and never exceptionally.
   *
   * @param model the model's name, as the message has it
   * @param message a call of Anthropic Messages; only read
   * @param provider is asked at most once
   */
  public CompletableFuture<Long> count(String model, JsonNode message, Provider provider) {
    if (isGoodEnough(model)) {
      return CompletableFuture.completedFuture(null);
    }
    ObjectNode asking = JsonNodeFactory.instance.objectNode();
    for (String field : FIELDS) {
      if (message.has(field)) {
        asking.set(field, message.get(field));
      }
    }
    byte[] bytes = asking.toString().getBytes(StandardCharsets.UTF_8);
    ByteBuffer digest = ByteBuffer.wrap(Digests.sha256().digest(bytes));
    Key key = new Key(digest.getLong(), digest.getLong());
    synchronized (this) {
      Long known = counts.get(key);
      if (known != null || !mayAsk()) {
        return CompletableFuture.completedFuture(known);
      }
    }
    return provider
        .count(bytes)
        .handle((tokens, failure) -> remember(key, failure == null ? tokens : null))
        .completeOnTimeout(null, wait.toMillis(), TimeUnit.MILLISECONDS);
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

  private synchronized Long remember(Key key, Long tokens) {
    if (tokens == null || tokens <= 0) {
      budget.hold(nowMs.getAsLong() + PAUSE_MS);
      return null;
    }
    counts.put(key, tokens);
    return tokens;
  }
}
