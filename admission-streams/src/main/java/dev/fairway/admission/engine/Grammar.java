package dev.fairway.admission.engine;

import java.util.regex.Pattern;

/** Grammar of ids, as in the protocol. */
final class Grammar {
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9._:-]{1,100}");
  private static final Pattern REQUEST_ID = Pattern.compile("[A-Za-z0-9._:-]{1,64}");
  private static final Pattern QUOTA_ID =
      Pattern.compile("[A-Za-z0-9._-]{1,100}(/[A-Za-z0-9._-]{1,100})?");

  private Grammar() {}

  static boolean isId(String text) {
    return text != null && ID.matcher(text).matches();
  }

  static boolean isRequestId(String text) {
    return text != null && REQUEST_ID.matcher(text).matches();
  }

  static boolean isQuotaId(String text) {
    return text != null && QUOTA_ID.matcher(text).matches();
  }

  /** The rule in words, with what was found. */
  static String expectedId(String what, int longest, String found) {
    return "Expected "
        + what
        + " of 1 to "
        + longest
        + " characters from A-Z a-z 0-9 . _ : -, but found "
        + quoted(found);
  }

  /** A value as a message shows it: quoted, and cut where it is long. */
  static String quoted(String text) {
    if (text == null) {
      return "nothing";
    }
    return "'" + (text.length() > 80 ? text.substring(0, 80) + "..." : text) + "'";
  }
}
