package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Has a stream of OpenAI's chat completions tell its usage: {@code stream_options.include_usage}.
 * It is put into the body's own bytes, which are otherwise as they came.
 */
final class StreamUsage {
  private static final String OPTIONS = "stream_options";
  private static final String INCLUDE = "include_usage";
  private static final String INCLUDED = "\"include_usage\":true";

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(500)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private StreamUsage() {}

  /** The body that asks for usage; the same array if it asks already. */
  static byte[] asked(byte[] body) {
    try (JsonParser parser = FACTORY.createParser(body)) {
      parser.nextToken();
      int afterBrace = offset(parser) + 1;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (name.equals(OPTIONS)) {
          return inOptions(body, parser, value);
        }
        parser.skipChildren();
      }
      return replaced(body, afterBrace, 0, "\"" + OPTIONS + "\":{" + INCLUDED + "},");
    } catch (IOException e) {
      throw new IllegalStateException("A body that was read before cannot be read again", e);
    }
  }

  private static byte[] inOptions(byte[] body, JsonParser parser, JsonToken value)
      throws IOException {
    int at = offset(parser);
    if (value == JsonToken.VALUE_NULL) {
      return replaced(body, at, "null".length(), "{" + INCLUDED + "}");
    }
    if (value != JsonToken.START_OBJECT) {
      return body; // The provider will say what is wrong with it.
    }
    boolean empty = true;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      empty = false;
      boolean include = parser.currentName().equals(INCLUDE);
      JsonToken option = parser.nextToken();
      if (include && option == JsonToken.VALUE_FALSE) {
        return replaced(body, offset(parser), "false".length(), "true");
      }
      if (include && option == JsonToken.VALUE_NULL) {
        return replaced(body, offset(parser), "null".length(), "true");
      }
      if (include) {
        return body;
      }
      parser.skipChildren();
    }
    return replaced(body, at + 1, 0, empty ? INCLUDED : INCLUDED + ",");
  }

  private static int offset(JsonParser parser) {
    return (int) parser.currentTokenLocation().getByteOffset();
  }

  private static byte[] replaced(byte[] body, int at, int length, String with) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(body.length + with.length());
    out.write(body, 0, at);
    out.writeBytes(with.getBytes(StandardCharsets.UTF_8));
    out.write(body, at + length, body.length - at - length);
    return out.toByteArray();
  }
}
