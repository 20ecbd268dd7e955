package dev.fairway.schemas.service;

import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an error about a configuration may show of it. A secret may stand anywhere: in another
 * setting, as the name of one, within an address. So a message shows words, numbers and names made
 * of them, and nothing else: keys and tokens are long runs of letters and digits without any order,
 * which no name of a setting, a model, a host or a quota is. Whatever has such a run in it is left
 * out as a whole, with its beginning and its end.
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

  /** {@code 10x}, {@code 4o}, {@code 2m30s}, {@code llama3}. */
  private static final Pattern MIXED = Pattern.compile("[\\p{L}\\p{N}]{1,6}");

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
    return text.length() <= PIECE_CHARS_MAX
        && RUN.matcher(text).results().allMatch(run -> isKnownShape(run.group()));
  }

  private static boolean isKnownShape(String run) {
    return MIXED.matcher(run).matches()
        || NUMBER.matcher(run).matches()
        || (run.length() <= CAMEL_CHARS_MAX && WORDS.matcher(run).matches());
  }
}
