package dev.fairway.cli.config;

import dev.fairway.schemas.service.ShownText;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A configuration that doesn't say what it should. The message holds every error that was found,
 * one a line. Of the configuration it shows what {@link ShownText} shows, as a secret may stand
 * anywhere in it.
 */
public final class InvalidConfigException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private static final Pattern STEP = Pattern.compile("[^.]+");

  private final transient List<String> errors;

  InvalidConfigException(List<String> errors) {
    super(String.join(System.lineSeparator(), errors));
    this.errors = List.copyOf(errors);
  }

  /**
   * An error as it is told.
   *
   * @param source name of the text
   * @param line from 1
   * @param path of the field, or empty
   */
  static String error(String source, int line, String path, String message) {
    String place = source + ":" + line + ": ";
    return place + (path.isEmpty() ? "" : shownPath(path) + ": ") + ShownText.of(message);
  }

  /** Also the name of a field may be a secret; the line says where it is. */
  private static String shownPath(String path) {
    return STEP.matcher(path)
        .replaceAll(step -> Matcher.quoteReplacement(ShownText.of(step.group())));
  }

  /** The errors one by one, each as {@code file:line: field: what was expected and found}. */
  public List<String> errors() {
    return errors;
  }
}
