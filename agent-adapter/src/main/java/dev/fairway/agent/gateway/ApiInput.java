package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.schemas.Ids;
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

  private static final int SHOWN_MAX = 60;

  private final JsonNode json;
  private final Set<String> known = new HashSet<>();

  private ApiInput(JsonNode json) {
    this.json = json;
  }

  static ApiInput of(JsonNode object) {
    return new ApiInput(object);
  }

  boolean has(String name) {
    return json.hasNonNull(name);
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
      throw new BadInputException(
          "Expected a text in \"" + name + "\", but found " + shown(value) + ".");
    }
    return value.textValue();
  }

  /** An id of an agent, task, tenant, role or class. */
  String id(String name) throws BadInputException {
    return asId(name, text(name));
  }

  /** The same, or null. */
  String idOrNull(String name) throws BadInputException {
    String text = textOrNull(name);
    return text == null ? null : asId(name, text);
  }

  /** The id of a request, or null. */
  String requestIdOrNull(String name) throws BadInputException {
    String text = textOrNull(name);
    if (text != null && !Ids.isRequestId(text)) {
      throw notAnId(name, Ids.MAX_REQUEST_ID_LENGTH, text);
    }
    return text;
  }

  /** A quota id. */
  String quotaId(String name) throws BadInputException {
    String text = text(name);
    if (!Ids.isQuotaId(text)) {
      throw new BadInputException(
          "Expected a quota id `key` or `key/name`, each of 1 to "
              + Ids.MAX_LENGTH
              + " characters A-Z a-z 0-9 . _ -, in \""
              + name
              + "\", but found "
              + shown(text)
              + ".");
    }
    return text;
  }

  /** A list of ids; empty if there is none. */
  List<String> ids(String name, int most) throws BadInputException {
    JsonNode value = take(name);
    List<String> ids = new ArrayList<>();
    if (value == null) {
      return ids;
    }
    if (!value.isArray() || value.size() > most) {
      throw new BadInputException(
          "Expected a list of up to "
              + most
              + " ids in \""
              + name
              + "\", but found "
              + (value.isArray() ? value.size() + " of them." : shown(value) + "."));
    }
    for (JsonNode element : value) {
      if (!element.isTextual()) {
        throw new BadInputException(
            "Expected ids in \"" + name + "\", but found " + shown(element) + ".");
      }
      ids.add(asId(name, element.textValue()));
    }
    return ids;
  }

  /** A whole number of 0 or more, or null. */
  Long longOrNull(String name) throws BadInputException {
    return longOrNull(name, 0, Long.MAX_VALUE);
  }

  /** A whole number of a range, or null. */
  Long longOrNull(String name, long least, long most) throws BadInputException {
    JsonNode value = take(name);
    if (value == null) {
      return null;
    }
    boolean whole = value.isIntegralNumber() && value.canConvertToLong();
    if (!whole || value.longValue() < least || value.longValue() > most) {
      throw new BadInputException(
          "Expected a whole number of "
              + least
              + (most == Long.MAX_VALUE ? " or more" : " to " + most)
              + " in \""
              + name
              + "\", but found "
              + shown(value)
              + ".");
    }
    return value.longValue();
  }

  boolean bool(String name, boolean otherwise) throws BadInputException {
    JsonNode value = take(name);
    if (value == null) {
      return otherwise;
    }
    if (!value.isBoolean()) {
      throw new BadInputException(
          "Expected true or false in \"" + name + "\", but found " + shown(value) + ".");
    }
    return value.booleanValue();
  }

  /** An object, or null. */
  ApiInput objectOrNull(String name) throws BadInputException {
    JsonNode value = take(name);
    if (value == null) {
      return null;
    }
    if (!value.isObject()) {
      throw new BadInputException(
          "Expected an object in \"" + name + "\", but found " + shown(value) + ".");
    }
    return new ApiInput(value);
  }

  /** A list of objects, or null. */
  List<ApiInput> objectsOrNull(String name, int most) throws BadInputException {
    JsonNode value = take(name);
    if (value == null) {
      return null;
    }
    if (!value.isArray() || value.isEmpty() || value.size() > most) {
      throw new BadInputException(
          "Expected a list of 1 to "
              + most
              + " objects in \""
              + name
              + "\", but found "
              + (value.isArray() ? value.size() + " of them." : shown(value) + "."));
    }
    List<ApiInput> objects = new ArrayList<>();
    for (JsonNode element : value) {
      if (!element.isObject()) {
        throw new BadInputException(
            "Expected objects in \"" + name + "\", but found " + shown(element) + ".");
      }
      objects.add(new ApiInput(element));
    }
    return objects;
  }

  <E extends Enum<E>> E constantOrNull(String name, Class<E> type, Set<E> allowed)
      throws BadInputException {
    return take(name) == null ? null : constant(name, type, allowed);
  }

  <E extends Enum<E>> E constant(String name, Class<E> type, Set<E> allowed)
      throws BadInputException {
    String text = text(name);
    for (E constant : type.getEnumConstants()) {
      if (allowed.contains(constant) && constant.name().equals(text)) {
        return constant;
      }
    }
    throw new BadInputException(
        "Expected one of " + allowed + " in \"" + name + "\", but found " + shown(text) + ".");
  }

  /** Complains about fields that nobody asked for. */
  void end() throws BadInputException {
    for (var field : json.properties()) {
      if (!known.contains(field.getKey())) {
        throw new BadInputException(
            "Expected fields of "
                + known.stream().sorted().toList()
                + ", but found \""
                + cut(field.getKey())
                + "\".");
      }
    }
  }

  private JsonNode take(String name) {
    known.add(name);
    JsonNode value = json.get(name);
    return value == null || value.isNull() ? null : value;
  }

  private static String asId(String name, String text) throws BadInputException {
    if (!Ids.isId(text)) {
      throw notAnId(name, Ids.MAX_LENGTH, text);
    }
    return text;
  }

  private static BadInputException notAnId(String name, int lengthMax, String found) {
    return new BadInputException(
        "Expected an id of 1 to "
            + lengthMax
            + " characters A-Z a-z 0-9 . _ : - in \""
            + name
            + "\", but found "
            + shown(found)
            + ".");
  }

  private static String shown(JsonNode value) {
    return value.isContainerNode()
        ? (value.isArray() ? "a list" : "an object")
        : cut(value.toString());
  }

  private static String shown(String text) {
    return "\"" + cut(text) + "\" (" + text.length() + " characters)";
  }

  private static String cut(String text) {
    return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "...";
  }
}
