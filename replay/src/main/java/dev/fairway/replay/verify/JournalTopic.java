package dev.fairway.replay.verify;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerdeConfig;
import dev.fairway.schemas.serde.SchemaRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The journal in its topic, all partitions, from their beginnings to the ends they have when this
 * is made. What an open or aborted transaction wrote is not in it. Not thread-safe.
 */
public final class JournalTopic implements JournalSource {
  private static final Duration POLL = Duration.ofMillis(200);

  private final Consumer<byte[], AdmissionEvent> consumer;
  private final Duration patience;
  private final Map<TopicPartition, Long> ends;
  private final Queue<ConsumerRecord<byte[], AdmissionEvent>> records = new ArrayDeque<>();

  /**
   * Connects to a cluster.
   *
   * @param registryUrl schema registry, or null: every record is taken to be written with the
   *     schema of this version
   * @throws IOException if there is no such topic or the broker does not answer
   */
  public static JournalTopic connect(
      String bootstrap, String registryUrl, Topics topics, Duration patience) throws IOException {
    Map<String, Object> settings =
        Map.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
            bootstrap,
            ConsumerConfig.ISOLATION_LEVEL_CONFIG,
            "read_committed",
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
            false,
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
            "earliest");
    AvroDeserializer<AdmissionEvent> values;
    if (registryUrl == null) {
      values = new AvroDeserializer<>(new OneSchema(), AdmissionEvent.class);
    } else {
      values = new AvroDeserializer<>();
      values.configure(
          Map.of(
              AvroSerdeConfig.SCHEMA_REGISTRY_URL,
              registryUrl,
              AvroSerdeConfig.SPECIFIC_AVRO_VALUE_TYPE,
              AdmissionEvent.class),
          false);
    }
    try {
      return new JournalTopic(
          new KafkaConsumer<>(settings, new ByteArrayDeserializer(), values),
          topics.journal(),
          patience);
    } catch (KafkaException e) {
      throw new IOException("expected a broker at " + bootstrap + ", but: " + e.getMessage(), e);
    }
  }

  /**
   * Looks up the ends.
   *
   * @param consumer a {@code read_committed} consumer without a group; {@link #close} closes it
   * @param topic name of the journal
   * @param patience how long to wait for the broker at most, here and for each next record
   * @throws IOException if there is no such topic or the broker does not answer
   */
  JournalTopic(Consumer<byte[], AdmissionEvent> consumer, String topic, Duration patience)
      throws IOException {
    this.consumer = consumer;
    this.patience = patience;
    try {
      List<PartitionInfo> partitions = consumer.partitionsFor(topic, patience);
      if (partitions == null || partitions.isEmpty()) {
        throw new IOException(
            "expected a journal, but there is no topic "
                + topic
                + "; check --bootstrap and --prefix");
      }
      List<TopicPartition> all =
          partitions.stream().map(p -> new TopicPartition(p.topic(), p.partition())).toList();
      consumer.assign(all);
      consumer.seekToBeginning(all);
      ends = consumer.endOffsets(all, patience);
    } catch (KafkaException | IOException e) {
      consumer.close();
      throw new IOException("expected to read topic " + topic + ", but: " + e.getMessage(), e);
    }
  }

  @Override
  public AdmissionEvent next() throws IOException {
    long deadlineNanos = System.nanoTime() + patience.toNanos();
    try {
      while (records.isEmpty() && !atEnd()) {
        for (ConsumerRecord<byte[], AdmissionEvent> record : consumer.poll(POLL)) {
          if (record.offset() < ends.get(new TopicPartition(record.topic(), record.partition()))) {
            records.add(record);
          }
        }
        if (records.isEmpty() && System.nanoTime() > deadlineNanos) {
          throw new IOException(
              "expected to reach the ends "
                  + ends
                  + ", but nothing came for "
                  + patience.toSeconds()
                  + " s; is a broker down?");
        }
      }
    } catch (SerializationException e) {
      throw new IOException(
          "expected journal records in Avro, but: " + e.getMessage() + "; check --registry", e);
    } catch (KafkaException e) {
      throw new IOException("expected to read the journal, but: " + e.getMessage(), e);
    }
    ConsumerRecord<byte[], AdmissionEvent> next = records.poll();
    return next == null ? null : next.value();
  }

  @Override
  public void close() {
    consumer.close();
  }

  /** Every id is the schema of this version. */
  private static final class OneSchema implements SchemaRegistry {
    @Override
    public int register(String subject, Schema schema) {
      throw new UnsupportedOperationException("Only read");
    }

    @Override
    public int idOf(String subject, Schema schema) {
      throw new UnsupportedOperationException("Only read");
    }

    @Override
    public Schema byId(int id) {
      return AdmissionEvent.getClassSchema();
    }
  }

  /** Positions tell; offsets have gaps, so no record need carry the last one. */
  private boolean atEnd() {
    for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
      if (consumer.position(end.getKey(), patience) < end.getValue()) {
        return false;
      }
    }
    return true;
  }
}
