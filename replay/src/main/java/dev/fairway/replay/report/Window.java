package dev.fairway.replay.report;

/** A part of a run, in milliseconds since its start. */
public record Window(double fromMs, double toMs) {

  /**
   * A window.
   *
   * @throws IllegalArgumentException if it is empty
   */
  public Window {
    if (!(toMs > fromMs)) {
      throw new IllegalArgumentException(
          "Expected a window that ends after it begins, but found " + fromMs + " to " + toMs);
    }
  }

  double lengthMs() {
    return toMs - fromMs;
  }

  boolean contains(double atMs) {
    return atMs >= fromMs && atMs <= toMs;
  }
}
