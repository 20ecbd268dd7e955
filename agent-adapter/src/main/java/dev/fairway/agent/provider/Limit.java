package dev.fairway.agent.provider;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One limit that an answer mentions. A dimension may have several, over different windows.
 *
 * @param window the time that the limit is for, or null if unknown
 */
record Limit(Dimension dimension, Duration window, Long limit, Long remaining, Reset reset) {
  static final Duration MINUTE = Duration.ofMinutes(1);
  static final Duration DAY = Duration.ofDays(1);

  boolean isExhausted() {
    return remaining != null && remaining == 0;
  }

  boolean isOver(Duration window) {
    return this.window != null && this.window.compareTo(window) >= 0;
  }

  LimitReading reading() {
    return new LimitReading(limit, remaining, reset == null ? null : reset.ms(), window);
  }

  /** One reading a dimension: the one over a minute, else the shortest window that is known. */
  static Map<Dimension, LimitReading> readings(List<Limit> limits) {
    Map<Dimension, Limit> chosen = new EnumMap<>(Dimension.class);
    for (Limit limit : limits) {
      chosen.merge(limit.dimension, limit, (a, b) -> b.rank() < a.rank() ? b : a);
    }
    Map<Dimension, LimitReading> readings = new EnumMap<>(Dimension.class);
    chosen.forEach((dimension, limit) -> readings.put(dimension, limit.reading()));
    return readings;
  }

  /** The limits, with the numbers of another one put over those of the same window. */
  static List<Limit> refined(List<Limit> limits, Limit by) {
    List<Limit> refined = new ArrayList<>();
    boolean found = false;
    for (Limit limit : limits) {
      boolean same = limit.dimension == by.dimension && Objects.equals(limit.window, by.window);
      refined.add(same ? limit.with(by) : limit);
      found |= same;
    }
    if (!found) {
      refined.add(by);
    }
    return refined;
  }

  private Limit with(Limit by) {
    return new Limit(
        dimension,
        window,
        by.limit != null ? by.limit : limit,
        by.remaining != null ? by.remaining : remaining,
        by.reset != null ? by.reset : reset);
  }

  private long rank() {
    if (window == null) {
      return Long.MAX_VALUE;
    }
    return window.equals(MINUTE) ? 0 : window.toMillis();
  }
}
