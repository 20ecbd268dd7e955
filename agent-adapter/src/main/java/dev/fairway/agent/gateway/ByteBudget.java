package dev.fairway.agent.gateway;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes of request bodies that may be held at a time. Thread-safe. */
final class ByteBudget {
  private final long max;
  private final AtomicLong taken = new AtomicLong();

  ByteBudget(long max) {
    this.max = max;
  }

  /** Takes some, if they are there. */
  boolean take(long bytes) {
    if (taken.addAndGet(bytes) <= max) {
      return true;
    }
    taken.addAndGet(-bytes);
    return false;
  }

  /** Gives back what was taken. */
  void give(long bytes) {
    taken.addAndGet(-bytes);
  }

  long taken() {
    return taken.get();
  }
}
