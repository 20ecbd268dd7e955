package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;

/** How an API words what is not an answer of its own: errors, and streams that wait. */
enum ApiFamily {
  /** Anthropic's. */
  ANTHROPIC {
    @Override
    ObjectNode error(Trouble trouble) {
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      root.put("type", "error");
      root.putObject("error")
          .put("type", trouble.anthropicType())
          .put("message", trouble.message());
      return root;
    }

    @Override
    byte[] errorEvent(JsonNode error) {
      return event("error", error);
    }
  },
  /** OpenAI's, but for streams of its Responses API. */
  OPENAI {
    @Override
    ObjectNode error(Trouble trouble) {
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      root.putObject("error")
          .put("message", trouble.message())
          .put("type", trouble.openaiType())
          .putNull("param")
          .put("code", trouble.openaiCode());
      return root;
    }

    @Override
    byte[] errorEvent(JsonNode error) {
      return event(null, error);
    }
  },
  /** OpenAI's Responses API: its streams have an error event of their own, its errors not. */
  OPENAI_RESPONSES {
    @Override
    ObjectNode error(Trouble trouble) {
      return OPENAI.error(trouble);
    }

    @Override
    byte[] errorEvent(JsonNode error) {
      JsonNode told = error.path("error");
      boolean known = told.path("message").isTextual();
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      root.put("type", "error");
      root.set("code", orNull(told.path(told.path("code").isTextual() ? "code" : "type")));
      root.put("message", known ? told.path("message").textValue() : error.toString());
      root.set("param", orNull(told.path("param")));
      root.put("sequence_number", 0); // No event of the upstream's has passed.
      return event("error", root);
    }

    private static JsonNode orNull(JsonNode text) {
      return text.isTextual() ? text : JsonNodeFactory.instance.nullNode();
    }
  };

  /** The body of an error. */
  abstract ObjectNode error(Trouble trouble);

  /**
   * An error on a stream that has begun, and on which no event has passed.
   *
   * @param error body of an error of this API
   */
  abstract byte[] errorEvent(JsonNode error);

  private static byte[] event(String name, JsonNode data) {
    String named = name == null ? "" : "event: " + name + "\n";
    return (named + "data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8);
  }

  /** The API of a path that is no known call: what begins as Anthropic's is Anthropic's. */
  static ApiFamily ofPath(String path) {
    return path.startsWith("/v1/messages") ? ANTHROPIC : OPENAI;
  }
}
