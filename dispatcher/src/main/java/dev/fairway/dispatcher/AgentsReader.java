package dev.fairway.dispatcher;

import dev.fairway.dispatcher.Decoder.NotYetException;
import dev.fairway.schemas.AgentRegistration;
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
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(timeout)) {
      try {
        apply(record);
      } catch (NotYetException e) {
        // What follows in other partitions was polled too, and is given up with this record: the
        // table
        // is read anew, which changes nothing where it is right already.
        log.warn("Registrations cannot be read now, and will be again: {}", e.getMessage());
        consumer.seekToBeginning(consumer.assignment());
        return;
      }
    }
  }

  private void apply(ConsumerRecord<byte[], byte[]> record) throws NotYetException {
    String agentId = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
    if (!Ids.isId(agentId)) {
      log.warn(
          "Registration at {}-{} offset {} skipped: Expected an agent id as record key.",
          record.topic(),
          record.partition(),
          record.offset());
      return;
    }
    if (record.value() == null) {
      table.retire(agentId, record.timestamp());
      changes.retired(agentId);
      return;
    }
    AgentRegistration registration = decoder.decode(record, clock.getAsLong());
    if (registration == null) {
      return;
    }
    if (!registration.getAgentId().equals(agentId)) {
      log.warn("Registration of agent {} skipped: its value names another agent.", agentId);
      return;
    }
    AgentRegistration before = table.get(agentId);
    if (!table.put(registration)) {
      log.warn("Registration of agent {} not taken: {} are registered.", agentId, table.size());
    } else if (before != null && !isSameAddress(before, registration)) {
      changes.rerouted(registration);
    }
  }

  private static boolean isSameAddress(AgentRegistration a, AgentRegistration b) {
    return Objects.equals(a.getReplyTopic(), b.getReplyTopic())
        && Objects.equals(a.getReplyPartition(), b.getReplyPartition());
  }

  /** Hears of changes that concern replies under way. */
  interface Changes {

    /** The agent is gone. */
    void retired(String agentId);

    /** The agent's decisions go somewhere else. */
    void rerouted(AgentRegistration registration);
  }
}
