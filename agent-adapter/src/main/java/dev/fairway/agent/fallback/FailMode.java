package dev.fairway.agent.fallback;

/** What becomes of calls while the coordinator does not answer. */
public enum FailMode {
  /**
   * They go on, paced by the share that the coordinator told last: what all agents use together
   * stays below what is safe. Without such a share, as {@link #CLOSED}.
   */
  SAFE_SHARE,
  /** They go on, each after a wait with full jitter, and find the limit by the provider's 429s. */
  BACKOFF,
  /** They wait until the coordinator is back or their time is over. */
  CLOSED
}
