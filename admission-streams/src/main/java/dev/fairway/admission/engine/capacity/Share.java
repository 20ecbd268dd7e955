package dev.fairway.admission.engine.capacity;

/**
 * What one agent was told that it may use alone. An agent may not have read the last decision, so a
 * larger share told before counts until it ends. Immutable.
 *
 * @param part share of the whole, in parts of {@link #WHOLE}
 * @param untilMs until when it counts
 * @param olderPart a larger share told before, or 0
 * @param olderUntilMs until when that one counts, not after {@code untilMs}
 */
public record Share(long part, long untilMs, long olderPart, long olderUntilMs) {
  /** All that there is to share. */
  public static final long WHOLE = 1_000_000_000L;

  /** Of somebody who was told nothing. */
  public static final Share NONE = new Share(0, 0, 0, 0);

  /** What of the whole counts as given away. */
  public long counted() {
    return Math.max(part, olderPart);
  }

  /** When it shrinks by itself: the older share, or all of it, ends. */
  public long dueMs() {
    return olderPart > 0 ? olderUntilMs : untilMs;
  }

  /** Without what has ended by then. */
  public Share at(long atMs) {
    return olderPart > 0 && olderUntilMs <= atMs ? new Share(part, untilMs, 0, 0) : this;
  }

  /** After another share was told; a smaller one only while no older one counts. */
  public Share told(long newPart, long newUntilMs) {
    if (newPart >= counted()) {
      return new Share(newPart, newUntilMs, 0, 0);
    }
    return newPart < part
        ? new Share(newPart, newUntilMs, part, untilMs)
        : new Share(newPart, newUntilMs, olderPart, olderUntilMs);
  }
}
