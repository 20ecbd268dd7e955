package dev.fairway.cli.ops;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Bytes of unknown origin as text that a terminal can show. */
public final class Printable {

  private static final int BYTES_MAX = 120;
  private static final int MESSAGE_CHARS_MAX = 1_000;

  private Printable() {}

  /**
   * The UTF-8 text if it is one without control characters, else {@code 0x} and hexadecimal;
   * shortened; null for null.
   */
  public static String text(byte[] bytes) {
    if (bytes == null) {
      return null;
    }
    String text = decoded(bytes);
    if (text != null && isPrintable(text)) {
      return shortened(text, BYTES_MAX);
    }
    int shown = Math.min(bytes.length, BYTES_MAX / 2);
    return "0x" + HexFormat.of().formatHex(bytes, 0, shown) + (shown < bytes.length ? "..." : "");
  }

  /**
   * What another process says for people: its lines in one, at most a thousand characters of them;
   * like {@link #text} if it is none.
   */
  public static String message(byte[] bytes) {
    String text = decoded(bytes);
    String line = text == null ? null : text.strip().replaceAll("\\s+", " ");
    return line != null && isPrintable(line) ? shortened(line, MESSAGE_CHARS_MAX) : text(bytes);
  }

  private static String decoded(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static boolean isPrintable(String text) {
    return text.chars().noneMatch(Character::isISOControl);
  }

  private static String shortened(String text, int charsMax) {
    return text.length() <= charsMax ? text : text.substring(0, charsMax) + "...";
  }
}
