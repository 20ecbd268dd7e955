package dev.fairway.cli.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
  private static final long[] UNIT_MS = {86_400_000, 3_600_000, 60_000, 1_000};
  private static final String[] UNIT = {"d", "h", "m", "s"};

  private RecordTree() {}

  static ObjectNode of(IndexedRecord record) {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    for (Schema.Field field : record.getSchema().getFields()) {
      Object value = record.get(field.pos());
      if (value == null || isEmpty(value)) {
        continue;
      }
      String name = field.name();
      if (name.endsWith(MILLISECONDS) && value instanceof Long) {
        object.put(
            name.substring(0, name.length() - MILLISECONDS.length()), duration((Long) value));
      } else {
        object.set(name, node(value));
      }
    }
    return object;
  }

  /** The duration in the largest unit that divides it, such as {@code 90s} or {@code 3m}. */
  static String duration(long ms) {
    for (int i = 0; i < UNIT.length; i++) {
      if (ms != 0 && ms % UNIT_MS[i] == 0) {
        return ms / UNIT_MS[i] + UNIT[i];
      }
    }
    return ms + "ms";
  }

  private static boolean isEmpty(Object value) {
    return value instanceof Map && ((Map<?, ?>) value).isEmpty()
        || value instanceof List && ((List<?>) value).isEmpty();
  }

  private static JsonNode node(Object value) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    if (value instanceof IndexedRecord) {
      return of((IndexedRecord) value);
    }
    if (value instanceof Map) {
      // Sorted: a map that was read has no order of its own, and the same record has to print the
      // same.
      ObjectNode object = nodes.objectNode();
      new TreeMap<>((Map<?, ?>) value)
          .forEach((key, entry) -> object.set(key.toString(), node(entry)));
      return object;
    }
    if (value instanceof List) {
      ArrayNode array = nodes.arrayNode();
      ((List<?>) value).forEach(entry -> array.add(node(entry)));
      return array;
    }
    if (value instanceof Integer) {
      return nodes.numberNode((Integer) value);
    }
    if (value instanceof Long) {
      return nodes.numberNode((Long) value);
    }
    if (value instanceof Double) {
      return nodes.numberNode((Double) value);
    }
    if (value instanceof Boolean) {
      return nodes.booleanNode((Boolean) value);
    }
    return nodes.textNode(value.toString());
  }
}
