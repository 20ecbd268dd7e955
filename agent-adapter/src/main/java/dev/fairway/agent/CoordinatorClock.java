package dev.fairway.agent;

/**
 * Translates a coordinator's time into the client's monotonic time, without ever comparing two wall
 * clocks.
 *
 * <p>Each decision says when it was decided (coordinator's clock), and the client knows when it
 * read it (own clock). The difference is the offset of the two clocks plus the delay of delivery,
 * and delays are never negative: so the smallest difference of the last minutes is the offset, give
 * or take the fastest delivery (the minimum filter of NTP, after Mills). A grant that was written
 * in time and read much later, because the process was stopped or cut off, is thereby seen to be
 * late; time to live counted from its reading alone would never show that.
 *
 * <p>The estimate is clamped to what is certain: a decision was made after its request was sent and
 * before it was read. A coordinator that moved to a machine with another clock therefore costs at
 * most the slack in between, until the old minimum is forgotten.
 *
 * <p>Not thread-safe. One for each key, since each key may have another coordinator.
 */
final class CoordinatorClock {
  /** Half of how long a minimum counts: long against the gaps between decisions, short to drift. */
  static final long WINDOW_MS = 300_000;

  private static final long NONE = Long.MAX_VALUE;

  private long currentMin = NONE;
  private long previousMin = NONE;
  private long windowEndsAtMs;

  /** Notes a decision. */
  void observe(long decidedAtMs, long receivedAtMs) {
    if (receivedAtMs >= windowEndsAtMs) {
      boolean adjacent = receivedAtMs - windowEndsAtMs < WINDOW_MS;
      previousMin = adjacent ? currentMin : NONE;
      currentMin = NONE;
      windowEndsAtMs = receivedAtMs + WINDOW_MS;
    }
    currentMin = Math.min(currentMin, receivedAtMs - decidedAtMs);
  }

  /**
   * When a lease expires, by the client's clock.
   *
   * @param expiresAtMs by the coordinator's clock
   * @param ttlMs from the decision on
   * @param sentAtMs when its request was first sent, by the client's clock
   * @param receivedAtMs when the grant was read, by the client's clock; it has been observed
   */
  long localExpiryMs(long expiresAtMs, long ttlMs, long sentAtMs, long receivedAtMs) {
    long estimate = expiresAtMs + Math.min(currentMin, previousMin);
    return Math.max(sentAtMs + ttlMs, Math.min(estimate, receivedAtMs + ttlMs));
  }
}
