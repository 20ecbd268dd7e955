package dev.fairway.it.crash;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Sits in an agent's Kafka clients and writes down what goes over the wire: what was handed to the
 * producer, what the broker acknowledged, and what was read. Kafka makes the instances; what they
 * saw is found by client id.
 */
public final class WireTap
    implements ProducerInterceptor<String, SpecificRecord>, ConsumerInterceptor<byte[], byte[]> {

  private static final ConcurrentMap<String, Seen> SEEN = new ConcurrentHashMap<>();

  /** A reply as bytes: the registry that tells how to read it may be down just now. */
  record Reply(Coordinates at, byte[] value, long receivedAtMs) {}

  /** What one client id saw. */
  record Seen(Queue<SpecificRecord> sent, Queue<Coordinates> acknowledged, Queue<Reply> received) {
    Seen() {
      this(
          new ConcurrentLinkedQueue<>(),
          new ConcurrentLinkedQueue<>(),
          new ConcurrentLinkedQueue<>());
    }

    List<SpecificRecord> sentSoFar() {
      return List.copyOf(sent);
    }
  }

  private Seen seen;

  /** What the clients with this id saw so far. */
  static Seen of(String clientId) {
    return SEEN.computeIfAbsent(clientId, id -> new Seen());
  }

  /** Forgets everything, so that another run begins with nothing. */
  static void clear() {
    SEEN.clear();
  }

  @Override
  public void configure(Map<String, ?> configs) {
    seen = of(configs.get("client.id").toString());
  }

  @Override
  public ProducerRecord<String, SpecificRecord> onSend(
      ProducerRecord<String, SpecificRecord> record) {
    seen.sent().add(record.value());
    return record;
  }

  @Override
  public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
    if (exception == null) {
      seen.acknowledged()
          .add(new Coordinates(metadata.topic(), metadata.partition(), metadata.offset()));
    }
  }

  @Override
  public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
    long nowMs = System.currentTimeMillis();
    for (ConsumerRecord<byte[], byte[]> record : records) {
      seen.received()
          .add(
              new Reply(
                  new Coordinates(record.topic(), record.partition(), record.offset()),
                  record.value(),
                  nowMs));
    }
    return records;
  }

  @Override
  public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

  @Override
  public void close() {}
}
