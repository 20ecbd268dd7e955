package dev.fairway.schemas.serde;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.avro.Schema;

/** Schemas as they stand in their files. */
final class PlainSchemas {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String STRING_PROPERTY = "avro.java.string";

  private PlainSchemas() {}

  /**
   * Without the property that the code generator adds to every string: it means nothing elsewhere.
   */
  static Schema withoutJavaProperties(Schema schema) {
    try {
      JsonNode tree = JSON.readTree(schema.toString());
      for (JsonNode parent : tree.findParents(STRING_PROPERTY)) {
        ((ObjectNode) parent).remove(STRING_PROPERTY);
      }
      return new Schema.Parser().parse(tree.toString());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("Avro wrote a schema that is not JSON", e);
    }
  }
}
