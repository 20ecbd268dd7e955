package dev.fairway.agent.estimate;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Counts the pages of a PDF that has its page objects in plain sight; many newer ones have not. */
final class PdfPages {
  /** Larger ones are not looked through: that would hold up the calls behind. */
  static final int CHARS_MAX = 16 * 1024 * 1024;

  private static final byte[] TYPE = "/Type".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] PAGE = "/Page".getBytes(StandardCharsets.US_ASCII);

  private PdfPages() {}

  /** The pages, or 0 where they are not told. */
  static long of(String base64) {
    if (!base64.startsWith("JVBERi") || base64.length() > CHARS_MAX) {
      return 0;
    }
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      return 0;
    }
    long pages = 0;
    for (int at = 0; at < bytes.length; at++) {
      if (isAt(bytes, at, TYPE)) {
        int name = at + TYPE.length;
        while (name < bytes.length && Character.isWhitespace(bytes[name])) {
          name++;
        }
        pages += isAt(bytes, name, PAGE) && !goesOn(bytes, name + PAGE.length) ? 1 : 0;
      }
    }
    return pages;
  }

  /** Whether the name is a longer one, such as Pages. */
  private static boolean goesOn(byte[] bytes, int at) {
    return at < bytes.length && Character.isLetterOrDigit(bytes[at]);
  }

  private static boolean isAt(byte[] bytes, int at, byte[] what) {
    for (int i = 0; i < what.length; i++) {
      if (at + i >= bytes.length || bytes[at + i] != what[i]) {
        return false;
      }
    }
    return true;
  }
}
