package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Strict reading of one JSON object of a call of ours: a field that nobody asked for is an error.
 */
final class ApiInput {
  /** Something in a body that should be otherwise. */
  static final class BadInputException extends Exception {
    private static final long serialVersionUID = 1L;

    BadInputException(String message) {
      super(message, null, false, false);
    }
  }

  private final JsonNode json;
  private final Set<String> known = new HashSet<>();

  private ApiInput(JsonNode json) {
    this.json = json;
  }

  static ApiInput of(JsonNode object) {
    return new ApiInput(object);
  }

  JsonNode json() {
    return json;
  }

  String text(String name) throws BadInputException {
    String text = textOrNull(name);
    if (text == null) {
      throw new BadInputException("Expected a text in \"" + name + "\", but found none.");
    }
    return text;
  }

  String textOrNull(String name) throws BadInputException {
    JsonNode value = take(name);
    if (value == null) {
      return null;
    }
    if (!value.isTextual()) {
      throw new BadInputException("Expected a text in \"" + name + "\".");
    }
    return value.textValue();
  }

  /** A whole number of 0 or more, or null. */
  Long longOrNull(String name) throws BadInputException {
    JsonNode value = take(name);
    if (value == null) {
      return null;
    }
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
      throw new BadInputException("Expected a whole number of 0 or more in \"" + name + "\".");
    }
    return value.longValue();
  }

  boolean bool(String name) throws BadInputException {
    JsonNode value = take(name);
    if (value != null && !value.isBoolean()) {
      throw new BadInputException("Expected true or false in \"" + name + "\".");
    }
    return value != null && value.booleanValue();
  }

  <E extends Enum<E>> E constant(String name, Class<E> type, Set<E> allowed)
      throws BadInputException {
    String text = text(name);
    for (E constant : type.getEnumConstants()) {
      if (allowed.contains(constant) && constant.name().equals(text)) {
        return constant;
      }
    }
    throw new BadInputException("Expected one of " + allowed + " in \"" + name + "\".");
  }

  List<String> texts(String name) throws BadInputException {
    JsonNode value = take(name);
    List<String> texts = new ArrayList<>();
    if (value == null) {
      return texts;
    }
    for (JsonNode element : value) {
      if (element.isTextual()) {
        texts.add(element.textValue());
      }
    }
    if (!value.isArray() || texts.size() != value.size()) {
      throw new BadInputException("Expected a list of texts in \"" + name + "\".");
    }
    return texts;
  }

  /** Complains about fields that nobody asked for, except those that somebody else reads. */
  void end(String... others) throws BadInputException {
    known.addAll(List.of(others));
    for (var field : json.properties()) {
      if (!known.contains(field.getKey())) {
        throw new BadInputException(
            "Expected fields of "
                + known.stream().sorted().toList()
                + ", but found \""
                + field.getKey()
                + "\".");
      }
    }
  }

  private JsonNode take(String name) {
    known.add(name);
    JsonNode value = json.get(name);
    return value == null || value.isNull() ? null : value;
  }
}
