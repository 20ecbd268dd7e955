package dev.fairway.admission.engine;

/**
 * What became of a call.
 *
 * @param leaseId lease, or null for CANCELLED and UNLEASED
 * @param requestId request id, or null; needed for CANCELLED and UNLEASED
 * @param agentId agent that held the lease
 * @param quotaId quota
 * @param outcome how the call ended
 * @param usage what it used, or null if unknown
 * @param requeue after RATE_LIMITED: put the call back in line as its next attempt
 * @param signal what the provider said about its limits, or null
 */
public record Settlement(
    String leaseId,
    String requestId,
    String agentId,
    String quotaId,
    Outcome outcome,
    Usage usage,
    boolean requeue,
    Signal signal) {

  /** How a call ended. */
  public enum Outcome {
    /** Still running: tells what is known of its usage, and renews the lease. */
    IN_PROGRESS,
    SUCCEEDED,
    /** The provider answered 429. */
    RATE_LIMITED,
    /** 529 and its kin: the provider's trouble, not our limit. */
    OVERLOADED,
    /** Sent, and nobody knows what it used: no refund. */
    FAILED_AFTER_SEND,
    /** Provably never sent: full refund, unless it was told to be under way. */
    NOT_SENT,
    /** By request id: leaves the queue. */
    CANCELLED,
    /** Made without a lease while the coordinator was silent: charged as it is. */
    UNLEASED
  }

  /**
   * Tokens as the provider reported them; null where unknown.
   *
   * @param inputTokens uncached input
   * @param cacheReadTokens read from the prompt cache
   * @param cacheWriteTokens written to the prompt cache
   * @param outputTokens output
   * @param exact false where the numbers are an agent's estimate
   */
  public record Usage(
      Long inputTokens,
      Long cacheReadTokens,
      Long cacheWriteTokens,
      Long outputTokens,
      boolean exact) {}
}
