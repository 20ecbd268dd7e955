package dev.fairway.replay.script;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Strict reading of one JSON object: each field is asked for by name and type, and {@link #end}
 * reports those that nobody asked for. Errors are collected, so that whoever wrote the file sees
 * all of them at once. JSON null is the same as an absent field.
 */
public final class JsonFields {
  /** More errors than this say nothing new about a file. */
  static final int ERRORS_MAX = 20;

  private static final Pattern FIELD_NAME = Pattern.compile("[a-z_]{1,20}");

  /** What of a value may stand in an error about it. */
  private enum Shown {
    ALL,
    /** Not what stands where an object or a list belongs: somebody may have put a secret there. */
    PLAIN_VALUES,
    NOTHING
  }

  private final JsonNode node;
  private final String path;
  private final Shown shown;
  private final List<String> errors;
  private final Set<String> known = new LinkedHashSet<>();

  private JsonFields(JsonNode node, String path, Shown shown, List<String> errors) {
    this.node = node;
    this.path = path;
    this.shown = shown;
    this.errors = errors;
  }

  /** Reads the root of a tree. */
  public static JsonFields root(JsonNode node) {
    return root(node, Shown.ALL);
  }

  /**
   * The same for a tree that refers to secrets: errors don't show what stands where an object or a
   * list belongs, nor anything in the objects of {@link #secret}.
   */
  public static JsonFields rootWithSecrets(JsonNode node) {
    return root(node, Shown.PLAIN_VALUES);
  }

  private static JsonFields root(JsonNode node, Shown shown) {
    JsonFields fields = new JsonFields(node, "", shown, new ArrayList<>());
    fields.requireObject("{...}");
    return fields;
  }

  /** Whether the field stands there with a value. */
  public boolean has(String name) {
    return node.hasNonNull(name);
  }

  /** A text; an empty one, and an error, if it is absent. */
  public String requiredString(String name) {
    String value = string(name, null);
    if (value == null && !has(name)) {
      error(name, "expected a text, but the field is missing");
    }
    return value == null ? "" : value;
  }

  /** A text, or what stands for an absent one. */
  public String string(String name, String absent) {
    JsonNode value = take(name);
    if (value == null) {
      return absent;
    }
    if (!value.isTextual()) {
      return expected(name, "a text", value, absent);
    }
    return value.textValue();
  }

  /** A whole number, or null if it is absent. */
  public Long longOrNull(String name) {
    JsonNode value = take(name);
    if (value == null) {
      return null;
    }
    if (!value.isNumber() || !value.canConvertToExactIntegral() || !value.canConvertToLong()) {
      return expected(name, "a whole number", value, null);
    }
    return value.longValue();
  }

  /** A whole number of 32 bits, or null if it is absent. */
  public Integer integerOrNull(String name) {
    Long value = longOrNull(name);
    if (value == null) {
      return null;
    }
    if (value != value.intValue()) {
      error(name, "expected a whole number of 32 bits, but found " + value);
      return null;
    }
    return value.intValue();
  }

  Double doubleOrNull(String name) {
    JsonNode value = take(name);
    if (value == null) {
      return null;
    }
    if (!value.isNumber() || !Double.isFinite(value.doubleValue())) {
      return expected(name, "a number", value, null);
    }
    return value.doubleValue();
  }

  /** True or false, or what stands for an absent field. */
  public boolean bool(String name, boolean absent) {
    Boolean value = booleanOrNull(name);
    return value == null ? absent : value;
  }

  /** True or false, or null if it is absent. */
  Boolean booleanOrNull(String name) {
    JsonNode value = take(name);
    if (value == null) {
      return null;
    }
    if (!value.isBoolean()) {
      return expected(name, "true or false", value, null);
    }
    return value.booleanValue();
  }

  /** The constant of that name, or what stands for an absent field. */
  public <E extends Enum<E>> E enumeration(String name, Class<E> type, E absent) {
    JsonNode value = take(name);
    if (value == null) {
      return absent;
    }
    for (E constant : type.getEnumConstants()) {
      if (value.isTextual() && constant.name().equals(value.textValue())) {
        return constant;
      }
    }
    return expected(name, "one of " + Arrays.toString(type.getEnumConstants()), value, absent);
  }

  /**
   * A duration, either as whole milliseconds in {@code name_ms} or as {@code 3m} in {@code name}.
   */
  public Long durationMs(String name) {
    Long milliseconds = longOrNull(name + "_ms");
    JsonNode value = take(name);
    if (value == null) {
      return milliseconds;
    }
    if (milliseconds != null) {
      error(name, "expected either " + name + " or " + name + "_ms, but found both");
      return milliseconds;
    }
    Long parsed = value.isTextual() ? Durations.parseMs(value.textValue()) : null;
    if (parsed == null) {
      return expected(
          name, "a duration such as \"500ms\", \"90s\", \"3m\" or \"1h30m\"", value, null);
    }
    return parsed;
  }

  /** Texts; an empty list if the field is absent. */
  public List<String> strings(String name) {
    JsonNode value = take(name);
    if (value == null) {
      return List.of();
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode element : value) {
      if (element.isTextual()) {
        texts.add(element.textValue());
      }
    }
    if (!value.isArray() || texts.size() != value.size()) {
      return expected(name, "a list of texts", value, List.of());
    }
    return texts;
  }

  /** The object in a field, read by {@code reader}; null if the field is absent. */
  public <T> T object(String name, Function<JsonFields, T> reader) {
    return object(name, shown, reader);
  }

  /**
   * The object in a field that says where a secret is; null if the field is absent. Errors show
   * nothing of it, because it may be the secret itself.
   */
  public <T> T secret(String name, Function<JsonFields, T> reader) {
    return object(name, Shown.NOTHING, reader);
  }

  private <T> T object(String name, Shown shownOfIt, Function<JsonFields, T> reader) {
    JsonNode value = take(name);
    return value == null ? null : child(name, value, shownOfIt, reader);
  }

  /** An object of objects, read by {@code reader}; an empty map if the field is absent. */
  public <T> Map<String, T> objects(String name, Function<JsonFields, T> reader) {
    return entries(
        name,
        () -> "{name: " + fieldsOf(reader) + "}",
        (key, value) -> child(name + "." + key, value, shown, reader));
  }

  /** A list of objects, each read by {@code reader}; an empty list if the field is absent. */
  public <T> List<T> objectList(String name, Function<JsonFields, T> reader) {
    JsonNode value = take(name);
    if (value == null) {
      return List.of();
    }
    if (!value.isArray()) {
      return expectedStructure(name, "a list of objects " + fieldsOf(reader), value, List.of());
    }
    List<T> result = new ArrayList<>();
    for (int i = 0; i < value.size(); i++) {
      T read = child(name + "[" + i + "]", value.get(i), shown, reader);
      if (read != null) {
        result.add(read);
      }
    }
    return result;
  }

  /** An object of constants; an empty map if the field is absent. */
  public <E extends Enum<E>> Map<String, E> enumerations(String name, Class<E> type) {
    String one = "one of " + Arrays.toString(type.getEnumConstants());
    return entries(
        name,
        () -> "{name: " + one + "}",
        (key, value) -> {
          for (E constant : type.getEnumConstants()) {
            if (value.isTextual() && constant.name().equals(value.textValue())) {
              return constant;
            }
          }
          return expected(name + "." + key, one, value, null);
        });
  }

  /** An object of numbers; an empty map if the field is absent. */
  Map<String, Double> doubles(String name) {
    return entries(
        name,
        () -> "{name: number}",
        (key, value) ->
            value.isNumber()
                ? (Double) value.doubleValue()
                : expected(name + "." + key, "a number", value, 0.0));
  }

  /** Makes a name known without reading it. */
  void know(String name) {
    known.add(name);
  }

  /** Reports every field of this object that is not known by now. */
  public void end() {
    Iterable<String> names = node::fieldNames;
    for (String name : names) {
      if (!known.contains(name)) {
        String unknown = "unknown field; expected one of " + new TreeSet<>(known);
        if (shown != Shown.NOTHING || FIELD_NAME.matcher(name).matches()) {
          error(name, unknown + ClosestName.question(name, known));
        } else {
          add(path + ": " + unknown);
        }
      }
    }
  }

  /** Adds an error about a field. */
  public void error(String name, String message) {
    add(at(name) + ": " + message);
  }

  private void add(String error) {
    if (errors.size() < ERRORS_MAX) {
      errors.add(error);
    }
  }

  /** Whether there were errors so far, anywhere in the tree. */
  public boolean hasErrors() {
    return !errors.isEmpty();
  }

  /**
   * Whether there were errors at, above or below a field of this object: what depends on it cannot
   * be judged then.
   */
  public boolean hasErrors(String name) {
    String field = at(name);
    return errors.stream()
        .map(error -> error.substring(0, Math.max(0, error.indexOf(": "))))
        .anyMatch(wrong -> isWithin(wrong, field) || isWithin(field, wrong));
  }

  private static boolean isWithin(String field, String outer) {
    return field.startsWith(outer)
        && (field.length() == outer.length()
            || field.charAt(outer.length()) == '.'
            || field.charAt(outer.length()) == '[');
  }

  /**
   * Ends the reading of a whole tree.
   *
   * @throws InvalidJsonException if there were errors
   */
  public void throwErrors() {
    if (!errors.isEmpty()) {
      throw new InvalidJsonException(errors);
    }
  }

  private <T> T child(
      String name, JsonNode value, Shown shownOfIt, Function<JsonFields, T> reader) {
    JsonFields fields = new JsonFields(value, at(name), shownOfIt, errors);
    if (!value.isObject()) {
      fields.requireObject(fieldsOf(reader));
      return null;
    }
    T result = reader.apply(fields);
    fields.end();
    return result;
  }

  /** Reports anything but an object; {@code fields} says what it would have. */
  private void requireObject(String fields) {
    if (node == null || !node.isObject()) {
      add(
          (path.isEmpty() ? "" : path + ": ")
              + "expected an object "
              + fields
              + ", but found "
              + (shown == Shown.ALL ? text(node) : kind(node)));
    }
  }

  /** The names that a reader asks for, for people: an empty object is read to hear them. */
  private static <T> String fieldsOf(Function<JsonFields, T> reader) {
    JsonFields empty =
        new JsonFields(JsonNodeFactory.instance.objectNode(), "", Shown.NOTHING, new ArrayList<>());
    T unused = reader.apply(empty);
    return "{" + String.join(", ", new TreeSet<>(empty.known)) + "}";
  }

  private <T> Map<String, T> entries(
      String name, Supplier<String> shape, BiFunction<String, JsonNode, T> reader) {
    JsonNode value = take(name);
    if (value == null) {
      return Map.of();
    }
    if (!value.isObject()) {
      return expectedStructure(name, "an object " + shape.get(), value, Map.of());
    }
    Map<String, T> result = new LinkedHashMap<>();
    value
        .properties()
        .forEach(
            entry -> {
              T read = reader.apply(entry.getKey(), entry.getValue());
              if (read != null) {
                result.put(entry.getKey(), read);
              }
            });
    return result;
  }

  private JsonNode take(String name) {
    known.add(name);
    JsonNode value = node.get(name);
    return value == null || value.isNull() ? null : value;
  }

  private <T> T expected(String name, String what, JsonNode found, T instead) {
    String shownText = shown == Shown.NOTHING ? kind(found) : text(found);
    error(name, "expected " + what + ", but found " + shownText);
    return instead;
  }

  private <T> T expectedStructure(String name, String what, JsonNode found, T instead) {
    String shownText = shown == Shown.ALL ? text(found) : kind(found);
    error(name, "expected " + what + ", but found " + shownText);
    return instead;
  }

  private static String kind(JsonNode node) {
    return switch (node == null ? JsonNodeType.NULL : node.getNodeType()) {
      case ARRAY -> "a list";
      case OBJECT, POJO -> "an object";
      case STRING, BINARY -> "a text";
      case NUMBER -> "a number";
      case BOOLEAN -> "true or false";
      case NULL, MISSING -> "nothing";
    };
  }

  private String at(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  private static String text(JsonNode node) {
    String text = node == null ? "nothing" : node.toString();
    return text.length() <= 80 ? text : text.substring(0, 80) + "...";
  }
}
