package dev.fairway.it.crash;

import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerdeConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads whole topics, as they are now, committed records only. Not thread-safe. */
final class TopicDump implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final long STALLED_NANOS = Duration.ofSeconds(60).toNanos();

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final AvroDeserializer<SpecificRecord> values = new AvroDeserializer<>();

  TopicDump(String bootstrap, String registryUrl) {
    consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                bootstrap,
                "isolation.level",
                "read_committed",
                "enable.auto.commit",
                false,
                "auto.offset.reset",
                "earliest"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    values.configure(Map.of(AvroSerdeConfig.SCHEMA_REGISTRY_URL, registryUrl), false);
  }

  /** Names of topics. */
  List<String> topics(Pattern pattern) {
    return consumer.listTopics().keySet().stream()
        .filter(name -> pattern.matcher(name).matches())
        .sorted()
        .toList();
  }

  /** Every record of a topic, in order within its partitions. */
  List<ConsumerRecord<byte[], byte[]>> read(String topic) {
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream()
            .map(partition -> new TopicPartition(topic, partition.partition()))
            .toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    long deadlineNanos = System.nanoTime() + STALLED_NANOS;
    while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
      consumer.poll(POLL).forEach(records::add);
      if (System.nanoTime() > deadlineNanos) {
        throw new IllegalStateException("Expected to reach the ends " + ends + " of " + topic);
      }
    }
    return records;
  }

  /** The record that a value holds. */
  SpecificRecord decode(String topic, byte[] value) {
    return values.deserialize(topic, value);
  }

  static Coordinates at(ConsumerRecord<?, ?> record) {
    return new Coordinates(record.topic(), record.partition(), record.offset());
  }

  @Override
  public void close() {
    consumer.close();
  }
}
