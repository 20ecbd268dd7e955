package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;

/**
 * When a rejected request may come back. Never at once: where nothing but a concurrency slot or an
 * operator is waited for, the ETA is 0 and says nothing about when room comes.
 */
public final class RetryAt {
  /** The soonest, from the decision on. */
  public static final long SOONEST_MS = 1_000;

  private RetryAt() {}

  /** That time, or the soonest one; null, which is never, stays null. */
  public static Long floored(Long retryAtMs, long nowMs) {
    return retryAtMs == null
        ? null
        : (Long) Math.max(retryAtMs, Amounts.saturatedAdd(nowMs, SOONEST_MS));
  }
}
