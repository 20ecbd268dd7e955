package dev.fairway.cli.demo.emulator;

import java.time.Instant;

/** Nanoseconds since the epoch that never go back: the wall clock once, then monotonic time. */
final class EpochNanos {
  private final long offset;

  EpochNanos() {
    Instant wall = Instant.now();
    offset = wall.getEpochSecond() * 1_000_000_000L + wall.getNano() - System.nanoTime();
  }

  long now() {
    return offset + System.nanoTime();
  }
}
