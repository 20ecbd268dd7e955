package dev.fairway.agent.provider;

import java.time.Instant;

/**
 * {@code retry-after-ms} in (fractions of) milliseconds, then {@code retry-after} in (fractions of)
 * seconds, then as an HTTP date. Zero, negative, past, absurd or unreadable is as good as absent.
 */
final class RetryAfter {
  private RetryAfter() {}

  /** The wait, which lies ahead, or null. */
  static Reset read(ResponseHeaders headers, Instant now) {
    Reset wait = inUnits(headers.get("retry-after-ms"), 1);
    if (wait == null) {
      wait = inUnits(headers.get("retry-after"), 1_000);
    }
    if (wait == null) {
      Instant date = HttpDate.parse(headers.get("retry-after"));
      Reset until = date == null ? null : Reset.at(date, now);
      wait = until != null && until.isAhead() ? until : null;
    }
    return wait;
  }

  private static Reset inUnits(String text, long unitMs) {
    Reset wait = Numbers.decimal(text) == null ? null : Reset.in(Durations.ms(text, unitMs));
    return wait != null && wait.isAhead() ? wait : null;
  }
}
