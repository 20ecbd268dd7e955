package dev.fairway.agent.fallback;

/**
 * Tells whether a coordinator that is asked still answers: any decision is an answer, whichever
 * request it is for. Who is not asked cannot be silent. Not thread-safe; time is an argument.
 */
public final class SilenceWatch {
  private static final long NOBODY_ASKS = Long.MIN_VALUE;

  private final long silentAfterMs;
  private long askedSinceMs = NOBODY_ASKS;
  private boolean silent;

  /** With the time after which a question counts as unanswered. */
  public SilenceWatch(long silentAfterMs) {
    this.silentAfterMs = silentAfterMs;
  }

  /** A request went out. */
  public void asked(long nowMs) {
    if (askedSinceMs == NOBODY_ASKS) {
      askedSinceMs = nowMs;
    }
  }

  /** A decision came in; true if it ends a silence. */
  public boolean heard() {
    boolean ended = silent;
    silent = false;
    askedSinceMs = NOBODY_ASKS;
    return ended;
  }

  /** Nobody waits for an answer any more. A silence that has begun goes on. */
  public void nobodyWaits() {
    if (!silent) {
      askedSinceMs = NOBODY_ASKS;
    }
  }

  /** Looks at the time; true if a silence begins by that. */
  public boolean begins(long nowMs) {
    if (silent || askedSinceMs == NOBODY_ASKS || nowMs - askedSinceMs < silentAfterMs) {
      return false;
    }
    silent = true;
    return true;
  }

  /** Whether it is silent. */
  public boolean isSilent() {
    return silent;
  }

  /** Milliseconds until a silence may begin, at least 1; -1 while there is nothing to wait for. */
  public long checkInMs(long nowMs) {
    return silent || askedSinceMs == NOBODY_ASKS
        ? -1
        : Math.max(1, askedSinceMs + silentAfterMs - nowMs);
  }
}
