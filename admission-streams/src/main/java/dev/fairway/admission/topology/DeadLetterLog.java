package dev.fairway.admission.topology;

import dev.fairway.schemas.DeadLetterReason;
import java.util.function.Consumer;

/**
 * Warnings of dead letters, at most one a second: each is counted and kept, and a flood of them
 * must not fill the log as well. A line says how many were held back before it. Not thread-safe.
 */
final class DeadLetterLog {
  private static final long INTERVAL_MS = 1_000;

  private final Consumer<String> warnings;
  private long lastMs;
  private boolean any;
  private long heldBack;

  DeadLetterLog(Consumer<String> warnings) {
    this.warnings = warnings;
  }

  /**
   * A record is put aside.
   *
   * @param coordinates where it was read from
   */
  void put(DeadLetterReason reason, String coordinates, String detail, long atMs) {
    if (any && atMs >= lastMs && atMs - lastMs < INTERVAL_MS) {
      heldBack++;
      return;
    }
    warnings.accept(
        "Dead letter "
            + reason
            + " from "
            + coordinates
            + ": "
            + detail
            + (heldBack == 0 ? "" : " (" + heldBack + " more since the last such line)"));
    any = true;
    lastMs = atMs;
    heldBack = 0;
  }

  /** No more come; tells of those that were held back. */
  void close() {
    if (heldBack > 0) {
      warnings.accept(heldBack + " more dead letters since the last such line");
      heldBack = 0;
    }
  }
}
