package dev.fairway.dispatcher;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The journal as one member of the dispatchers' group reads it, with what may be committed of each
 * partition. Used by the loop's thread.
 *
 * <p>It polls on while nothing more should be read: partitions are paused then, so the group never
 * thinks this member dead.
 */
final class JournalReader {

  private static final Logger log = LoggerFactory.getLogger(JournalReader.class);
  private static final Duration COMMIT_TIMEOUT = Duration.ofSeconds(5);
  private static final int LEADER_PARTITION = 0;

  private final Consumer<byte[], byte[]> consumer;
  private final String topic;
  private final DispatcherMetrics metrics;
  private final Runnable onPartitionsGone;
  private final Map<TopicPartition, OffsetTracker> trackers = new HashMap<>();
  private final Set<TopicPartition> assigned = new HashSet<>();
  private final Map<TopicPartition, Long> retryAtMs = new HashMap<>();

  /**
   * A reader that joins the group with its first poll.
   *
   * @param onPartitionsGone called inside a poll, after trackers were revoked
   */
  JournalReader(
      Consumer<byte[], byte[]> consumer,
      String topic,
      DispatcherMetrics metrics,
      Runnable onPartitionsGone) {
    this.consumer = consumer;
    this.topic = topic;
    this.metrics = metrics;
    this.onPartitionsGone = onPartitionsGone;
    consumer.subscribe(List.of(topic), new Rebalances());
  }

  /** A consumer for this cluster and group. */
  static Consumer<byte[], byte[]> newConsumer(DispatcherConfig config) {
    Map<String, Object> settings = new HashMap<>();
    settings.put(ConsumerConfig.CLIENT_ID_CONFIG, "fairway-dispatcher-journal");
    settings.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 10_000);
    settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1_000);
    settings.put(
        ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
        CooperativeStickyAssignor.class.getName());
    settings.putAll(config.clientSettings());
    settings.put(ConsumerConfig.GROUP_ID_CONFIG, config.groupId());
    settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    // A group that is new may have an agent waiting already; what is too old is dropped by its age.
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** Reads on; empty while {@code paused}. */
  ConsumerRecords<byte[], byte[]> poll(Duration timeout, boolean paused, long nowMs) {
    retryAtMs.values().removeIf(at -> at <= nowMs);
    Set<TopicPartition> toPause = new HashSet<>(paused ? assigned : retryAtMs.keySet());
    toPause.retainAll(assigned);
    Set<TopicPartition> toResume = new HashSet<>(consumer.paused());
    toResume.removeAll(toPause);
    consumer.pause(toPause);
    consumer.resume(toResume);
    return consumer.poll(timeout);
  }

  /** What may be committed of a record's partition; it stays the same until that is taken away. */
  OffsetTracker trackerOf(ConsumerRecord<byte[], byte[]> record) {
    return trackers.computeIfAbsent(
        new TopicPartition(record.topic(), record.partition()),
        partition -> new OffsetTracker(record.offset()));
  }

  /** All records of these partitions that were polled have been handled. */
  void handled(Collection<TopicPartition> partitions) {
    for (TopicPartition partition : partitions) {
      OffsetTracker tracker = trackers.get(partition);
      if (tracker != null) {
        tracker.readUpTo(consumer.position(partition));
      }
    }
  }

  /** Reads this record and what follows it in its partition again, not before then. */
  void retry(ConsumerRecord<byte[], byte[]> record, long atMs) {
    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
    consumer.seek(partition, record.offset());
    retryAtMs.put(partition, atMs);
  }

  /** Commits what is finished; does not wait. */
  void commit() {
    Map<TopicPartition, OffsetAndMetadata> offsets = takeCommittable(trackers.keySet());
    if (!offsets.isEmpty()) {
      consumer.commitAsync(
          offsets,
          (committed, error) -> {
            if (error != null) {
              commitFailed(committed.keySet(), error);
            }
          });
    }
  }

  /** Whether partitions are assigned; a spare member of the group has none. */
  int partitions() {
    return assigned.size();
  }

  /**
   * Whether this member does what is done once for all dispatchers: it has the journal's first
   * partition, which exactly one member has.
   */
  boolean isLeader() {
    return assigned.contains(new TopicPartition(topic, LEADER_PARTITION));
  }

  /** Offsets between the positions and the ends of the partitions, as of the last fetches. */
  long lag() {
    return assigned.stream()
        .map(consumer::currentLag)
        .filter(OptionalLong::isPresent)
        .mapToLong(OptionalLong::getAsLong)
        .sum();
  }

  /**
   * When the oldest unfinished record was appended, epoch milliseconds; empty if all are finished.
   */
  OptionalLong oldestUnfinishedMs() {
    return trackers.values().stream()
        .map(OffsetTracker::oldestAppendedMs)
        .filter(OptionalLong::isPresent)
        .mapToLong(OptionalLong::getAsLong)
        .min();
  }

  private Map<TopicPartition, OffsetAndMetadata> takeCommittable(
      Collection<TopicPartition> partitions) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (TopicPartition partition : partitions) {
      OffsetTracker tracker = trackers.get(partition);
      OptionalLong offset = tracker == null ? OptionalLong.empty() : tracker.committable();
      if (offset.isPresent()) {
        offsets.put(partition, new OffsetAndMetadata(offset.getAsLong()));
        tracker.committed(offset.getAsLong());
      }
    }
    return offsets;
  }

  private void commitFailed(Collection<TopicPartition> partitions, Exception error) {
    metrics.commitFailed();
    log.warn("Offsets cannot be committed, and will be again: {}", error.toString());
    for (TopicPartition partition : partitions) {
      OffsetTracker tracker = trackers.get(partition);
      if (tracker != null) {
        tracker.commitFailed();
      }
    }
  }

  private final class Rebalances implements ConsumerRebalanceListener {

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      assigned.addAll(partitions);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      Map<TopicPartition, OffsetAndMetadata> offsets = takeCommittable(partitions);
      if (!offsets.isEmpty()) {
        try {
          consumer.commitSync(offsets, COMMIT_TIMEOUT);
        } catch (KafkaException e) {
          // The next owner delivers again what was not committed.
          commitFailed(partitions, e);
        }
      }
      onPartitionsLost(partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
      for (TopicPartition partition : partitions) {
        assigned.remove(partition);
        retryAtMs.remove(partition);
        OffsetTracker tracker = trackers.remove(partition);
        if (tracker != null) {
          tracker.revoke();
        }
      }
      onPartitionsGone.run();
    }
  }
}
