package dev.fairway.admission.engine.bucket;

/**
 * A provider that counts in minutes of its own and starts each one anew. Resets follow each other
 * every 60 s from any one of them; without one known, they are those of the clock's minutes.
 */
public final class FixedWindow {
  /** Length of a window. */
  public static final long WINDOW_MS = 60_000;

  /** A grant waits so long after a reset, so that it cannot arrive before it. */
  public static final long GUARD_MS = 150;

  private FixedWindow() {}

  /**
   * Resets that took effect after the one time and not after the other.
   *
   * @param resetAtMs time of any one reset
   */
  public static long resets(long resetAtMs, long fromMs, long toMs) {
    return Math.max(0, count(resetAtMs, toMs) - count(resetAtMs, fromMs));
  }

  /** Milliseconds from a time to the n-th reset that takes effect after it. */
  public static long msUntil(long resetAtMs, long n, long atMs) {
    long first = resetAtMs + GUARD_MS + (count(resetAtMs, atMs) + 1) * WINDOW_MS;
    return Amounts.saturatedAdd(
        first - atMs, Math.min(n - 1, Long.MAX_VALUE / 120_000) * WINDOW_MS);
  }

  /**
   * The first time from that one on at which a grant may go: within the guard after a reset nobody
   * knows which window a call would count in, and the window that begins forgets it.
   */
  public static long afterGuard(long resetAtMs, long atMs) {
    long sinceMs = Math.floorMod(atMs - resetAtMs, WINDOW_MS);
    return sinceMs < GUARD_MS ? atMs + GUARD_MS - sinceMs : atMs;
  }

  /** How much later in its minute the other reset is, negative where it is earlier. */
  public static long laterMs(long resetAtMs, long otherResetAtMs) {
    long half = WINDOW_MS / 2;
    return Math.floorMod(otherResetAtMs - resetAtMs + half, WINDOW_MS) - half;
  }

  private static long count(long resetAtMs, long atMs) {
    return Math.floorDiv(atMs - resetAtMs - GUARD_MS, WINDOW_MS);
  }
}
