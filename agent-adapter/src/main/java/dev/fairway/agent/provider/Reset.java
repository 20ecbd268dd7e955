package dev.fairway.agent.provider;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.regex.Pattern;

/**
 * When a limit resets or a wait ends, in each of the ways in which providers write it.
 *
 * @param ms milliseconds from the answer on, 0 if past; null if the answer's time is unknown
 * @param at the point in time, where the provider gave one, or null
 */
record Reset(Long ms, Instant at) {

  /** How a provider writes its resets. */
  @FunctionalInterface
  interface Grammar {
    /** The reset, or null if unreadable or absurd; {@code now} may be null. */
    Reset read(String text, Instant now);
  }

  private static final int LENGTH_MAX = 64;

  /** Ten digits or more are no seconds from now, but a point in time (2001 and later). */
  private static final Pattern EPOCH = Pattern.compile("[0-9]{10,15}");

  /** Numbers from this on are milliseconds since 1970 (1973 and later), and no seconds. */
  private static final long EPOCH_MS_MIN = 100_000_000_000L;

  /** Go durations, or seconds without a unit. */
  static Reset duration(String text, Instant now) {
    return in(Durations.ms(text, 1_000));
  }

  /** Milliseconds without a unit, or Go durations. */
  static Reset millis(String text, Instant now) {
    return in(Durations.ms(text, 1));
  }

  /** A point in time such as {@code 2026-08-27T11:10:53Z}, with any offset. */
  static Reset rfc3339(String text, Instant now) {
    if (text == null || text.length() > LENGTH_MAX) {
      return null;
    }
    try {
      return at(OffsetDateTime.parse(text).toInstant(), now);
    } catch (DateTimeException e) {
      return null;
    }
  }

  /** Seconds or milliseconds since 1970; else seconds, or a Go duration, from the answer on. */
  static Reset epochOrDuration(String text, Instant now) {
    if (text == null || !EPOCH.matcher(text).matches()) {
      return duration(text, now);
    }
    long number = Long.parseLong(text);
    return at(Instant.ofEpochMilli(number >= EPOCH_MS_MIN ? number : number * 1_000), now);
  }

  /** A point in time, or null if it is more than 366 days ahead of a known now. */
  static Reset at(Instant then, Instant now) {
    if (!Waits.isOfThisEra(then)) {
      return null;
    }
    if (now == null) {
      return new Reset(null, then);
    }
    Long ms = Waits.between(now, then);
    return ms == null ? null : new Reset(ms, then);
  }

  /** A time from the answer on, or null for null. */
  static Reset in(Long ms) {
    return ms == null ? null : new Reset(ms, null);
  }

  /** Whether it lies ahead: what is past, or now, is no time to wait for. */
  boolean isAhead() {
    return ms == null || ms > 0;
  }

  /** Whether this ends after the other, which may be null; an unknown distance is the longest. */
  boolean isLaterThan(Reset other) {
    if (other == null) {
      return true;
    }
    return other.ms != null && (ms == null || ms > other.ms);
  }

  /** The later of two, either of which may be null. */
  static Reset later(Reset a, Reset b) {
    return b != null && b.isLaterThan(a) ? b : a;
  }
}
