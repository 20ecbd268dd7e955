package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;

/**
 * Takes {@code "usage":null} out of an event: a provider that is asked for usage puts it into every
 * chunk but the last, and leaves it out where nobody asks. All else stays byte by byte.
 */
final class NullUsage {
  private static final JsonFactory FACTORY = new JsonFactory();
  private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};
  private static final String USAGE = "usage";

  private NullUsage() {}

  /** The event without it; the same array if it has none, or is not what is expected. */
  static byte[] without(byte[] event) {
    int json = afterData(event);
    if (json < 0) {
      return event;
    }
    byte[] chunk = Arrays.copyOfRange(event, json, event.length);
    try (JsonParser parser = FACTORY.createParser(chunk)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return event;
      }
      int field = -1;
      int end = -1;
      boolean first = false;
      boolean any = false;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        int at = (int) parser.currentTokenLocation().getByteOffset();
        boolean usage = parser.currentName().equals(USAGE);
        if (parser.nextToken() == JsonToken.VALUE_NULL && usage) {
          field = at;
          end = (int) parser.currentTokenLocation().getByteOffset() + "null".length();
          first = !any;
        }
        parser.skipChildren();
        any = true;
      }
      return field < 0 ? event : cut(event, chunk, json, field, end, first);
    } catch (IOException e) {
      // No JSON on one line: it goes through as it is.
    }
    return event;
  }

  /** Cuts a field and the comma that it leaves over. */
  private static byte[] cut(
      byte[] event, byte[] chunk, int json, int field, int end, boolean first) {
    int from = field;
    int to = end;
    if (first) {
      int comma = skipSpace(chunk, to);
      to = chunk[comma] == ',' ? skipSpace(chunk, comma + 1) : to;
    } else {
      do {
        from--;
      } while (chunk[from] != ',');
    }
    byte[] cut = new byte[event.length - (to - from)];
    System.arraycopy(event, 0, cut, 0, json + from);
    System.arraycopy(chunk, to, cut, json + from, chunk.length - to);
    return cut;
  }

  private static int skipSpace(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length - 1 && bytes[at] <= ' ') {
      at++;
    }
    return at;
  }

  /** Where the data of the first line that has some begins, or -1. */
  private static int afterData(byte[] event) {
    for (int at = 0; at + DATA.length <= event.length; at++) {
      boolean lineBegins = at == 0 || event[at - 1] == '\n';
      if (lineBegins && Arrays.equals(event, at, at + DATA.length, DATA, 0, DATA.length)) {
        return at + DATA.length;
      }
    }
    return -1;
  }
}
