package dev.fairway.cli.ops;

import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.UndecodableRecordException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A compacted topic as a table of records by key. */
final class CompactedTable {
  private static final Logger log = LoggerFactory.getLogger(CompactedTable.class);

  /**
   * The last record of a key.
   *
   * @param value null if it cannot be read
   * @param error why it cannot be read, or null
   * @param partition partition of the topic that it stands in
   * @param offset offset of it there
   */
  record Entry<T>(T value, String error, int partition, long offset) {}

  private CompactedTable() {}

  /**
   * All records by key, sorted. One that cannot be read is left out, with one warning for all of
   * them, as the coordinator leaves it out: it must not keep an operator from the others.
   *
   * @throws UndecodableRecordException if the registry does not answer: what is there is not known
   *     then
   */
  static <T extends SpecificRecord> Map<String, T> read(
      Pipeline pipeline, String topic, Class<T> type) {
    Map<String, T> table = new TreeMap<>();
    List<String> bad = new ArrayList<>();
    entries(pipeline, topic, type)
        .forEach(
            (key, entry) -> {
              if (entry.value() == null) {
                String name = Printable.text(key.getBytes(StandardCharsets.UTF_8));
                bad.add(name);
                log.debug("Record with key {} of {} is left out: {}", name, topic, entry.error());
              } else {
                table.put(key, entry.value());
              }
            });
    if (!bad.isEmpty()) {
      log.warn(
          "{} records of {} cannot be read and are left out, the first with key {}. A tombstone for"
              + " its key removes one; FAIRWAY_LOG=DEBUG tells each.",
          bad.size(),
          topic,
          bad.get(0));
    }
    return table;
  }

  /**
   * All records by key, sorted, also those that cannot be read.
   *
   * @throws UndecodableRecordException if the registry does not answer: what is there is not known
   *     then
   */
  static <T extends SpecificRecord> Map<String, Entry<T>> entries(
      Pipeline pipeline, String topic, Class<T> type) {
    Map<String, Entry<T>> table = new TreeMap<>();
    try (AvroDeserializer<T> deserializer = new AvroDeserializer<>(pipeline.registry(), type)) {
      pipeline
          .reader()
          .readCompacted(topic)
          .forEach((key, record) -> table.put(key, entry(deserializer, record)));
    }
    return table;
  }

  private static <T extends SpecificRecord> Entry<T> entry(
      AvroDeserializer<T> deserializer, ConsumerRecord<byte[], byte[]> record) {
    try {
      T value = deserializer.deserialize(record.topic(), record.value());
      return new Entry<>(value, null, record.partition(), record.offset());
    } catch (UndecodableRecordException e) {
      if (e.isRetriable()) {
        throw e;
      }
      return new Entry<>(null, e.getMessage(), record.partition(), record.offset());
    }
  }
}
