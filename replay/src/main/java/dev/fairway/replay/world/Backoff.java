package dev.fairway.replay.world;

/** How long a harness waits after a 429 that it was not told how to wait after. */
public enum Backoff {
  /** 1 s, doubling to 30 s. */
  NO_JITTER_30,
  /** Anything up to 1 s, doubling to 30 s (AWS, 2015). */
  FULL_JITTER_30,
  /** The same, doubling to 120 s. */
  FULL_JITTER_120,
  /** What {@code retry-after} says, and full jitter up to 30 s on top. */
  FULL_JITTER_RETRY_AFTER;

  private static final double FIRST_MS = 1000;
  private static final int MAX_DOUBLINGS = 20;

  /**
   * The wait, in milliseconds.
   *
   * @param refusals of this call so far, at least 1
   * @param draw from 0 to 1
   */
  long waitMs(int refusals, Refusal refusal, double draw) {
    double capMs = this == FULL_JITTER_120 ? 120_000 : 30_000;
    double ceilingMs = Math.min(capMs, FIRST_MS * (1L << Math.min(refusals - 1, MAX_DOUBLINGS)));
    switch (this) {
      case NO_JITTER_30:
        return Math.round(ceilingMs);
      case FULL_JITTER_RETRY_AFTER:
        return refusal.retryAfterS() * 1000 + Math.round(ceilingMs * draw);
      default:
        return Math.round(ceilingMs * draw);
    }
  }
}
