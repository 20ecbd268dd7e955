package dev.fairway.agent;

import java.util.Comparator;
import java.util.PriorityQueue;

/** Timers whose time moves only when the test says so. Single-threaded. */
final class VirtualTimers implements Timers {
  private record Task(long atMs, long order, Runnable task) {}

  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::atMs).thenComparingLong(Task::order));
  private long nowMs = 1_000_000;
  private long order;

  @Override
  public long nowMs() {
    return nowMs;
  }

  @Override
  public boolean execute(Runnable task) {
    task.run();
    return true;
  }

  @Override
  public Timer schedule(long delayMs, Runnable task) {
    Task scheduled = new Task(nowMs + Math.max(0, delayMs), order++, task);
    tasks.add(scheduled);
    return () -> tasks.remove(scheduled);
  }

  /** Moves time, and runs what is due on the way at its own time. */
  void advance(long ms) {
    long untilMs = nowMs + ms;
    while (!tasks.isEmpty() && tasks.peek().atMs() <= untilMs) {
      Task next = tasks.poll();
      nowMs = Math.max(nowMs, next.atMs());
      next.task().run();
    }
    nowMs = untilMs;
  }

  /** Moves time without running anything, as when the process is stopped. */
  void freeze(long ms) {
    nowMs += ms;
  }

  int scheduled() {
    return tasks.size();
  }
}
