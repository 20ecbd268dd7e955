package dev.fairway.cli.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.schemas.DurationText;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.IndexedRecord;

/**
 * An Avro record as the tree that people write: fields in the order of the schema, absent values
 * and empty collections left out, and {@code lease_ttl_ms: 120000} written as {@code lease_ttl:
 * 2m}.
 */
final class RecordTree {

  private static final String MILLISECONDS = "_ms";

  private RecordTree() {}

  static ObjectNode of(IndexedRecord record) {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    for (Schema.Field field : record.getSchema().getFields()) {
      Object value = record.get(field.pos());
      if (value == null || isEmpty(value)) {
        continue;
      }
      String name = field.name();
      if (name.endsWith(MILLISECONDS) && value instanceof Long ms) {
        object.put(name.substring(0, name.length() - MILLISECONDS.length()), DurationText.ofMs(ms));
      } else {
        object.set(name, node(value));
      }
    }
    return object;
  }

  private static boolean isEmpty(Object value) {
    return (value instanceof Map<?, ?> map && map.isEmpty())
        || (value instanceof List<?> list && list.isEmpty());
  }

  private static JsonNode node(Object value) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    if (value instanceof IndexedRecord record) {
      return of(record);
    }
    if (value instanceof Map<?, ?> map) {
      // Sorted: a map that was read has no order of its own, and the same record has to print the
      // same.
      ObjectNode object = nodes.objectNode();
      new TreeMap<>(map).forEach((key, entry) -> object.set(key.toString(), node(entry)));
      return object;
    }
    if (value instanceof List<?> list) {
      ArrayNode array = nodes.arrayNode();
      list.forEach(entry -> array.add(node(entry)));
      return array;
    }
    if (value instanceof Integer scalar) {
      return nodes.numberNode(scalar);
    }
    if (value instanceof Long scalar) {
      return nodes.numberNode(scalar);
    }
    if (value instanceof Double scalar) {
      return nodes.numberNode(scalar);
    }
    if (value instanceof Boolean scalar) {
      return nodes.booleanNode(scalar);
    }
    return nodes.textNode(value.toString());
  }
}
