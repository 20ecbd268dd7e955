package dev.fairway.admission.engine;

import dev.fairway.admission.engine.bucket.Dimension;

/**
 * What a waiting request waits for: of all that is in its way, what lasts longest. It tells people
 * which limit to look at; nothing is decided by it.
 *
 * @param reason what kind of thing it is
 * @param quotaId whose it is: the request's own quota, or one that it takes from too
 * @param dimension which limit, a concurrency slot among them; null where it is none
 */
public record WaitsFor(Reason reason, String quotaId, Dimension dimension) {

  /** What can be in the way. */
  public enum Reason {
    /** A limit of the quota has not enough for who is ahead and the request. */
    LIMIT,
    /** Its tenant's ceiling in that limit has not. */
    TENANT_CEILING,
    /** It goes by the reserve of its class, which has not. */
    RESERVE,
    /** The provider asked for no calls, or is overloaded. */
    HOLD,
    /** 429s in a row opened the breaker. */
    BREAKER,
    /** Grants come back bit by bit after a hold. */
    RAMP,
    /** A window is about to be reset, or was just now. */
    RESET,
    /** An operator paused the quota. */
    PAUSE
  }
}
