package dev.fairway.agent.provider;

import java.nio.charset.StandardCharsets;

/**
 * Reads a body while it passes, in chunks of any size, and keeps little of it: the parts of
 * interest, and its first {@value #TEXT_MAX} bytes. The body itself may be of any size. Not
 * thread-safe.
 */
public final class BodyReader {
  static final int TEXT_MAX = 4_096;

  private final JsonTreeReader json = new JsonTreeReader();
  private final byte[] head = new byte[TEXT_MAX];
  private int headLength;
  private ResponseBody result;

  /**
   * Reads the next bytes; they may be reused afterwards.
   *
   * @throws IllegalStateException after {@link #end()}
   */
  public void read(byte[] bytes, int offset, int length) {
    if (result != null) {
      throw new IllegalStateException("Expected no more bytes after end().");
    }
    int kept = Math.min(length, TEXT_MAX - headLength);
    System.arraycopy(bytes, offset, head, headLength, kept);
    headLength += kept;
    json.read(bytes, offset, length);
  }

  /** What was read; the same again if called again. */
  public ResponseBody end() {
    if (result == null) {
      boolean whole = json.end();
      result =
          new ResponseBody(
              json.tree(), whole, new String(head, 0, headLength, StandardCharsets.UTF_8));
    }
    return result;
  }
}
