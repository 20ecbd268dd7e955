package dev.fairway.agent.gateway;

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
    byte[] errorEvent(String json) {
      return ("event: error\ndata: " + json + "\n\n").getBytes(StandardCharsets.UTF_8);
    }
  },
  /** OpenAI's. */
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
    byte[] errorEvent(String json) {
      return ("data: " + json + "\n\n").getBytes(StandardCharsets.UTF_8);
    }
  };

  /** The body of an error. */
  abstract ObjectNode error(Trouble trouble);

  /**
   * An error on a stream that has begun.
   *
   * @param json on one line
   */
  abstract byte[] errorEvent(String json);

  /** The API of a path that is no known call: what begins as Anthropic's is Anthropic's. */
  static ApiFamily ofPath(String path) {
    return path.startsWith("/v1/messages") ? ANTHROPIC : OPENAI;
  }
}
