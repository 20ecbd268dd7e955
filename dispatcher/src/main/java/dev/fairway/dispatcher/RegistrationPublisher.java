package dev.fairway.dispatcher;

import dev.fairway.dispatcher.ReplySender.Attempt;
import dev.fairway.schemas.AgentRegistration;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes registrations to the topic of agents, again until it is acknowledged. Of an agent's
 * registrations that wait only the last is written, so at most one an agent waits. Used by the
 * loop's thread.
 */
final class RegistrationPublisher implements AgentDirectory.RegistrationWriter {

  private static final Logger log = LoggerFactory.getLogger(RegistrationPublisher.class);
  private static final long NO_METADATA_PAUSE_MS = 20;
  private static final long FAILURE_PAUSE_MS = 1_000;

  private final String topic;
  private final NonBlockingProducer producer;
  private final Serializer<? super AgentRegistration> serializer;
  private final Map<String, Entry> waiting = new LinkedHashMap<>();
  private long retryAtMs = Long.MIN_VALUE;
  private boolean failed;

  RegistrationPublisher(
      String topic,
      NonBlockingProducer producer,
      Serializer<? super AgentRegistration> serializer) {
    this.topic = topic;
    this.producer = producer;
    this.serializer = serializer;
  }

  @Override
  public void publish(String agentId, AgentRegistration registration) {
    waiting.put(agentId, new Entry(serializer.serialize(topic, registration)));
  }

  /** Sends what waits. */
  void flush(long nowMs) {
    if (failed) {
      failed = false;
      retryAtMs = nowMs + FAILURE_PAUSE_MS;
    }
    if (waiting.isEmpty() || nowMs < retryAtMs) {
      return;
    }
    Iterator<Map.Entry<String, Entry>> entries = waiting.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<String, Entry> next = entries.next();
      Attempt attempt = send(next.getKey(), next.getValue());
      if (attempt == Attempt.NO_METADATA || attempt == Attempt.BUFFER_FULL) {
        retryAtMs = nowMs + NO_METADATA_PAUSE_MS;
        return;
      }
      entries.remove();
    }
  }

  private Attempt send(String agentId, Entry entry) {
    byte[] key = agentId.getBytes(StandardCharsets.UTF_8);
    return producer.send(
        new ProducerRecord<>(topic, key, entry.value),
        error -> {
          if (error != null) {
            log.warn("Registration of agent {} cannot be written: {}", agentId, error.toString());
            failed = true;
            waiting.putIfAbsent(agentId, entry);
          }
        });
  }

  /** A value, null for a tombstone. */
  private static final class Entry {

    private final byte[] value;

    Entry(byte[] value) {
      this.value = value;
    }
  }
}
