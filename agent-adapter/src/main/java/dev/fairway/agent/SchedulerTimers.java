package dev.fairway.agent;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Timers on one daemon thread. Its queue is bounded by what the client holds: a few tasks for each
 * waiting call and open lease, whose number is bounded.
 */
final class SchedulerTimers implements Timers, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SchedulerTimers.class);

  private final long originNanos = System.nanoTime();
  private final ScheduledThreadPoolExecutor executor;

  SchedulerTimers(String threadName) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, threadName);
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public long nowMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - originNanos);
  }

  @Override
  public boolean execute(Runnable task) {
    try {
      executor.execute(() -> run(task));
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  @Override
  public Timer schedule(long delayMs, Runnable task) {
    try {
      Future<?> scheduled =
          executor.schedule(() -> run(task), Math.max(0, delayMs), TimeUnit.MILLISECONDS);
      return () -> scheduled.cancel(false);
    } catch (RejectedExecutionException e) {
      return () -> {};
    }
  }

  /** Forgets what waits for its time; what was submitted to run soon still runs. */
  @Override
  public void close() {
    executor.shutdown();
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      log.error("Expected a timer's task to return, but it threw; the client goes on.", e);
    }
  }
}
