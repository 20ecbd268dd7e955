package dev.fairway.replay.world;

/** How a provider counts against one limit. Times never go back. */
interface Meter {

  /** What may still be charged, in whole units; negative after an overdraft. */
  long room(long nowMs);

  /** The most that the meter ever has room for. */
  long depth();

  /** Charges, whatever the room is. */
  void charge(long nowMs, long amount);

  /** Gives back what was charged too much. */
  void refund(long nowMs, long amount);

  /**
   * When it will have that room if nothing else happens, at least {@code nowMs}; {@code amount} is
   * at most the depth.
   */
  long whenRoom(long nowMs, long amount);

  /** Milliseconds until its room is whole again if nothing else happens. */
  default long resetMs(long nowMs) {
    return whenRoom(nowMs, depth()) - nowMs;
  }
}
