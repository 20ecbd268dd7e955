package dev.fairway.replay.script;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: {@code 500ms}, {@code 90s}, {@code 3m}, {@code 1h30m}. */
public final class Durations {
  private static final Pattern PART = Pattern.compile("(\\d{1,12}(?:\\.\\d{1,9})?)(ms|s|m|h|d)");

  private Durations() {}

  /** Milliseconds, or null if the text is no duration or no whole number of milliseconds. */
  public static Long parseMs(String text) {
    Matcher matcher = PART.matcher(text);
    BigDecimal sum = BigDecimal.ZERO;
    int end = 0;
    while (matcher.lookingAt()) {
      sum = sum.add(new BigDecimal(matcher.group(1)).multiply(unitMs(matcher.group(2))));
      end = matcher.end();
      matcher.region(end, text.length());
    }
    if (end == 0 || end != text.length()) {
      return null;
    }
    try {
      return sum.longValueExact();
    } catch (ArithmeticException e) {
      return null;
    }
  }

  private static BigDecimal unitMs(String unit) {
    switch (unit) {
      case "ms":
        return BigDecimal.ONE;
      case "s":
        return BigDecimal.valueOf(1_000);
      case "m":
        return BigDecimal.valueOf(60_000);
      case "h":
        return BigDecimal.valueOf(3_600_000);
      default:
        return BigDecimal.valueOf(86_400_000);
    }
  }
}
