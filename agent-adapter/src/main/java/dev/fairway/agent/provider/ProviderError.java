package dev.fairway.agent.provider;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * An error in whatever form a provider puts it.
 *
 * @param status HTTP status, or the error's own where it came inside a 200; null if unknown
 * @param words codes and types, in lower case, without what surrounds a name in AWS's
 * @param message for people; never null, bounded
 * @param json the error object; a missing node if there is none
 */
record ProviderError(Integer status, List<String> words, String message, JsonNode json) {

  /** The error of an answer, or null if it is a success. */
  static ProviderError of(Integer status, ResponseHeaders headers, JsonNode body, String text) {
    JsonNode root = body.isArray() ? body.path(0) : body;
    boolean failed = status != null && status >= 400;
    JsonNode error = errorObject(root, failed);
    if (!failed && error.isMissingNode()) {
      return null;
    }
    List<String> words = new ArrayList<>();
    add(words, error.path("code"));
    add(words, error.path("type"));
    add(words, error.path("status"));
    add(words, error.path("__type"));
    addName(words, headers.get("x-amzn-errortype"));
    Integer own = ownStatus(error.path("code"));
    return new ProviderError(
        failed || own == null ? (failed ? status : null) : own,
        List.copyOf(words),
        message(error, failed && !body.isContainerNode() ? text : ""),
        error);
  }

  /** Whether a code or type is one of these. */
  boolean is(String... names) {
    for (String name : names) {
      if (words.contains(name)) {
        return true;
      }
    }
    return false;
  }

  boolean hasStatus(int... statuses) {
    for (int s : statuses) {
      if (status != null && status == s) {
        return true;
      }
    }
    return false;
  }

  private static JsonNode errorObject(JsonNode root, boolean failed) {
    JsonNode error = root.path("error");
    if (error.isMissingNode() || error.isNull()) {
      error = root.path("response").path("error");
    }
    if (error.isObject()
        && (failed || error.has("message") || error.has("code") || error.has("type"))) {
      return error;
    }
    // Flat: Mistral, Bedrock, and the error event of OpenAI's responses.
    boolean flat =
        failed
            || root.path("type").asText().equals("error")
            || root.path("object").asText().equals("error");
    return flat && root.isObject() ? root : MissingNode.getInstance();
  }

  private static String message(JsonNode error, String text) {
    for (String name : List.of("message", "Message", "error", "detail")) {
      if (error.path(name).isTextual()) {
        return error.path(name).textValue();
      }
    }
    return text;
  }

  private static void add(List<String> words, JsonNode word) {
    if (word.isTextual()) {
      addName(words, word.textValue());
    }
  }

  /**
   * AWS: {@code com.amazon.coral#ThrottlingException} or {@code ThrottlingException:http://...}.
   */
  private static void addName(List<String> words, String text) {
    if (text != null) {
      String name = text.substring(text.indexOf('#') + 1);
      int colon = name.indexOf(':');
      words.add((colon < 0 ? name : name.substring(0, colon)).toLowerCase(Locale.ROOT));
    }
  }

  private static Integer ownStatus(JsonNode code) {
    Long number = Numbers.amount(code);
    return number != null && number >= 400 && number <= 599 ? (Integer) number.intValue() : null;
  }
}
