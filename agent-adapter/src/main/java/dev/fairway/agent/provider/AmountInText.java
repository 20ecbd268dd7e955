package dev.fairway.agent.provider;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An amount as people write it: {@code 30000}, {@code 30,000}, {@code 30 000}, {@code 30k}, {@code
 * 1.5M}, {@code 2 million}. It is unknown where it could be read in two ways ({@code 30.000}), and
 * where what follows it may belong to it: a number that is read in part is a wrong number.
 */
final class AmountInText {
  private static final String BLANK = "[ \u00a0\u2009\u202f]";

  /** Groups of three, all parted by the same; one dot alone may be that of a decimal. */
  private static final String GROUPS =
      "[1-9][0-9]{0,2}(?:(?<part>[,_'\u2019 \u00a0\u2009\u202f])[0-9]{3}(?:\\k<part>[0-9]{3}){0,4}"
          + "(?<rest>\\.[0-9]{1,9})?|(?:\\.[0-9]{3}){2,5})(?![0-9])";

  private static final String SCALE =
      BLANK + "?(?<letter>[kKM])(?![A-Za-z0-9])|" + BLANK + "(?<word>thousand|[mb]illion)(?![a-z])";

  /** The end of a sentence or of a part of it, or a word for what is counted or for how. */
  private static final String END =
      "\\s*$|\\h*\\R|[,;:!?](?!\\h?[0-9])|\\.(?!\\h?[0-9]|[.a-z])|[)\\]}\"`*](?![A-Za-z0-9])"
          + "|/(?=[a-z])|\\h\\(|\\h(?:(?:input|output|prompt|completion|cached|uncached|total|model"
          + "|concurrent)\\h){0,3}(?:tokens?|requests?|calls?|[io]?[tr]p[mhdw]|per|of|for|on|and"
          + "|is|was|has|used|requested|remaining)(?![a-z0-9])";

  private static final Pattern AMOUNT =
      Pattern.compile(
          "~?(?:(?<groups>"
              + GROUPS
              + ")|(?<plain>[0-9]{1,20}(?:\\.[0-9]{1,9})?))(?:"
              + SCALE
              + ")?(?i:"
              + END
              + ")");

  /** Of these nobody knows whether the dot is the decimal one. */
  private static final Pattern AMBIGUOUS = Pattern.compile("[1-9][0-9]{0,2}\\.[0-9]{3}");

  private static final Map<String, BigDecimal> SCALES =
      Map.of(
          "k", BigDecimal.valueOf(1_000),
          "m", BigDecimal.valueOf(1_000_000),
          "thousand", BigDecimal.valueOf(1_000),
          "million", BigDecimal.valueOf(1_000_000),
          "billion", BigDecimal.valueOf(1_000_000_000));

  private AmountInText() {}

  /** The amount that begins there, from 0 to {@link Numbers#AMOUNT_MAX}, or null. */
  static Long at(String text, int start) {
    Matcher m = AMOUNT.matcher(text).region(start, text.length()).useTransparentBounds(true);
    if (!m.lookingAt()) {
      return null;
    }
    String number = m.group("plain");
    if (number == null) {
      String rest = m.group("rest") == null ? "" : m.group("rest");
      String groups = m.group("groups");
      number = groups.substring(0, groups.length() - rest.length()).replaceAll("[^0-9]", "") + rest;
    } else if (AMBIGUOUS.matcher(number).matches()) {
      return null;
    }
    String scale = m.group("letter") != null ? m.group("letter") : m.group("word");
    BigDecimal amount = new BigDecimal(number);
    return Numbers.amount(
        scale == null ? amount : amount.multiply(SCALES.get(scale.toLowerCase(Locale.ROOT))));
  }
}
