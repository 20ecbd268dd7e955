package dev.fairway.agent;

/**
 * The client's one scheduler thread and its monotonic clock. Sends, and what has to happen later
 * (timeouts, re-sends, renewals), run here, so that neither callers nor the poll thread wait.
 */
interface Timers {

  /** Milliseconds of a clock that never goes back and has no meaning outside this process. */
  long nowMs();

  /** Runs a task soon, in order of submission; false once closed, and then it does not. */
  boolean execute(Runnable task);

  /** Runs a task after a delay; a delay of 0 or less is soon. Ignored once closed. */
  Timer schedule(long delayMs, Runnable task);

  /** A task that waits for its time. */
  interface Timer {
    /** Forgets the task if it has not begun; without effect otherwise. */
    void cancel();
  }
}
