package dev.fairway.replay.verify;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerdeConfig;
import dev.fairway.schemas.serde.SchemaRegistry;
import dev.fairway.schemas.serde.UndecodableRecordException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The journal in its topic, all partitions, from their beginnings to the ends they have when this
 * is made. What an open or aborted transaction wrote is not in it. Not thread-safe.
 */
public final class JournalTopic implements JournalSource {
  private static final Duration POLL = Duration.ofMillis(200);

  /** A snapshot's chunk outgrows what clients may send; no topic should take more than this. */
  private static final int VALUE_BYTES_MAX = 16 * 1024 * 1024;

  /** Longest key of the protocol. */
  private static final int KEY_SHOWN_MAX = 100;

  private final Consumer<byte[], byte[]> consumer;
  private final AvroDeserializer<AdmissionEvent> values;
  private final Duration patience;
  private final Map<TopicPartition, Long> ends;
  private final Queue<ConsumerRecord<byte[], byte[]>> records = new ArrayDeque<>();

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
      values = new AvroDeserializer<>(new OneSchema(), AdmissionEvent.class, VALUE_BYTES_MAX);
    } else {
      values = new AvroDeserializer<>();
      values.configure(
          Map.of(
              AvroSerdeConfig.SCHEMA_REGISTRY_URL,
              registryUrl,
              AvroSerdeConfig.SPECIFIC_AVRO_VALUE_TYPE,
              AdmissionEvent.class,
              AvroSerdeConfig.MAX_BYTES,
              VALUE_BYTES_MAX),
          false);
    }
    try {
      return new JournalTopic(
          new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer()),
          values,
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
   * @param values reads what stands in the topic; {@link #close} closes it
   * @param topic name of the journal
   * @param patience how long to wait for the broker at most, here and for each next record
   * @throws IOException if there is no such topic or the broker does not answer
   */
  JournalTopic(
      Consumer<byte[], byte[]> consumer,
      AvroDeserializer<AdmissionEvent> values,
      String topic,
      Duration patience)
      throws IOException {
    this.consumer = consumer;
    this.values = values;
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
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
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
    } catch (KafkaException e) {
      throw new IOException("expected to read the journal, but: " + e.getMessage(), e);
    }
    ConsumerRecord<byte[], byte[]> next = records.poll();
    return next == null ? null : event(next);
  }

  private AdmissionEvent event(ConsumerRecord<byte[], byte[]> record) throws IOException {
    AdmissionEvent event;
    try {
      event = values.deserialize(record.topic(), record.value());
    } catch (UndecodableRecordException e) {
      if (e.isRetriable()) {
        throw new IOException(
            "expected to read the journal, but: " + e.getMessage() + " Check --registry.", e);
      }
      throw unreadable(record, e.getMessage(), e);
    }
    if (event == null) {
      throw unreadable(record, "it has no value.", null);
    }
    if (!event.getKey().equals(text(record.key()))) {
      throw unreadable(record, "its value is of key '" + event.getKey() + "'.", null);
    }
    return event;
  }

  private static UnreadableRecordException unreadable(
      ConsumerRecord<byte[], byte[]> record, String found, Throwable cause) {
    return new UnreadableRecordException(
        "partition "
            + record.partition()
            + ", offset "
            + record.offset()
            + ": expected a journal record, but found one with "
            + (record.key() == null ? "no key" : "key '" + text(record.key()) + "'")
            + " and "
            + (record.value() == null ? 0 : record.value().length)
            + " bytes: "
            + found
            + " If all are like it, check --registry; else see who but the coordinator may write"
            + " into "
            + record.topic()
            + ".",
        cause);
  }

  /** A key as printable text, cut where it is long: nobody knows who wrote it. */
  private static String text(byte[] key) {
    if (key == null) {
      return "";
    }
    String text = new String(key, StandardCharsets.UTF_8);
    StringBuilder printable = new StringBuilder();
    text.codePoints()
        .limit(KEY_SHOWN_MAX)
        .map(c -> Character.isISOControl(c) ? '?' : c)
        .forEach(printable::appendCodePoint);
    return printable.toString();
  }

  @Override
  public void close() {
    consumer.close();
    values.close();
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
