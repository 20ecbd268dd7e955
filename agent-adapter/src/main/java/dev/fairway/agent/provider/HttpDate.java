package dev.fairway.agent.provider;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The three date formats that RFC 9110 has a recipient accept. The day's name is not checked: it
 * adds nothing, and some servers get it wrong.
 */
final class HttpDate {
  private static final int LENGTH_MAX = 64;
  private static final List<String> MONTHS =
      List.of("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec");

  /** {@code Thu, 27 Aug 2026 11:12:53 GMT} and {@code Thursday, 27-Aug-26 11:12:53 GMT}. */
  private static final Pattern DAY_FIRST =
      Pattern.compile(
          "(?:[A-Za-z]+, *)?([0-9]{1,2})[ -]([A-Za-z]{3})[ -]([0-9]{4}|[0-9]{2}) +"
              + "([0-9]{2}):([0-9]{2}):([0-9]{2}) (?:GMT|UTC)");

  /** {@code Thu Aug 27 11:12:53 2026}. */
  private static final Pattern MONTH_FIRST =
      Pattern.compile(
          "[A-Za-z]{3} ([A-Za-z]{3}) {1,2}([0-9]{1,2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([0-9]{4})");

  private HttpDate() {}

  /** The instant, or null. */
  static Instant parse(String text) {
    if (text == null || text.length() > LENGTH_MAX) {
      return null;
    }
    Matcher m = DAY_FIRST.matcher(text);
    if (m.matches()) {
      return instant(m.group(3), m.group(2), m.group(1), m.group(4), m.group(5), m.group(6));
    }
    m = MONTH_FIRST.matcher(text);
    return m.matches()
        ? instant(m.group(6), m.group(1), m.group(2), m.group(3), m.group(4), m.group(5))
        : null;
  }

  private static Instant instant(
      String year, String month, String day, String hour, String minute, String second) {
    int y = Integer.parseInt(year);
    // Two digits: nobody sends a date of the last century any more.
    int fullYear = year.length() == 2 ? 2_000 + y : y;
    int monthNumber = 1 + MONTHS.indexOf(month.toLowerCase(Locale.ROOT));
    // A leap second has no place in an instant.
    int s = Math.min(59, Integer.parseInt(second));
    try {
      return LocalDateTime.of(
              fullYear,
              monthNumber,
              Integer.parseInt(day),
              Integer.parseInt(hour),
              Integer.parseInt(minute),
              s)
          .toInstant(ZoneOffset.UTC);
    } catch (DateTimeException e) {
      return null;
    }
  }
}
