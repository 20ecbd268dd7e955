package dev.fairway.dispatcher;

import java.util.function.LongSupplier;

/**
 * The time in epoch milliseconds as the wall clock had it at the start, plus the time since: a
 * clock that is set while the dispatcher runs neither expires what is parked nor keeps it for ever.
 * Thread-safe.
 */
final class MonotonicClock implements LongSupplier {

  private final long startMs = System.currentTimeMillis();
  private final long startNanos = System.nanoTime();

  @Override
  public long getAsLong() {
    return startMs + (System.nanoTime() - startNanos) / 1_000_000;
  }
}
