package dev.fairway.cli.config;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/**
 * A YAML or JSON text as a tree that still knows on which line each field stands.
 *
 * @param root never null; a missing node if the text holds nothing
 * @param lines line, from 1, by path such as {@code quotas[0].limits.requests_per_minute}
 */
record LocatedTree(JsonNode root, Map<String, Integer> lines) {

  /**
   * Reads a text.
   *
   * @param source name of the text, for messages
   * @throws InvalidConfigException if the text is no YAML, has a field twice, or uses aliases
   */
  static LocatedTree parse(String text, String source) {
    Map<String, Integer> lines = new HashMap<>();
    try (YAMLParser parser = new YAMLFactory().createParser(text)) {
      parser.nextToken();
      if (parser.currentToken() == null) {
        return new LocatedTree(JsonNodeFactory.instance.missingNode(), lines);
      }
      JsonNode root = new Reader(parser, lines, source).value("");
      if (parser.nextToken() != null) {
        throw new InvalidConfigException(
            List.of(
                error(source, parser, "", "expected one document, but found another after '---'")));
      }
      return new LocatedTree(root, lines);
    } catch (JsonProcessingException e) {
      throw new InvalidConfigException(List.of(unreadable(source, e)));
    } catch (IOException e) {
      throw new IllegalStateException("a text in memory that cannot be read", e);
    }
  }

  /**
   * Line of a field, or of the closest one around it; 1 if nothing of it is known. A field may be
   * written with or without its unit: {@code lease_ttl_ms} stands where the file says {@code
   * lease_ttl}, and {@code limits.requests} where it says {@code limits.requests_per_minute}.
   */
  int lineOf(String path) {
    for (String written : List.of(path, path.replaceAll("_ms$", ""), path + "_per_minute")) {
      if (lines.containsKey(written)) {
        return lines.get(written);
      }
    }
    int cut = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['));
    if (cut < 0) {
      return lines.getOrDefault("", 1);
    }
    return lineOf(path.substring(0, cut));
  }

  private static String error(String source, YAMLParser parser, String path, String message) {
    int line = parser.currentTokenLocation().getLineNr();
    return InvalidConfigException.error(source, line, path, message);
  }

  /** Line and message. YAML's own messages say in their first line only what it was doing. */
  private static String unreadable(String source, JsonProcessingException e) {
    if (e.getCause() instanceof MarkedYAMLException yaml && yaml.getProblemMark() != null) {
      String problem = yaml.getProblem() == null ? "unreadable" : yaml.getProblem();
      return InvalidConfigException.error(
          source,
          yaml.getProblemMark().getLine() + 1,
          "",
          problem.contains("(TAB)")
              ? "expected spaces, but found a tab. YAML does not take tabs for indentation"
              : "expected YAML or JSON, but: " + problem);
    }
    return InvalidConfigException.error(
        source,
        e.getLocation() == null ? 1 : e.getLocation().getLineNr(),
        "",
        "expected YAML or JSON, but: "
            + e.getOriginalMessage().lines().findFirst().orElse("unreadable"));
  }

  private record Reader(YAMLParser parser, Map<String, Integer> lines, String source) {

    /** The value at the current token; leaves the parser on its last token. */
    JsonNode value(String path) throws IOException {
      lines.putIfAbsent(path, parser.currentTokenLocation().getLineNr());
      if (parser.isCurrentAlias()) {
        throw new InvalidConfigException(
            List.of(
                error(
                    source,
                    parser,
                    "",
                    "expected a value, but found a YAML alias (*name). Write the value out.")));
      }
      JsonToken token = parser.currentToken();
      return switch (token) {
        case START_OBJECT -> object(path);
        case START_ARRAY -> array(path);
        case VALUE_STRING -> JsonNodeFactory.instance.textNode(parser.getText());
        case VALUE_NUMBER_INT -> JsonNodeFactory.instance.numberNode(parser.getBigIntegerValue());
        case VALUE_NUMBER_FLOAT -> number();
        case VALUE_TRUE, VALUE_FALSE ->
            JsonNodeFactory.instance.booleanNode(token == JsonToken.VALUE_TRUE);
        default -> JsonNodeFactory.instance.nullNode();
      };
    }

    private JsonNode number() throws IOException {
      return parser.getNumberType() == JsonParser.NumberType.BIG_DECIMAL || !parser.isNaN()
          ? JsonNodeFactory.instance.numberNode(parser.getDecimalValue())
          : JsonNodeFactory.instance.textNode(parser.getText());
    }

    private ObjectNode object(String path) throws IOException {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        String child = path.isEmpty() ? name : path + "." + name;
        lines.put(child, parser.currentTokenLocation().getLineNr());
        if (object.has(name)) {
          throw new InvalidConfigException(
              List.of(
                  error(source, parser, child, "expected each field once, but found it again")));
        }
        parser.nextToken();
        object.set(name, value(child));
      }
      return object;
    }

    private ArrayNode array(String path) throws IOException {
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        array.add(value(path + "[" + array.size() + "]"));
      }
      return array;
    }
  }
}
