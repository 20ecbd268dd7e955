package dev.fairway.admission.engine.state;

/**
 * Calls and retries of a quota in the last minute: this minute's, and of the one before the part
 * that is not over yet.
 */
public final class CallWindow {
  private static final long MINUTE_MS = 60_000;

  private long startMs;
  private int callsBefore;
  private int retriesBefore;
  private int calls;
  private int retries;

  CallWindow() {}

  /** Calls put in line in the minute up to that time. */
  public double calls(long atMs) {
    return weighted(atMs, callsBefore, calls);
  }

  /** Of these, retries. */
  public double retries(long atMs) {
    return weighted(atMs, retriesBefore, retries);
  }

  private double weighted(long atMs, int before, int current) {
    long age = atMs - startMs;
    if (age >= 2 * MINUTE_MS) {
      return 0;
    }
    if (age >= MINUTE_MS) {
      return current * (double) (2 * MINUTE_MS - age) / MINUTE_MS;
    }
    return current + before * (double) (MINUTE_MS - age) / MINUTE_MS;
  }

  void count(long nowMs, int newCalls, int newRetries) {
    long minutes = (nowMs - startMs) / MINUTE_MS;
    if (minutes > 0) {
      callsBefore = minutes == 1 ? calls : 0;
      retriesBefore = minutes == 1 ? retries : 0;
      calls = 0;
      retries = 0;
      startMs += minutes * MINUTE_MS;
    }
    calls = Math.max(0, calls + newCalls);
    retries = Math.max(0, retries + newRetries);
  }

  Row.OrderRow row(long topVirtualTime) {
    return new Row.OrderRow(topVirtualTime, startMs, callsBefore, retriesBefore, calls, retries);
  }

  void load(Row.OrderRow row) {
    startMs = row.minuteStartMs();
    callsBefore = row.callsBefore();
    retriesBefore = row.retriesBefore();
    calls = row.calls();
    retries = row.retries();
  }
}
