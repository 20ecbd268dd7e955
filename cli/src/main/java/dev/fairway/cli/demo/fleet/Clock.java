package dev.fairway.cli.demo.fleet;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Time of one run, in milliseconds since its start, and its end. Thread-safe.
 *
 * <p>Real time: what it schedules is the fleet, not the policy.
 */
final class Clock {
  private volatile long startedNanos = System.nanoTime();
  private final double endMs;
  private final CountDownLatch stopped = new CountDownLatch(1);

  Clock(double endMs) {
    this.endMs = endMs;
  }

  /** Begins; what was measured before is void. */
  void start() {
    startedNanos = System.nanoTime();
  }

  double nowMs() {
    return (System.nanoTime() - startedNanos) / 1e6;
  }

  /** Whether no new work may start. */
  boolean over() {
    return stopped.getCount() == 0 || nowMs() >= endMs;
  }

  double endMs() {
    return endMs;
  }

  /** The end, as {@link System#nanoTime()}. */
  long endNanos() {
    return startedNanos + (long) (endMs * 1e6);
  }

  /** Ends the run before its time. */
  void stop() {
    stopped.countDown();
  }

  /**
   * Waits until then, or until the run is over.
   *
   * @return whether the run goes on
   */
  boolean waitUntil(double atMs) throws InterruptedException {
    double untilMs = Math.min(atMs, endMs);
    long nanos = (long) ((untilMs - nowMs()) * 1e6);
    if (nanos > 0 && stopped.await(nanos, TimeUnit.NANOSECONDS)) {
      return false;
    }
    return !over();
  }
}
