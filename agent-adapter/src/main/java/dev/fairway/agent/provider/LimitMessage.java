package dev.fairway.agent.provider;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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

  private static final Pattern LIMIT = before("\\blimit(?: of|:)? ");
  private static final Pattern USED = before("\\bused:? ");
  private static final Pattern REQUESTED = before("\\brequested:? ");
  private static final Pattern RETRY = before("\\b(?:try|retry)(?: again)? (?:in|after) ");

  /*
   * A text names the limit first, and goes on with advice, which speaks of other things: that the
   * input or output tokens must be reduced, or what another plan has per day. So a unit counts
   * where it stands as the name of a limit, and of several the first. "Request tokens" are tokens.
   */
  private static final String UNIT =
      "(?:(?:(?<in>input)(?: ?(?:and|or|[/+&]) ?(?=output))?)?(?<out>output)?[ _-])?"
          + "(?:request (?=token))?(?<unit>token|request|call)s?(?![a-z])(?! tokens?(?![a-z]))";
  private static final List<Pattern> NAMES =
      List.of(
          Pattern.compile("(?<![a-z])" + UNIT + "(?=[ _-](?:per|rate[ _-]limit)(?![a-z]))"),
          Pattern.compile(
              "(?:\\bnumber of|\\blimit (?:of|on|for)) (?:~?[0-9][^a-z]{0,30}"
                  + "(?:[km] |thousand |million )?)?"
                  + UNIT),
          Pattern.compile("\\((?<in>i)?(?<out>o)?(?<unit>[tr])p[mhdw]\\)"));
  private static final Pattern WINDOW =
      Pattern.compile(
          "(?<![a-z])(?:per[ _-](?=min|hour|day|week|month)|(?=(?:dai|week|month)ly))"
              + "(?<word>[a-z]{3})|\\([io]?[tr]p(?<letter>[mhdw])\\)");
  private static final Map<String, Duration> WINDOWS =
      Map.of(
          "min", Limit.MINUTE,
          "m", Limit.MINUTE,
          "hou", Duration.ofHours(1),
          "h", Duration.ofHours(1),
          "wee", Duration.ofDays(7),
          "w", Duration.ofDays(7),
          "mon", Duration.ofDays(30));

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
    String name = m.group("word") != null ? m.group("word") : m.group("letter");
    return WINDOWS.getOrDefault(name, Limit.DAY); // day, daily, and the d of an abbreviation
  }

  private static Long number(Pattern pattern, String text) {
    Matcher m = pattern.matcher(text);
    return m.find() ? AmountInText.at(text, m.end()) : null;
  }

  private static Long retryMs(String text) {
    Matcher m = RETRY.matcher(text);
    if (!m.find()) {
      return null;
    }
    Long ms = DurationInText.ms(text, m.end());
    return ms == null || ms == 0 ? null : ms;
  }

  /** What stands before a number that begins with a digit. */
  private static Pattern before(String label) {
    return Pattern.compile(label + "(?=~?[0-9])", Pattern.CASE_INSENSITIVE);
  }
}
