package dev.fairway.agent.provider;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the text of an error says of a limit, as in {@code on tokens per min (TPM): Limit 50000,
 * Used 47949, Requested 3006. Please try again in 1.146s.} Each part may be missing.
 *
 * @param dimension what was limited, or null
 * @param window over which time, or null
 * @param limit the limit, or null
 * @param used what was used of it, or null
 * @param requested what the refused call needed, or null
 * @param retryMs after how long to try again, more than 0, or null
 */
record LimitMessage(
    Dimension dimension, Duration window, Long limit, Long used, Long requested, Long retryMs) {

  private static final String NUMBER = "~?([0-9][0-9,]{0,20})";
  private static final Pattern LIMIT =
      Pattern.compile("\\blimit(?: of|:)? " + NUMBER, Pattern.CASE_INSENSITIVE);
  private static final Pattern USED =
      Pattern.compile("\\bused:? " + NUMBER, Pattern.CASE_INSENSITIVE);
  private static final Pattern REQUESTED =
      Pattern.compile("\\brequested:? " + NUMBER, Pattern.CASE_INSENSITIVE);

  /*
   * A text names the limit first, and goes on with advice, which speaks of other things: that the
   * input or output tokens must be reduced, or what another plan has per day. So a unit counts
   * where it stands as the name of a limit, and of several the first.
   */
  private static final String UNIT =
      "(?:(?:(?<in>input)(?: ?(?:and|or|[/+&]) ?(?=output))?)?(?<out>output)?[ _-])?"
          + "(?<unit>token|request|call)s?(?![a-z])";
  private static final List<Pattern> NAMES =
      List.of(
          Pattern.compile("(?<![a-z])" + UNIT + "(?=[ _-](?:per|rate[ _-]limit)(?![a-z]))"),
          Pattern.compile("(?:\\bnumber of|\\blimit (?:of|on|for)) (?:" + NUMBER + " )?" + UNIT),
          Pattern.compile("\\((?<in>i)?(?<out>o)?(?<unit>[tr])p[mhd]\\)"));
  private static final Pattern WINDOW =
      Pattern.compile("(?<![a-z])(?:per[ _-](?:min|hour|day)|daily)|\\([io]?[tr]p[mhd](?=\\))");

  private static final Pattern RETRY =
      Pattern.compile(
          "\\b(?:try|retry)(?: again)? (?:in|after) (?:("
              + Durations.IN_TEXT
              + ")\\b|([0-9]{1,12}(?:\\.[0-9]{1,12})?) ?(milliseconds?|seconds?|minutes?)\\b)",
          Pattern.CASE_INSENSITIVE);

  static LimitMessage of(String message) {
    String text = message.toLowerCase(Locale.ROOT);
    return new LimitMessage(
        dimension(text),
        window(text),
        number(LIMIT, message),
        number(USED, message),
        number(REQUESTED, message),
        retryMs(message));
  }

  /** Whether the call needed more than the whole limit. */
  boolean neverFits() {
    return limit != null && requested != null && requested > limit;
  }

  /** How long until what is missing has refilled, in milliseconds, or null. */
  Long refillMs() {
    if (limit == null || limit == 0 || used == null || requested == null || window == null) {
      return null;
    }
    long missing = used + requested - limit;
    return missing <= 0
        ? null
        : Waits.ms(
            BigDecimal.valueOf(missing)
                .multiply(BigDecimal.valueOf(window.toMillis()))
                .divide(BigDecimal.valueOf(limit), 6, RoundingMode.UP));
  }

  /** The limit with what remained of it, or null if the text names none. */
  Limit limitReading() {
    if (limit == null || dimension == null) {
      return null;
    }
    Long remaining = used == null ? null : (Long) Math.max(0, limit - used);
    return new Limit(dimension, window, limit, remaining, null);
  }

  private static Dimension dimension(String text) {
    Matcher first = null;
    for (Pattern pattern : NAMES) {
      Matcher m = pattern.matcher(text);
      if (m.find() && (first == null || m.start() < first.start())) {
        first = m;
      }
    }
    if (first == null) {
      return null;
    }
    if (!first.group("unit").startsWith("t")) {
      return Dimension.REQUESTS;
    }
    boolean input = first.group("in") != null;
    boolean output = first.group("out") != null;
    if (input == output) {
      return Dimension.TOKENS;
    }
    return input ? Dimension.INPUT_TOKENS : Dimension.OUTPUT_TOKENS;
  }

  private static Duration window(String text) {
    Matcher m = WINDOW.matcher(text);
    if (!m.find()) {
      return null;
    }
    return switch (m.group().charAt(m.group().length() - 1)) {
      case 'n', 'm' -> Limit.MINUTE;
      case 'r', 'h' -> Duration.ofHours(1);
      default -> Limit.DAY; // day, daily, and the d of an abbreviation
    };
  }

  private static Long number(Pattern pattern, String text) {
    Matcher m = pattern.matcher(text);
    return m.find() ? Numbers.amount(m.group(1).replace(",", "")) : null;
  }

  private static Long retryMs(String text) {
    Matcher m = RETRY.matcher(text);
    if (!m.find()) {
      return null;
    }
    Long ms =
        m.group(1) != null
            ? Durations.ms(m.group(1).toLowerCase(Locale.ROOT), 1_000)
            : Durations.ms(m.group(2), unitMs(m.group(3)));
    return ms == null || ms == 0 ? null : ms;
  }

  private static long unitMs(String word) {
    if (word.toLowerCase(Locale.ROOT).startsWith("milli")) {
      return 1;
    }
    return word.toLowerCase(Locale.ROOT).startsWith("minute") ? 60_000 : 1_000;
  }
}
