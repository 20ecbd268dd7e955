package dev.fairway.replay.report;

import java.util.Locale;

/** Where a time lies across a picture, and the lines and labels that say so. */
final class TimeAxis {
  static final int LEFT = 118;
  static final int RIGHT = 24;
  static final int HEIGHT = 22;

  private static final double[] TICKS_S = {2, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200};
  private static final int TICKS_MAX = 14;

  private final Window window;

  TimeAxis(Window window) {
    this.window = window;
  }

  double x(double atMs) {
    double clipped = Math.max(window.fromMs(), Math.min(window.toMs(), atMs));
    return LEFT + (clipped - window.fromMs()) / window.lengthMs() * (Svg.WIDTH - LEFT - RIGHT);
  }

  /** Lines from the top to the axis, and labels below. */
  void draw(Svg svg, int top) {
    StringBuilder lines = new StringBuilder();
    double tickMs = tickMs();
    for (double atMs = Math.ceil(window.fromMs() / tickMs) * tickMs;
        atMs <= window.toMs();
        atMs += tickMs) {
      lines.append(String.format(Locale.ROOT, "M%.1f %dV%d", x(atMs), top, svg.height() - HEIGHT));
      // The last label stays within the picture.
      boolean last = x(atMs) > Svg.WIDTH - RIGHT - 4;
      svg.text(
          last ? "end" : "middle",
          last ? Svg.WIDTH - 2 : x(atMs),
          svg.height() - 6.0,
          label(atMs / 1000, tickMs / 1000));
    }
    svg.path("rule", lines);
  }

  /** The line on which something stands. */
  static void base(Svg svg, int y) {
    svg.path("rule", String.format(Locale.ROOT, "M%d %dH%d", LEFT, y, Svg.WIDTH - RIGHT));
  }

  private double tickMs() {
    double tick = 1;
    for (double next : TICKS_S) {
      if (window.lengthMs() / 1000 / tick > TICKS_MAX) {
        tick = next;
      }
    }
    return tick * 1000;
  }

  private static String label(double seconds, double tickSeconds) {
    // Minutes from half a minute on: a close-up and its whole run then have the same unit.
    return tickSeconds < 30
        ? String.format(Locale.ROOT, "%.0f s", seconds)
        : String.format(Locale.ROOT, tickSeconds % 60 == 0 ? "%.0f min" : "%.1f min", seconds / 60);
  }
}
