package dev.fairway.cli.ops;

import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.UndecodableRecordException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.specific.SpecificRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A compacted topic as a table of records by key. */
final class CompactedTable {
  private static final Logger log = LoggerFactory.getLogger(CompactedTable.class);

  private CompactedTable() {}

  /**
   * All records by key, sorted. One that cannot be read is left out with a warning, as the
   * coordinator leaves it out: it must not keep an operator from the others.
   *
   * @throws UndecodableRecordException if the registry does not answer: what is there is not known
   *     then
   */
  static <T extends SpecificRecord> Map<String, T> read(
      Pipeline pipeline, String topic, Class<T> type) {
    Map<String, T> table = new TreeMap<>();
    try (AvroDeserializer<T> deserializer = new AvroDeserializer<>(pipeline.registry(), type)) {
      pipeline
          .reader()
          .readCompacted(topic)
          .forEach(
              (key, value) -> {
                try {
                  table.put(key, deserializer.deserialize(topic, value));
                } catch (UndecodableRecordException e) {
                  if (e.isRetriable()) {
                    throw e;
                  }
                  log.warn(
                      "Record with key {} of {} is left out: {} A tombstone for that key removes it.",
                      Printable.text(key.getBytes(StandardCharsets.UTF_8)),
                      topic,
                      e.getMessage());
                }
              });
    }
    return table;
  }
}
