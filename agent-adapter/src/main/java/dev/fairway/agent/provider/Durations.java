package dev.fairway.agent.provider;

import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The grammar of durations as Go prints them: {@code 17ms}, {@code 6m0s}, {@code 23h47m36.648s};
 * {@code d} for days as well. A number without a unit takes the one that the provider means.
 */
final class Durations {
  private static final int LENGTH_MAX = 64;
  private static final Pattern PART =
      Pattern.compile("([0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h|d)");

  private static final Map<String, BigDecimal> UNIT_MS =
      Map.of(
          "ns",
          new BigDecimal("0.000001"),
          "us",
          new BigDecimal("0.001"),
          "\u00b5s",
          new BigDecimal("0.001"),
          "\u03bcs",
          new BigDecimal("0.001"),
          "ms",
          BigDecimal.ONE,
          "s",
          BigDecimal.valueOf(1_000),
          "m",
          BigDecimal.valueOf(60_000),
          "h",
          BigDecimal.valueOf(3_600_000),
          "d",
          BigDecimal.valueOf(86_400_000));

  private Durations() {}

  /**
   * Milliseconds, rounded up, or null if unreadable or absurd.
   *
   * @param unitMs the unit of a bare number, in milliseconds
   */
  static Long ms(String text, long unitMs) {
    if (text == null || text.isEmpty() || text.length() > LENGTH_MAX) {
      return null;
    }
    BigDecimal bare = Numbers.decimal(text);
    if (bare != null) {
      return Waits.ms(bare.multiply(BigDecimal.valueOf(unitMs)));
    }
    BigDecimal sum = BigDecimal.ZERO;
    Matcher part = PART.matcher(text);
    int end = 0;
    while (end < text.length()) {
      if (!part.find(end) || part.start() != end) {
        return null;
      }
      sum = sum.add(new BigDecimal(part.group(1)).multiply(UNIT_MS.get(part.group(2))));
      end = part.end();
    }
    return Waits.ms(sum);
  }
}
