package dev.fairway.admission;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces a stream thread that died, up to a bound within ten minutes; beyond it the instance
 * stops, and whoever runs it sees it fail. Waits longer from one failure to the next, so that a
 * failure that comes back at once does not spin. Thread-safe.
 */
final class Restarts implements StreamsUncaughtExceptionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(Restarts.class);
  private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long PAUSE_MS_STEP = 100;
  private static final long PAUSE_MS_MAX = 3_000;

  private final int restartsMax;
  private final LongSupplier nanos;
  private final Deque<Long> recent = new ArrayDeque<>();
  private long total;

  Restarts(int restartsMax, LongSupplier nanos) {
    this.restartsMax = restartsMax;
    this.nanos = nanos;
  }

  @Override
  public StreamThreadExceptionResponse handle(Throwable exception) {
    int failures = failed();
    if (failures > restartsMax) {
      LOG.error(
          "Expected at most {} failures of stream threads within ten minutes, but found {}; stopping",
          restartsMax,
          failures,
          exception);
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }
    LOG.error("A stream thread failed; replacing it ({} of {})", failures, restartsMax, exception);
    try {
      // On the dying thread: nobody else waits for it.
      TimeUnit.MILLISECONDS.sleep(Math.min(PAUSE_MS_MAX, (failures - 1) * PAUSE_MS_STEP));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return StreamThreadExceptionResponse.REPLACE_THREAD;
  }

  /** Threads that failed since the start. */
  synchronized long total() {
    return total;
  }

  private synchronized int failed() {
    long now = nanos.getAsLong();
    recent.addLast(now);
    total++;
    while (now - recent.peekFirst() > WINDOW_NANOS || recent.size() > restartsMax + 1) {
      recent.removeFirst();
    }
    return recent.size();
  }
}
