package dev.fairway.replay.world;

import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Virtual time and what is due in it, in milliseconds from 0. What is due at the same millisecond
 * happens in the order in which it was put down. Not thread-safe.
 */
public final class Agenda {

  private record Entry(long atMs, long number, Runnable action) {}

  private final PriorityQueue<Entry> due =
      new PriorityQueue<>(Comparator.comparingLong(Entry::atMs).thenComparingLong(Entry::number));
  private long nowMs;
  private long number;

  /** Now. */
  public long nowMs() {
    return nowMs;
  }

  /** Puts down what shall happen then; a time in the past is now. */
  public void at(long atMs, Runnable action) {
    due.add(new Entry(Math.max(nowMs, atMs), number++, action));
  }

  /** Puts down what shall happen after so many milliseconds. */
  public void in(long ms, Runnable action) {
    at(nowMs + ms, action);
  }

  /** Lets time pass until then, that time excluded, with all that is due on the way. */
  public void runUntil(long endMs) {
    while (!due.isEmpty() && due.peek().atMs() < endMs) {
      Entry next = due.poll();
      nowMs = next.atMs();
      next.action().run();
    }
    nowMs = endMs;
  }
}
