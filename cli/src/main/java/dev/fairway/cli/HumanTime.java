package dev.fairway.cli;

import java.time.Duration;

/** Times as people read them; JSON keeps the milliseconds. */
final class HumanTime {

  private static final long MINUTE_MS = 60_000;
  private static final long HOUR_MS = 60 * MINUTE_MS;
  private static final long DAY_MS = 24 * HOUR_MS;

  private HumanTime() {}

  /** A length of time with its two largest units, such as {@code 4.2 s} or {@code 3 min 20 s}. */
  static String length(long ms) {
    if (ms < 0) {
      return "-" + length(-Math.max(ms, -Long.MAX_VALUE));
    }
    Duration length = Duration.ofMillis(ms);
    if (ms < 10_000) {
      return ms / 1_000 + "." + ms % 1_000 / 100 + " s";
    }
    if (ms < 2 * MINUTE_MS) {
      return ms / 1_000 + " s";
    }
    if (ms < HOUR_MS) {
      return units(length.toMinutes(), "min", length.toSecondsPart(), "s");
    }
    if (ms < DAY_MS) {
      return units(length.toHours(), "h", length.toMinutesPart(), "min");
    }
    return units(length.toDays(), "d", length.toHoursPart(), "h");
  }

  private static String units(long large, String largeUnit, int small, String smallUnit) {
    return large + " " + largeUnit + (small == 0 ? "" : " " + small + " " + smallUnit);
  }

  /** A point in time as seen from another one: {@code in 83 s}, {@code 4.2 s ago}. */
  static String relative(long atMs, long nowMs) {
    return atMs > nowMs ? "in " + length(atMs - nowMs) : length(nowMs - atMs) + " ago";
  }
}
