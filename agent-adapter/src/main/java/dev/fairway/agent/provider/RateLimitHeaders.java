package dev.fairway.agent.provider;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Headers named {@code x-ratelimit-limit-tokens-minute} and the like: {@code limit}, {@code
 * remaining} or {@code reset}, then what is limited, then perhaps over which time. The names are
 * shared by many providers, the way they write a reset is not.
 */
final class RateLimitHeaders {
  /** {@code x-rate-limit-}, with one more hyphen, is older Azure. */
  private static final Pattern NAME =
      Pattern.compile(
          "(?:x-)?rate-?limit-(limit|remaining|reset)"
              + "(?:-(requests|req|input-tokens|output-tokens|tokens))?"
              + "(?:-(?:([0-9]{1,4})-)?(second|minute|hour|day|month))?");

  private static final Map<String, Dimension> DIMENSIONS =
      Map.of(
          "requests", Dimension.REQUESTS,
          "req", Dimension.REQUESTS,
          "input-tokens", Dimension.INPUT_TOKENS,
          "output-tokens", Dimension.OUTPUT_TOKENS,
          "tokens", Dimension.TOKENS);

  private static final Map<String, Duration> WINDOWS =
      Map.of(
          "second", Duration.ofSeconds(1),
          "minute", Limit.MINUTE,
          "hour", Duration.ofHours(1),
          "day", Limit.DAY,
          "month", Duration.ofDays(30));

  private RateLimitHeaders() {}

  private record Key(Dimension dimension, Duration window) {}

  /**
   * The limits that headers mention, in a fixed order.
   *
   * @param grammar how resets are written
   * @param windows windows of the dimensions whose header does not name one; those left out are
   *     unknown
   */
  static List<Limit> read(
      ResponseHeaders headers,
      Instant now,
      Reset.Grammar grammar,
      Map<Dimension, Duration> windows) {
    Map<Key, Map<String, String>> values = new HashMap<>();
    headers.forEach(
        (name, value) -> {
          // Most headers are about something else, and a pattern is slow to say so.
          Matcher m = name.contains("limit-") ? NAME.matcher(name) : null;
          if (m != null && m.matches()) {
            // Without a dimension it is requests, over a time that the provider does not say.
            Dimension dimension =
                m.group(2) == null ? Dimension.REQUESTS : DIMENSIONS.get(m.group(2));
            Duration window = m.group(2) == null ? null : windows.get(dimension);
            if (m.group(4) != null) {
              int count = m.group(3) == null ? 1 : Integer.parseInt(m.group(3));
              window = WINDOWS.get(m.group(4)).multipliedBy(count);
            }
            values
                .computeIfAbsent(new Key(dimension, window), key -> new HashMap<>())
                .putIfAbsent(m.group(1), value);
          }
        });
    List<Limit> limits = new ArrayList<>();
    values.forEach(
        (key, kinds) ->
            limits.add(
                limit(
                    key.dimension,
                    key.window,
                    kinds.get("limit"),
                    kinds.get("remaining"),
                    grammar.read(kinds.get("reset"), now))));
    // Whatever the order of the headers.
    limits.sort(
        Comparator.comparing(Limit::dimension)
            .thenComparing(
                Limit::window, Comparator.nullsLast(Comparator.<Duration>naturalOrder())));
    return limits;
  }

  /** One limit from its texts, each of which may be null; a sentinel makes all of it unknown. */
  static Limit limit(
      Dimension dimension, Duration window, String limit, String remaining, Reset reset) {
    if (isSentinel(limit) || isSentinel(remaining)) {
      return new Limit(dimension, window, null, null, null);
    }
    return new Limit(dimension, window, Numbers.amount(limit), Numbers.amount(remaining), reset);
  }

  private static boolean isSentinel(String text) {
    return text != null && text.startsWith("-");
  }
}
