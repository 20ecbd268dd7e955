package dev.fairway.agent;

import dev.fairway.agent.fallback.RetryBudget;
import dev.fairway.schemas.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;

/**
 * One model call that needs a lease. Immutable; may be used for more than one {@link
 * AdmissionClient#acquire}, each of which is a request of its own. Null is unknown, never zero.
 *
 * @param quota quota id, {@code key} or {@code key/name}
 * @param member whom the client speaks for: the request is made by agent {@code <client's agent
 *     id>:<member>}; null for the client's own agent
 * @param taskId task the call belongs to, or null
 * @param role role of the agent; unknown roles weigh the least
 * @param leaseClass class of the request, such as {@code batch} or {@code interactive}
 * @param estimate what the call is expected to use
 * @param retryOf request id of the failed or rejected call that this one repeats, or null
 * @param repeatFailures how often the same step failed before, 0 to 1000
 * @param unblocks how many tasks wait for this one, 0 or more, or null
 * @param tenant tenant claimed, or null for the one of the agent's pattern
 * @param requestId id of the request, or null for a new one; who names it may ask again for the
 *     same call after a restart, with the same content, and gets the place or the grant that it has
 * @param retryBudget spent by one for each repetition of a failed call, or null for none
 * @param deadline when the coordinator drops the request from the queue, by its own clock, or null
 *     for twice the quota's longest wait
 * @param timeout when the client gives the call up, or null for the client's default
 * @param onQueued told each time the coordinator says where the call stands in line, in order, on
 *     the completion executor; never null
 */
public record LeaseCall(
    String quota,
    String member,
    String taskId,
    String role,
    String leaseClass,
    Estimate estimate,
    String retryOf,
    int repeatFailures,
    Integer unblocks,
    String tenant,
    String requestId,
    RetryBudget retryBudget,
    Instant deadline,
    Duration timeout,
    Consumer<QueueUpdate> onQueued) {

  /**
   * What a call is expected to use.
   *
   * @param inputTokens uncached input tokens, 0 or more; null: unknown, the quota's default
   *     estimate is charged
   * @param cachedTokens tokens of the prefix expected to be read from the prompt cache, 0 or more
   * @param cacheExpiresAt when that cache ends, or null if it is cold
   * @param maxOutputTokens the call's {@code max_tokens}, 0 or more; null: unknown, nothing is
   *     reserved for output
   * @param method how the estimate was made, for reports; never null
   */
  public record Estimate(
      Long inputTokens,
      long cachedTokens,
      Instant cacheExpiresAt,
      Long maxOutputTokens,
      String method) {

    /** Checks the ranges. */
    public Estimate {
      notNegative("inputTokens", inputTokens);
      notNegative("cachedTokens", cachedTokens);
      notNegative("maxOutputTokens", maxOutputTokens);
      method = method == null ? "" : method;
    }

    private static void notNegative(String name, Long value) {
      if (value != null && value < 0) {
        throw new IllegalArgumentException(
            "Expected an estimate with " + name + " of 0 or more, but found " + value + ".");
      }
    }
  }

  /** Checks the ids and ranges. */
  public LeaseCall {
    Checks.quotaId(quota);
    if (member != null) {
      Checks.id("a member", member);
    }
    Checks.id("a role", role);
    Checks.id("a lease class", leaseClass);
    if (taskId != null) {
      Checks.id("a task id", taskId);
    }
    if (retryOf != null) {
      Checks.requestId("a request id in retryOf", retryOf);
    }
    if (tenant != null) {
      Checks.id("a tenant", tenant);
    }
    if (requestId != null) {
      Checks.requestId("a request id", requestId);
    }
    if (repeatFailures < 0 || repeatFailures > 1000) {
      throw new IllegalArgumentException(
          "Expected repeatFailures of 0 to 1000, but found " + repeatFailures + ".");
    }
    if (unblocks != null && unblocks < 0) {
      throw new IllegalArgumentException(
          "Expected unblocks of 0 or more, or null if unknown, but found " + unblocks + ".");
    }
    if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
      throw new IllegalArgumentException(
          "Expected a timeout above 0, or null for the client's default, but found "
              + DurationText.of(timeout)
              + ".");
    }
    if (estimate == null) {
      estimate = new Estimate(null, 0, null, null, "");
    }
    if (onQueued == null) {
      onQueued = update -> {};
    }
  }

  /** Starts a call of a quota, with nothing known about its size. */
  public static Builder of(String quota) {
    return new Builder(quota);
  }

  /** Collects a call. Not thread-safe; may be reused after {@link #build()}. */
  public static final class Builder {
    private final String quota;
    private String member;
    private String taskId;
    private String role = "worker";
    private String leaseClass = "batch";
    private Long inputTokens;
    private long cachedTokens;
    private Instant cacheExpiresAt;
    private Long maxOutputTokens;
    private String estimateMethod = "";
    private String retryOf;
    private int repeatFailures;
    private Integer unblocks;
    private String tenant;
    private String requestId;
    private RetryBudget retryBudget;
    private Instant deadline;
    private Duration timeout;
    private Consumer<QueueUpdate> onQueued;

    private Builder(String quota) {
      this.quota = quota;
    }

    /** Whom the client speaks for. */
    public Builder member(String member) {
      this.member = member;
      return this;
    }

    /** Task the call belongs to. */
    public Builder taskId(String taskId) {
      this.taskId = taskId;
      return this;
    }

    /** Role of the agent; {@code worker} if not called. */
    public Builder role(String role) {
      this.role = role;
      return this;
    }

    /** Class of the request; {@code batch} if not called. */
    public Builder leaseClass(String leaseClass) {
      this.leaseClass = leaseClass;
      return this;
    }

    /** Uncached input tokens expected. */
    public Builder inputTokens(long inputTokens) {
      this.inputTokens = inputTokens;
      return this;
    }

    /**
     * Tokens of the prefix expected to be read from the prompt cache.
     *
     * @param cacheExpiresAt when that cache ends, or null if it is cold
     */
    public Builder cachedTokens(long cachedTokens, Instant cacheExpiresAt) {
      this.cachedTokens = cachedTokens;
      this.cacheExpiresAt = cacheExpiresAt;
      return this;
    }

    /** The call's {@code max_tokens}. */
    public Builder maxOutputTokens(long maxOutputTokens) {
      this.maxOutputTokens = maxOutputTokens;
      return this;
    }

    /** How the estimate was made, for reports. */
    public Builder estimateMethod(String estimateMethod) {
      this.estimateMethod = estimateMethod;
      return this;
    }

    /** Request id of the failed or rejected call that this one repeats. */
    public Builder retryOf(String requestId) {
      this.retryOf = requestId;
      return this;
    }

    /** How often the same step failed before. */
    public Builder repeatFailures(int repeatFailures) {
      this.repeatFailures = repeatFailures;
      return this;
    }

    /** How many tasks wait for this one. */
    public Builder unblocks(int unblocks) {
      this.unblocks = unblocks;
      return this;
    }

    /** Tenant claimed. */
    public Builder tenant(String tenant) {
      this.tenant = tenant;
      return this;
    }

    /** Id of the request; {@link AdmissionClient#newRequestId()} makes one. */
    public Builder requestId(String requestId) {
      this.requestId = requestId;
      return this;
    }

    /** Spent by one for each repetition of a failed call. */
    public Builder retryBudget(RetryBudget retryBudget) {
      this.retryBudget = retryBudget;
      return this;
    }

    /**
     * When the coordinator drops the request from the queue, by its own clock; null: after twice
     * the longest wait that the quota promises, two minutes by default.
     */
    public Builder deadline(Instant deadline) {
      this.deadline = deadline;
      return this;
    }

    /** When the client gives the call up; null: the client's default. */
    public Builder timeout(Duration timeout) {
      this.timeout = timeout;
      return this;
    }

    /** Told where the call stands in line. */
    public Builder onQueued(Consumer<QueueUpdate> onQueued) {
      this.onQueued = onQueued;
      return this;
    }

    /**
     * The call.
     *
     * @throws IllegalArgumentException if an id is out of its grammar or a number out of its range
     */
    public LeaseCall build() {
      return new LeaseCall(
          quota,
          member,
          taskId,
          role,
          leaseClass,
          new Estimate(inputTokens, cachedTokens, cacheExpiresAt, maxOutputTokens, estimateMethod),
          retryOf,
          repeatFailures,
          unblocks,
          tenant,
          requestId,
          retryBudget,
          deadline,
          timeout,
          onQueued);
    }
  }
}
