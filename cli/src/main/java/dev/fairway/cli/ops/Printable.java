package dev.fairway.cli.ops;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Bytes of unknown origin as text that a terminal can show. */
public final class Printable {

  private static final int BYTES_MAX = 120;

  private Printable() {}

  /**
   * The UTF-8 text if it is one without control characters, else {@code 0x} and hexadecimal;
   * shortened; null for null.
   */
  public static String text(byte[] bytes) {
    if (bytes == null) {
      return null;
    }
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      if (text.chars().noneMatch(Character::isISOControl)) {
        return text.length() <= BYTES_MAX ? text : text.substring(0, BYTES_MAX) + "...";
      }
    } catch (CharacterCodingException e) {
      // No text: hexadecimal below.
    }
    int shown = Math.min(bytes.length, BYTES_MAX / 2);
    return "0x" + HexFormat.of().formatHex(bytes, 0, shown) + (shown < bytes.length ? "..." : "");
  }
}
