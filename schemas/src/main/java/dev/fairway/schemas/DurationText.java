package dev.fairway.schemas;

import java.time.Duration;

/** Durations in text for people, written the way that configuration files take them. */
public final class DurationText {
  private static final long[] UNIT_MS = {86_400_000, 3_600_000, 60_000, 1_000};
  private static final String[] UNIT = {"d", "h", "m", "s"};

  private DurationText() {}

  /** The same of a duration, to the millisecond; null is {@code nothing}. */
  public static String of(Duration duration) {
    return duration == null ? "nothing" : ofMs(duration.toMillis());
  }

  /** In the largest unit that divides it, such as {@code 90s} or {@code 3m}; 0 is {@code 0ms}. */
  public static String ofMs(long ms) {
    for (int i = 0; i < UNIT.length; i++) {
      if (ms != 0 && ms % UNIT_MS[i] == 0) {
        return ms / UNIT_MS[i] + UNIT[i];
      }
    }
    return ms + "ms";
  }
}
