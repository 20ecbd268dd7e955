package dev.fairway.dispatcher;

import dev.fairway.dispatcher.Decoder.NotYetException;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.Ids;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the table of agents equal to its topic: reads it from the beginning, all partitions,
 * without a group, and follows it. Used by the loop's thread.
 */
final class AgentsReader {

  private static final Logger log = LoggerFactory.getLogger(AgentsReader.class);
  private static final Duration LOAD_POLL = Duration.ofMillis(100);

  private final Consumer<byte[], byte[]> consumer;
  private final String topic;
  private final Decoder<AgentRegistration> decoder;
  private final AgentTable table;
  private final LongSupplier clock;
  private final Changes changes;

  /** Offset of the next record that is not known, by partition. */
  private final Map<TopicPartition, Long> next = new HashMap<>();

  AgentsReader(
      Consumer<byte[], byte[]> consumer,
      String topic,
      Decoder<AgentRegistration> decoder,
      AgentTable table,
      LongSupplier clock,
      Changes changes) {
    this.consumer = consumer;
    this.topic = topic;
    this.decoder = decoder;
    this.table = table;
    this.clock = clock;
    this.changes = changes;
  }

  /** A consumer for this cluster that belongs to no group. */
  static Consumer<byte[], byte[]> newConsumer(DispatcherConfig config) {
    Map<String, Object> settings = new HashMap<>();
    settings.put(ConsumerConfig.CLIENT_ID_CONFIG, "fairway-dispatcher-agents");
    settings.putAll(config.clientSettings());
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /**
   * Reads everything that is there now.
   *
   * @param timeout longest wait
   * @throws NotReadyException if that does not suffice
   */
  void load(Duration timeout) {
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream()
            .map(p -> new TopicPartition(p.topic(), p.partition()))
            .toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
      if (System.nanoTime() - deadlineNanos > 0) {
        throw new NotReadyException(
            "Expected to read topic %s within %d s, but its end was not reached. Check the brokers and the schema registry."
                .formatted(topic, timeout.toSeconds()));
      }
      poll(LOAD_POLL);
    }
  }

  /** Takes over what has changed since. */
  void poll(Duration timeout) {
    ConsumerRecords<byte[], byte[]> records = consumer.poll(timeout);
    for (TopicPartition partition : records.partitions()) {
      for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
        try {
          apply(record, record.offset() < next.getOrDefault(partition, 0L));
        } catch (NotYetException e) {
          log.warn("Registrations cannot be read now, and will be again: {}", e.getMessage());
          goBack(records, record);
          return;
        }
        next.merge(partition, record.offset() + 1, Math::max);
      }
    }
  }

  /**
   * Has everything read again by the polls that follow, for those that cannot be used: what is
   * known changes nothing a second time.
   */
  void reread() {
    consumer.seekToBeginning(consumer.assignment());
  }

  /**
   * What follows a record in its partition, and all of the partitions after it, was not handled.
   */
  private void goBack(
      ConsumerRecords<byte[], byte[]> records, ConsumerRecord<byte[], byte[]> record) {
    TopicPartition stopped = new TopicPartition(record.topic(), record.partition());
    boolean handled = true;
    for (TopicPartition partition : records.partitions()) {
      if (partition.equals(stopped)) {
        consumer.seek(partition, record.offset());
        handled = false;
      } else if (!handled) {
        consumer.seek(partition, records.records(partition).get(0).offset());
      }
    }
  }

  /**
   * Takes over one record.
   *
   * @param known whether that was done before
   */
  private void apply(ConsumerRecord<byte[], byte[]> record, boolean known) throws NotYetException {
    String agentId = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
    if (!Ids.isId(agentId)) {
      refuse(record, DeadLetterReason.KEY_MISMATCH, "Expected an agent id as record key.");
      return;
    }
    if (record.value() == null) {
      if (!known) {
        table.retire(agentId, record.timestamp());
        changes.retired(agentId);
      }
      return;
    }
    AgentRegistration registration = decoder.decode(record, clock.getAsLong());
    if (registration == null) {
      return;
    }
    if (!registration.getAgentId().equals(agentId)) {
      refuse(
          record,
          DeadLetterReason.KEY_MISMATCH,
          "Expected the registration of agent "
              + agentId
              + ", its record key, but its value names another agent.");
      return;
    }
    if (!changes.isRoutable(registration)) {
      // It is taken nevertheless: what was there before is not what somebody wants now.
      refuse(
          record,
          DeadLetterReason.INVALID,
          "Expected a reply topic and partition that may be written to; decisions for agent "
              + agentId
              + " are dropped.");
    }
    if (!known) {
      take(registration);
    }
  }

  private void take(AgentRegistration registration) {
    String agentId = registration.getAgentId();
    AgentRegistration before = table.get(agentId);
    if (!table.put(registration)) {
      log.warn("Registration of agent {} not taken: {} are registered.", agentId, table.size());
    } else if (before != null && !isSameAddress(before, registration)) {
      changes.rerouted(registration);
    }
  }

  private void refuse(
      ConsumerRecord<byte[], byte[]> record, DeadLetterReason reason, String detail) {
    log.warn(
        "Registration at {}-{} offset {} is bad: {}",
        record.topic(),
        record.partition(),
        record.offset(),
        detail);
    changes.refused(record, reason, detail);
  }

  private static boolean isSameAddress(AgentRegistration a, AgentRegistration b) {
    return Objects.equals(a.getReplyTopic(), b.getReplyTopic())
        && Objects.equals(a.getReplyPartition(), b.getReplyPartition());
  }

  /** Hears of changes that concern replies under way. */
  interface Changes {

    /** The agent is gone. */
    void retired(String agentId);

    /** A record that cannot be used, and why. */
    void refused(ConsumerRecord<byte[], byte[]> record, DeadLetterReason reason, String detail);

    /** Whether decisions may go where this registration says. */
    boolean isRoutable(AgentRegistration registration);

    /** The agent's decisions go somewhere else. */
    void rerouted(AgentRegistration registration);
  }
}
