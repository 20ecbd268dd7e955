package dev.fairway.agent.gateway;

import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.estimate.InputEstimator;
import dev.fairway.agent.estimate.PrefixBook;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpFields;

/**
 * What is to be done with one call of a client.
 *
 * @param method HTTP method
 * @param pathAndQuery where in the upstream
 * @param headers as the client sent them
 * @param family whose API it is
 * @param target where it goes; without a quota it is passed uncounted
 * @param model model, or null if it is not known
 * @param body what is sent upstream
 * @param bodyHash of what the client sent, or null if nobody asks
 * @param stream whether the client asked for a stream of events
 * @param hideUsage whether the stream tells usage that the client did not ask for
 * @param asker who makes it, or null if it is not counted
 * @param input estimate, or null if it is not counted
 * @param prefix cached part of the input, or null
 * @param content what the input consists of, or null if it is not counted
 * @param maxOutputTokens the call's limit, or null
 * @param tries the tries of the logical call that this is one of, or null if it is not counted
 * @param patience how long the client waits for the beginning of an answer
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record CallPlan(
    String method,
    String pathAndQuery,
    HttpFields headers,
    ApiFamily family,
    Router.Target target,
    String model,
    byte[] body,
    String bodyHash,
    boolean stream,
    boolean hideUsage,
    Asker asker,
    InputEstimator.Input input,
    PrefixBook.Prefix prefix,
    PrefixBook.Content content,
    Long maxOutputTokens,
    RetryBook.Tries tries,
    Duration patience) {

  /** Whether it takes from a quota. */
  boolean counted() {
    return target.quota() != null && asker != null;
  }

  /** What tells a call from others. */
  record Asked(String method, String pathAndQuery, String bodyHash) {}

  /** What it asks for; another call that asks for the same repeats it. */
  Asked asked() {
    return new Asked(method, pathAndQuery, bodyHash);
  }

  /** The path alone. */
  String path() {
    int query = pathAndQuery.indexOf('?');
    return query < 0 ? pathAndQuery : pathAndQuery.substring(0, query);
  }

  /** The same with a count of the provider's own in place of the estimate; null changes nothing. */
  CallPlan counted(Long tokens) {
    if (tokens == null || input == null) {
      return this;
    }
    return new CallPlan(
        method,
        pathAndQuery,
        headers,
        family,
        target,
        model,
        body,
        bodyHash,
        stream,
        hideUsage,
        asker,
        new InputEstimator.Input(tokens, input.seen(), "count_tokens"),
        prefix,
        content,
        maxOutputTokens,
        tries,
        patience);
  }

  /** Request that it repeats, or null. */
  String retryOf() {
    return tries == null ? null : tries.retryOf();
  }

  /** Input beyond its cached prefix, as it is asked for, or null where it has no estimate. */
  Long freshInput() {
    Long tokens = input.inputTokens();
    return tokens == null ? null : (Long) (tokens - cached());
  }

  private long cached() {
    return prefix == null ? 0 : Math.min(prefix.tokens(), input.inputTokens());
  }

  /**
   * The call as it is asked for.
   *
   * @param requestId id of the request
   * @param repeats the request that this one repeats, or null
   */
  LeaseCall leaseCall(
      String requestId, String repeats, Duration timeout, Consumer<QueueUpdate> onQueued) {
    LeaseCall.Builder call =
        LeaseCall.of(target.quota())
            .member(asker.member())
            .taskId(asker.task())
            .role(asker.role())
            .leaseClass(asker.leaseClass())
            .tenant(asker.tenant())
            .repeatFailures(asker.repeatFailures())
            .estimateMethod(input.method())
            .requestId(requestId)
            .retryOf(repeats)
            .timeout(timeout)
            .onQueued(onQueued);
    if (maxOutputTokens != null) {
      call.maxOutputTokens(maxOutputTokens);
    }
    Long fresh = freshInput();
    if (fresh != null) {
      call.inputTokens(fresh);
    }
    if (fresh != null && prefix != null) {
      call.cachedTokens(cached(), Instant.ofEpochMilli(prefix.expiresAtMs()));
    }
    return call.build();
  }
}
