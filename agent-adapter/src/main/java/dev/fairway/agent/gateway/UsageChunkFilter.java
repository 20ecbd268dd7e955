package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Takes out of a stream what only is there because usage was asked for, for a client that did not:
 * the chunk that only tells usage, and {@code "usage":null} in the others. All else goes through as
 * soon as its event is whole, byte by byte as it came. An event above {@value #EVENT_BYTES_MAX}
 * bytes is none of those, and goes through as it comes. Not thread-safe.
 */
final class UsageChunkFilter {
  static final int EVENT_BYTES_MAX = 64 * 1024;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String DATA = "data:";
  private static final String USAGE = "\"usage\"";

  private final ByteArrayOutputStream event = new ByteArrayOutputStream();
  private ByteArrayOutputStream passed = new ByteArrayOutputStream();
  private boolean oversize;
  private int newlines;

  /** What may go on of everything read so far; empties the buffer. */
  ByteBuffer filter(ByteBuffer bytes, boolean last) {
    while (bytes.hasRemaining()) {
      byte b = bytes.get();
      event.write(b);
      if (b == '\n') {
        newlines++;
      } else if (b != '\r') {
        newlines = 0;
      }
      if (newlines == 2) {
        endEvent();
      } else if (event.size() >= EVENT_BYTES_MAX) {
        oversize = true;
        pass();
      }
    }
    if (last) {
      endEvent();
    }
    ByteBuffer out = ByteBuffer.wrap(passed.toByteArray());
    passed = new ByteArrayOutputStream();
    return out;
  }

  private void endEvent() {
    String text = oversize ? "" : event.toString(StandardCharsets.UTF_8);
    if (!text.contains(USAGE)) {
      pass();
    } else if (!tellsUsageOnly(text)) {
      passed.writeBytes(NullUsage.without(event.toByteArray()));
    }
    event.reset();
    oversize = false;
    newlines = 0;
  }

  private void pass() {
    passed.writeBytes(event.toByteArray());
    event.reset();
  }

  private static boolean tellsUsageOnly(String text) {
    int data = text.indexOf(DATA);
    if (data < 0) {
      return false;
    }
    try {
      JsonNode chunk = JSON.readTree(text.substring(data + DATA.length()));
      JsonNode choices = chunk.path("choices");
      return choices.isArray() && choices.isEmpty() && chunk.path("usage").isObject();
    } catch (IOException e) {
      return false;
    }
  }
}
