package dev.fairway.cli.demo.emulator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;

/**
 * What the emulator reads of a Messages request.
 *
 * @param model as asked for
 * @param maxTokens at least 1
 * @param stream whether the answer is to come as events
 * @param textChars characters of text in system prompt and messages
 */
record MessagesRequest(String model, long maxTokens, boolean stream, long textChars) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int CHARS_PER_TOKEN = 4;

  /** A request that the API would refuse; the message is for the caller. */
  static final class InvalidRequestException extends Exception {
    private static final long serialVersionUID = 1L;

    InvalidRequestException(String message) {
      super(message);
    }
  }

  static MessagesRequest parse(byte[] body) throws InvalidRequestException {
    JsonNode root = read(body);
    JsonNode maxTokens = root.path("max_tokens");
    if (!maxTokens.isIntegralNumber() || !maxTokens.canConvertToLong() || maxTokens.asLong() < 1) {
      throw new InvalidRequestException("max_tokens: Input should be an integer of at least 1");
    }
    return of(root, maxTokens.asLong());
  }

  /** The same without an answer: a request to count its tokens. */
  static MessagesRequest parseCount(byte[] body) throws InvalidRequestException {
    return of(read(body), 1);
  }

  private static JsonNode read(byte[] body) throws InvalidRequestException {
    JsonNode root;
    try {
      root = JSON.readTree(body);
    } catch (JsonProcessingException e) {
      throw new InvalidRequestException(
          "The request body is not valid JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new InvalidRequestException("The request body could not be read");
    }
    if (root == null || !root.isObject()) {
      throw new InvalidRequestException("The request body is not a JSON object");
    }
    if (!root.path("model").isTextual()) {
      throw new InvalidRequestException("model: Field required");
    }
    JsonNode messages = root.path("messages");
    if (!messages.isArray() || messages.isEmpty()) {
      throw new InvalidRequestException("messages: at least one message is required");
    }
    return root;
  }

  private static MessagesRequest of(JsonNode root, long maxTokens) {
    return new MessagesRequest(
        root.path("model").asText(),
        maxTokens,
        root.path("stream").asBoolean(false),
        textChars(root.path("system")) + textChars(root.path("messages")));
  }

  /** Input tokens of the text, by the usual four characters a token. */
  long estimatedInputTokens() {
    return Math.max(1, (textChars + CHARS_PER_TOKEN - 1) / CHARS_PER_TOKEN);
  }

  /** Text stands in {@code content} or {@code text}, as a string or in blocks. */
  private static long textChars(JsonNode node) {
    if (node.isTextual()) {
      return node.asText().length();
    }
    long chars = 0;
    if (node.isArray()) {
      for (JsonNode child : node) {
        chars += textChars(child);
      }
    } else if (node.isObject()) {
      chars += textChars(node.path("content")) + textChars(node.path("text"));
    }
    return chars;
  }
}
