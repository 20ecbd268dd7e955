package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Has a stream of OpenAI's chat completions tell its usage: {@code stream_options.include_usage}.
 * It is put into the body's own bytes, which are otherwise as they came.
 */
final class StreamUsage {
  private static final String OPTIONS = "stream_options";
  private static final String INCLUDE = "include_usage";
  private static final String INCLUDED = "\"include_usage\":true";

  /** No edit adds more bytes. */
  private static final int ROOM = 64;

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

  /** A piece of the body in whose place something else is sent. */
  private record Edit(int at, int length, String with) {}

  /**
   * The body that asks for usage; the same array if it asks already. Where a name comes twice, the
   * one that a provider goes by may be either, so all of them ask.
   */
  static byte[] asked(byte[] body) {
    try (JsonParser parser = FACTORY.createParser(body)) {
      parser.nextToken();
      int start = offset(parser);
      if (start < 0) {
        return body; // It is not UTF-8, and the provider will say so.
      }
      boolean told = false;
      List<Edit> edits = new ArrayList<>();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean options = parser.currentName().equals(OPTIONS);
        JsonToken value = parser.nextToken();
        if (options) {
          inOptions(parser, value, edits);
          told = true;
        } else {
          parser.skipChildren();
        }
      }
      if (!told) {
        edits.add(new Edit(start + 1, 0, "\"" + OPTIONS + "\":{" + INCLUDED + "},"));
      }
      return edited(body, edits);
    } catch (IOException e) {
      throw new IllegalStateException("A body that was read before cannot be read again", e);
    }
  }

  /** What is odd is left as it is: the provider will say what is wrong with it. */
  private static void inOptions(JsonParser parser, JsonToken value, List<Edit> edits)
      throws IOException {
    int at = offset(parser);
    if (value == JsonToken.VALUE_NULL) {
      edits.add(new Edit(at, "null".length(), "{" + INCLUDED + "}"));
      return;
    }
    if (value != JsonToken.START_OBJECT) {
      parser.skipChildren();
      return;
    }
    boolean empty = true;
    boolean told = false;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      empty = false;
      boolean include = parser.currentName().equals(INCLUDE);
      told |= include;
      JsonToken option = parser.nextToken();
      if (include && option == JsonToken.VALUE_FALSE) {
        edits.add(new Edit(offset(parser), "false".length(), "true"));
      } else if (include && option == JsonToken.VALUE_NULL) {
        edits.add(new Edit(offset(parser), "null".length(), "true"));
      } else {
        parser.skipChildren();
      }
    }
    if (!told) {
      edits.add(new Edit(at + 1, 0, empty ? INCLUDED : INCLUDED + ","));
    }
  }

  private static int offset(JsonParser parser) {
    return (int) parser.currentTokenLocation().getByteOffset();
  }

  /** The body with all edits, which are in the order of their places. */
  private static byte[] edited(byte[] body, List<Edit> edits) {
    if (edits.isEmpty()) {
      return body;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(body.length + ROOM * edits.size());
    int from = 0;
    for (Edit edit : edits) {
      out.write(body, from, edit.at() - from);
      out.writeBytes(edit.with().getBytes(StandardCharsets.UTF_8));
      from = edit.at() + edit.length();
    }
    out.write(body, from, body.length - from);
    return out.toByteArray();
  }
}
