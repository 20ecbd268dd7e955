package dev.fairway.cli.ops;

import dev.fairway.cli.CliException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads what a topic holds now, committed records only, and stops. A reader belongs to no group and
 * moves nobody's offsets. Not thread-safe.
 */
public final class TopicReader {

  private static final Duration POLL = Duration.ofMillis(200);
  private static final int STALLED_S = 30;

  private final Map<String, Object> settings;

  TopicReader(Map<String, Object> clientSettings) {
    settings = new HashMap<>(clientSettings);
    settings.put("isolation.level", "read_committed");
    settings.put("allow.auto.create.topics", false);
    settings.put("enable.auto.commit", false);
    settings.put("auto.offset.reset", "earliest");
    settings.put("default.api.timeout.ms", 10_000);
  }

  /** Which part of a topic is read. */
  public sealed interface From {
    /** All that is kept. */
    record Beginning() implements From {}

    /** What the broker appended at or after a time, epoch milliseconds. */
    record Time(long ms) implements From {}

    /** One partition from an offset on. */
    record Offset(int partition, long offset) implements From {}
  }

  /**
   * Gives every record of a topic, in order within each partition, until the end that the topic had
   * at the call, or until {@code wanted} answers false.
   *
   * @param wanted false: no more
   * @throws CliException if the topic does not exist or the broker stops answering
   */
  public void read(String topic, From from, Predicate<ConsumerRecord<byte[], byte[]>> wanted) {
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = partitions(consumer, topic, from);
      consumer.assign(partitions);
      seek(consumer, partitions, from);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      long progress_ns = System.nanoTime();
      while (!atEnd(consumer, ends)) {
        boolean any = false;
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          any = true;
          if (record.offset() < ends.get(new TopicPartition(topic, record.partition()))
              && !wanted.test(record)) {
            return;
          }
        }
        if (any) {
          progress_ns = System.nanoTime();
        } else if (System.nanoTime() - progress_ns > TimeUnit.SECONDS.toNanos(STALLED_S)) {
          throw new CliException(
              "Expected the rest of "
                  + topic
                  + ", but the broker sent nothing for "
                  + STALLED_S
                  + " s. Check that it runs.");
        }
      }
    }
  }

  /**
   * The last record of each key of a compacted topic, in order of arrival; without those that a
   * tombstone ended.
   */
  public Map<String, ConsumerRecord<byte[], byte[]>> readCompacted(String topic) {
    Map<String, ConsumerRecord<byte[], byte[]>> last = new LinkedHashMap<>();
    read(
        topic,
        new From.Beginning(),
        record -> {
          String key = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
          if (record.value() == null) {
            last.remove(key);
          } else {
            last.put(key, record);
          }
          return true;
        });
    return last;
  }

  private static List<TopicPartition> partitions(
      KafkaConsumer<byte[], byte[]> consumer, String topic, From from) {
    List<PartitionInfo> infos = consumer.partitionsFor(topic);
    if (infos == null || infos.isEmpty()) {
      throw new CliException(
          "Expected topic "
              + topic
              + ", but this Kafka does not have it. Check --prefix, or start 'fairway up' once, which creates it.");
    }
    List<TopicPartition> all =
        infos.stream().map(info -> new TopicPartition(topic, info.partition())).toList();
    if (from instanceof From.Offset one) {
      TopicPartition partition = new TopicPartition(topic, one.partition());
      if (!all.contains(partition)) {
        throw new CliException(
            "Expected a partition of "
                + topic
                + " from 0 to "
                + (all.size() - 1)
                + ", but found "
                + one.partition()
                + ".");
      }
      return List.of(partition);
    }
    return all;
  }

  private static void seek(
      KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions, From from) {
    if (from instanceof From.Offset one) {
      consumer.seek(partitions.get(0), one.offset());
    } else if (from instanceof From.Time since) {
      Map<TopicPartition, Long> times = new HashMap<>();
      partitions.forEach(partition -> times.put(partition, since.ms()));
      Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(times);
      for (TopicPartition partition : partitions) {
        OffsetAndTimestamp offset = found.get(partition);
        if (offset == null) {
          consumer.seekToEnd(List.of(partition));
        } else {
          consumer.seek(partition, offset.offset());
        }
      }
    } else {
      consumer.seekToBeginning(partitions);
    }
  }

  /**
   * By position, which also passes the markers of transactions; the number of records says nothing
   * about it.
   */
  private static boolean atEnd(
      KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
  }
}
