package dev.fairway.agent.provider;

import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A duration as people write it: {@code 1.146s}, {@code 1m 30s}, {@code 2 min}, {@code 1 hour, 5
 * minutes and 10 seconds}. Its units go from the larger to the smaller. It is unknown where what
 * follows it may belong to it: a wait that is read in part is a wrong wait.
 */
final class DurationInText {
  private static final List<Unit> UNITS =
      List.of(
          new Unit("weeks?|w", 604_800_000),
          new Unit("days?|d", 86_400_000),
          new Unit("hours?|hrs?|h", 3_600_000),
          new Unit("minutes?|mins?|m", 60_000),
          new Unit("seconds?|secs?|s", 1_000),
          new Unit("milliseconds?|millis|msecs?|ms", 1));

  private static final Pattern BETWEEN = pattern(",?\\h?(?:and\\h)?(?=[0-9])");
  private static final Pattern GOES_ON =
      pattern("[\\p{L}\\p{N}%/^*_:+-]|[.,][0-9]|\\h?(?:(?:and|or|to|-|\u2013)\\h?)?[0-9]");

  private record Unit(Pattern part, BigDecimal ms) {
    Unit(String names, long ms) {
      this(
          pattern("([0-9]{1,15}(?:\\.[0-9]{1,15})?)\\h?(?:" + names + ")(?!\\p{L})"),
          BigDecimal.valueOf(ms));
    }
  }

  private DurationInText() {}

  /** The duration that begins there in milliseconds, rounded up, or null. */
  static Long ms(String text, int start) {
    BigDecimal sum = BigDecimal.ZERO;
    int end = -1;
    int next = start;
    for (Unit unit : UNITS) {
      Matcher part = at(unit.part, text, next);
      if (part.lookingAt()) {
        sum = sum.add(new BigDecimal(part.group(1)).multiply(unit.ms));
        end = part.end();
        Matcher between = at(BETWEEN, text, end);
        next = between.lookingAt() ? between.end() : text.length();
      }
    }
    return end < 0 || at(GOES_ON, text, end).lookingAt() ? null : Waits.ms(sum);
  }

  private static Matcher at(Pattern pattern, String text, int start) {
    return pattern.matcher(text).region(start, text.length()).useTransparentBounds(true);
  }

  private static Pattern pattern(String regex) {
    return Pattern.compile(regex, Pattern.CASE_INSENSITIVE);
  }
}
