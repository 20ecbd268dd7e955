package dev.fairway.dispatcher;

import java.util.concurrent.TimeUnit;

/** Whether the dispatcher works, and what keeps it from it. Thread-safe. */
final class DispatcherHealth {

  /** A turn takes milliseconds; the longest wait in one is a look-up in the schema registry. */
  private static final long STALLED_AFTER_NANOS = TimeUnit.SECONDS.toNanos(20);

  private volatile String trouble = "Starting.";
  private volatile long lastTurnNanos = System.nanoTime();

  /**
   * The loop has done a turn.
   *
   * @param what what it could not do; null if all went well
   */
  void turned(String what) {
    lastTurnNanos = System.nanoTime();
    trouble = what;
  }

  /** The loop does not run. */
  void troubled(String what) {
    trouble = what;
  }

  /** What is wrong, for people; null if nothing is. */
  String trouble() {
    String known = trouble;
    if (known != null) {
      return known;
    }
    long silentNanos = System.nanoTime() - lastTurnNanos;
    return silentNanos < STALLED_AFTER_NANOS
        ? null
        : "Expected a turn of the loop every few milliseconds, but the last was %d s ago. Look at the threads of the process."
            .formatted(TimeUnit.NANOSECONDS.toSeconds(silentNanos));
  }
}
