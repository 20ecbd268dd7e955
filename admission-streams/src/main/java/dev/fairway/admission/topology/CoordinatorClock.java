package dev.fairway.admission.topology;

import java.util.function.LongSupplier;

/**
 * The coordinator's time, epoch milliseconds: the wall clock at its start, and monotonic time
 * since. A wall clock that is set neither stops refills nor ends leases. Thread-safe.
 */
public final class CoordinatorClock implements LongSupplier {
  private final long startedAtMs;
  private final long startedAtNanos;
  private final LongSupplier nanos;

  /** A clock that starts now. */
  public CoordinatorClock() {
    this(System.currentTimeMillis(), System::nanoTime);
  }

  CoordinatorClock(long startedAtMs, LongSupplier nanos) {
    this.startedAtMs = startedAtMs;
    this.nanos = nanos;
    this.startedAtNanos = nanos.getAsLong();
  }

  @Override
  public long getAsLong() {
    return startedAtMs + (nanos.getAsLong() - startedAtNanos) / 1_000_000;
  }
}
