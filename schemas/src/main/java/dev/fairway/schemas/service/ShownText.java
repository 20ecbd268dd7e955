package dev.fairway.schemas.service;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an error about a configuration may show of it. A secret may stand anywhere: in another
 * setting, as the name of one, within an address. So a message shows words, numbers and names made
 * of them, and nothing else: keys and tokens are long runs of letters and digits without any order,
 * which no name of a setting, a model, a host or a quota is. Whatever has such a run in it is left
 * out as a whole, with its beginning and its end. So is what is written in groups: many groups of
 * letters and digits, or of one length, or several long numbers.
 */
public final class ShownText {

  /** What stands where something was left out. */
  public static final String LEFT_OUT = "(not shown)";

  /** What is shown or left out as a whole; quotes, brackets, commas and blanks are between. */
  private static final Pattern PIECE = Pattern.compile("[^\\s'\"`,;(){}\\[\\]]+");

  private static final Pattern RUN = Pattern.compile("[\\p{L}\\p{N}]+");

  /** Words in one case, or in Camel Case; an abbreviation before one. */
  private static final Pattern WORDS =
      Pattern.compile(
          "\\p{Ll}{1,14}|\\p{Lu}{1,14}|(\\p{Lu}{0,5}\\p{Ll}{2,13})?(\\p{Lu}\\p{Ll}{2,13})+");

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,20}");

  /**
   * {@code 4o}, {@code 70b}, {@code 8x22b}, {@code 500ms}; {@code v1}, {@code llama3}; {@code
   * 06T12}.
   */
  private static final Pattern MIXED =
      Pattern.compile(
          "[0-9]{1,4}\\p{L}{1,2}|\\p{Lu}[0-9]{1,2}|\\p{Ll}{1,5}[0-9]"
              + "|\\p{Ll}{1,4}[0-9]{2}|\\p{Ll}{1,3}[0-9]{3}"
              + "|[0-9]{1,2}[xT][0-9]{1,2}b?|[0-9]{1,2}[eE][0-9]{1,3}");

  /** {@code 2m30s}, {@code 1h}. */
  private static final Pattern DURATION = Pattern.compile("([0-9]{1,4}(ms|[dhms])){1,4}");

  /** A number by itself, such as a limit. */
  private static final Pattern ONE_NUMBER =
      Pattern.compile("[-+]?[0-9]{1,20}(\\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?[.:!?]?");

  private static final int MIXED_MAX = 2;

  /** Of several numbers one may be a port, a year or a date; the others count something. */
  private static final int LONG_NUMBERS_MAX = 1;

  private static final int LONG_NUMBER_DIGITS_MIN = 4;
  private static final int LONG_NUMBER_DIGITS_MAX = 8;

  /** Keys are printed in groups of one length; names have no so many words of one length. */
  private static final int EQUAL_GROUPS_MAX = 3;

  private static final int GROUP_CHARS_MIN = 4;

  private static final int PIECE_CHARS_MAX = 100;

  /** More words than a name has are a secret made of words, or of chance. */
  private static final int CAMEL_CHARS_MAX = 40;

  private ShownText() {}

  /** A message without what may be a secret; null stays null. */
  public static String of(String message) {
    return message == null
        ? null
        : PIECE.matcher(message).replaceAll(piece -> Matcher.quoteReplacement(shown(piece)));
  }

  private static String shown(MatchResult piece) {
    return isHarmless(piece.group()) ? piece.group() : LEFT_OUT;
  }

  /** Whether a text is made of words and numbers, and no secret. */
  public static boolean isHarmless(String text) {
    if (text.length() > PIECE_CHARS_MAX) {
      return false;
    }
    if (ONE_NUMBER.matcher(text).matches()) {
      return true;
    }
    List<String> runs = RUN.matcher(text).results().map(MatchResult::group).toList();
    return runs.stream().allMatch(ShownText::isKnownShape)
        && runs.stream().filter(ShownText::isMixed).count() <= MIXED_MAX
        && areFewNumbers(runs)
        && !areEqualGroups(runs);
  }

  private static boolean isKnownShape(String run) {
    return isMixed(run)
        || DURATION.matcher(run).matches()
        || NUMBER.matcher(run).matches()
        || (run.length() <= CAMEL_CHARS_MAX && WORDS.matcher(run).matches());
  }

  private static boolean isMixed(String run) {
    return MIXED.matcher(run).matches() && !DURATION.matcher(run).matches();
  }

  private static boolean areFewNumbers(List<String> runs) {
    List<String> numbers = runs.stream().filter(run -> NUMBER.matcher(run).matches()).toList();
    return numbers.size() <= 1
        || (numbers.stream().filter(n -> n.length() >= LONG_NUMBER_DIGITS_MIN).count()
                <= LONG_NUMBERS_MAX
            && numbers.stream().allMatch(n -> n.length() <= LONG_NUMBER_DIGITS_MAX));
  }

  private static boolean areEqualGroups(List<String> runs) {
    int equal = 0;
    int length = 0;
    for (String run : runs) {
      equal = run.length() == length ? equal + 1 : 1;
      length = run.length();
      if (equal > EQUAL_GROUPS_MAX && length >= GROUP_CHARS_MIN) {
        return true;
      }
    }
    return false;
  }
}
