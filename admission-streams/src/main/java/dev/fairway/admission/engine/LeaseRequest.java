package dev.fairway.admission.engine;

/**
 * An agent's wish to make one model call. Nothing in it is trusted before validation.
 *
 * @param requestId id, unique per agent
 * @param agentId agent
 * @param quotaId quota, {@code key} or {@code key/name}
 * @param taskId task the call belongs to, or null
 * @param role role of the agent
 * @param leaseClass class of the request
 * @param retryOf request id of the failed or rejected call this one repeats, or null
 * @param repeatFailures how often the same step failed before
 * @param unblocks tasks that wait for this one, or null if unknown
 * @param estimate what the call is expected to use
 * @param tenant tenant claimed, or null
 * @param deadlineMs when to leave the queue, epoch milliseconds, or null for the default
 * @param correlation echoed in every decision, or null
 * @param signature signature over the request, or null
 */
public record LeaseRequest(
    String requestId,
    String agentId,
    String quotaId,
    String taskId,
    String role,
    String leaseClass,
    String retryOf,
    int repeatFailures,
    Integer unblocks,
    Estimate estimate,
    String tenant,
    Long deadlineMs,
    OpaqueBytes correlation,
    OpaqueBytes signature) {

  /**
   * What a call is expected to use.
   *
   * @param inputTokens uncached input, or null if unknown; 0 is 0
   * @param cachedTokens prefix expected to come from the prompt cache
   * @param cacheExpiresAtMs when that cache ends, epoch milliseconds, or null if it is cold
   * @param maxOutputTokens the call's max_tokens, or null if unknown
   * @param method how the estimate was made
   */
  public record Estimate(
      Long inputTokens,
      long cachedTokens,
      Long cacheExpiresAtMs,
      Long maxOutputTokens,
      String method) {}
}
