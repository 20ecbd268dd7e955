package dev.fairway.agent.provider;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.nio.charset.StandardCharsets;

/**
 * What a profile needs of an answer's body: errors and usage, not the content. Made by {@link
 * BodyReader} while the body passes, or at once by {@link #of(byte[])}. Immutable.
 */
public final class ResponseBody {
  private static final ResponseBody NONE = new ResponseBody(MissingNode.getInstance(), true, "");

  private final JsonNode json;
  private final boolean whole;
  private final String text;

  ResponseBody(JsonNode json, boolean whole, String text) {
    this.json = json;
    this.whole = whole;
    this.text = text;
  }

  /** No body. */
  public static ResponseBody none() {
    return NONE;
  }

  /** Reads a whole body. */
  public static ResponseBody of(byte[] body) {
    BodyReader reader = new BodyReader();
    reader.read(body, 0, body.length);
    return reader.end();
  }

  /** Reads a whole body. */
  public static ResponseBody of(String body) {
    return of(body.getBytes(StandardCharsets.UTF_8));
  }

  /** The parts of interest; a missing node if the body is no JSON. */
  JsonNode json() {
    return json;
  }

  /** Whether the JSON was read to its end; what broke off may tell of an error, not of usage. */
  boolean isWhole() {
    return whole;
  }

  /** The beginning of the body, as text. */
  String text() {
    return text;
  }
}
