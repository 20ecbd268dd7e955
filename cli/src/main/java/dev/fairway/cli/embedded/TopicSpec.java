package dev.fairway.cli.embedded;

import dev.fairway.schemas.Topics;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What one topic of the protocol has to be.
 *
 * @param name full name
 * @param byKey whether it is partitioned by key: all such topics have the same number of
 *     partitions; the others have one
 * @param compacted whether the last record of each key is kept for ever
 * @param retention how long a record is kept; not used for compacted topics
 * @param messageBytesMax longest record batch, in bytes
 */
record TopicSpec(
    String name, boolean byKey, boolean compacted, Duration retention, int messageBytesMax) {

  /** What clients may send: Kafka's own default. */
  private static final int CLIENT_BYTES_MAX = 1_048_588;

  /**
   * A journal record holds its command in full, and a dead letter the record in full, so both
   * outgrow it.
   */
  private static final int OWN_BYTES_MAX = EmbeddedKafka.MESSAGE_MAX_BYTES;

  private static final Duration FOR_EVER = Duration.ofMillis(-1);

  /** Retention deletes whole segments, so a segment lasts a fraction of it. */
  private static final int SEGMENTS_PER_RETENTION = 8;

  /** All topics that exist before the first agent comes. Reply topics are the dispatcher's. */
  static List<TopicSpec> all(Topics topics) {
    return List.of(
        compacted(topics.quotas(), true),
        client(topics.requests()),
        client(topics.settlements()),
        client(topics.tasks()),
        client(topics.transfers()),
        compacted(topics.agents(), false),
        new TopicSpec(topics.journal(), true, false, Duration.ofDays(7), OWN_BYTES_MAX),
        new TopicSpec(topics.deadLetters(), true, false, Duration.ofDays(7), OWN_BYTES_MAX));
  }

  private static TopicSpec client(String name) {
    return new TopicSpec(name, true, false, Duration.ofDays(1), CLIENT_BYTES_MAX);
  }

  private static TopicSpec compacted(String name, boolean byKey) {
    return new TopicSpec(name, byKey, true, FOR_EVER, CLIENT_BYTES_MAX);
  }

  /** Configuration to create it with. */
  Map<String, String> config(TopicLayout layout) {
    Map<String, String> config = new HashMap<>();
    // The broker's own clock: a producer's clock must not order anything.
    config.put("message.timestamp.type", "LogAppendTime");
    config.put("cleanup.policy", cleanupPolicy());
    config.put("retention.ms", Long.toString(retention.toMillis()));
    config.put(
        "segment.ms",
        Long.toString(
            compacted
                ? Duration.ofDays(1).toMillis()
                : retention.toMillis() / SEGMENTS_PER_RETENTION));
    config.put("max.message.bytes", Integer.toString(messageBytesMax));
    config.put("min.insync.replicas", Integer.toString(layout.minInsyncReplicas()));
    return config;
  }

  String cleanupPolicy() {
    return compacted ? "compact" : "delete";
  }
}
