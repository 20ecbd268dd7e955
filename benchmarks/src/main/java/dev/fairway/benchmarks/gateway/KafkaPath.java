package dev.fairway.benchmarks.gateway;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The way of a decision through Kafka with nothing of Fairway on it: a request is read, answered in
 * a transaction with its offset, read once that is committed, and passed on to who asked. No lease
 * can come sooner through the same broker.
 */
final class KafkaPath implements AutoCloseable {
  /** Where a request is. */
  enum Stage {
    /** Sent, and with who decides. */
    REQUEST("request to coordinator"),
    /** Answered, the transaction committed, and with who delivers. */
    COMMIT("commit to dispatcher"),
    /** Sent on, and with who asked. */
    REPLY("reply to who asked");

    final String words;

    Stage(String words) {
      this.words = words;
    }
  }

  private static final String REQUESTS = "bench.requests";
  private static final String JOURNAL = "bench.journal";
  private static final String REPLIES = "bench.replies";
  private static final Duration POLL = Duration.ofMillis(100);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final String bootstrap;
  private final KafkaConsumer<byte[], byte[]> requests;
  private final KafkaConsumer<byte[], byte[]> journal;
  private final KafkaConsumer<byte[], byte[]> replies;
  private final KafkaProducer<byte[], byte[]> asks;
  private final KafkaProducer<byte[], byte[]> decides;
  private final KafkaProducer<byte[], byte[]> delivers;
  private final List<Thread> threads;
  private final Map<Stage, Histogram> stages = new EnumMap<>(Stage.class);
  private volatile boolean closed;

  KafkaPath(String bootstrap) throws Exception {
    this.bootstrap = bootstrap;
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", (Object) bootstrap))) {
      admin
          .createTopics(
              List.of(
                  new NewTopic(REQUESTS, 1, (short) 1),
                  new NewTopic(JOURNAL, 1, (short) 1),
                  new NewTopic(REPLIES, 1, (short) 1)))
          .all()
          .get(30, TimeUnit.SECONDS);
    }
    requests = consumer(REQUESTS, "read_uncommitted");
    journal = consumer(JOURNAL, "read_committed");
    replies = consumer(REPLIES, "read_uncommitted");
    asks = producer(null);
    decides = producer("bench-coordinator");
    delivers = producer(null);
    decides.initTransactions();
    clear();
    threads =
        List.of(
            new Thread(() -> loop(requests, this::decide), "bench-coordinator"),
            new Thread(() -> loop(journal, this::deliver), "bench-dispatcher"));
    threads.forEach(Thread::start);
  }

  /** Asks, and waits for the answer; nanoseconds. */
  long ask() {
    long startNanos = System.nanoTime();
    var unused =
        asks.send(
            new ProducerRecord<>(
                REQUESTS, ByteBuffer.allocate(3 * Long.BYTES).putLong(startNanos).array()));
    while (System.nanoTime() - startNanos < PATIENCE_NANOS) {
      for (ConsumerRecord<byte[], byte[]> record : replies.poll(POLL)) {
        long endNanos = System.nanoTime();
        ByteBuffer at = ByteBuffer.wrap(record.value());
        long sent = at.getLong();
        long read = at.getLong();
        long committed = at.getLong();
        stages.get(Stage.REQUEST).recordValue(read - sent);
        stages.get(Stage.COMMIT).recordValue(committed - read);
        stages.get(Stage.REPLY).recordValue(endNanos - committed);
        return endNanos - startNanos;
      }
    }
    throw new IllegalStateException("Expected an answer through Kafka, but none came");
  }

  /** How long requests were where, since they were cleared. */
  Map<Stage, Histogram> stages() {
    return stages;
  }

  /** Begins anew. */
  void clear() {
    for (Stage stage : Stage.values()) {
      stages.put(stage, new Histogram(3));
    }
  }

  private void decide(ConsumerRecord<byte[], byte[]> record) {
    decides.beginTransaction();
    var unused = decides.send(new ProducerRecord<>(JOURNAL, stamped(record.value(), 1)));
    decides.sendOffsetsToTransaction(
        Map.of(new TopicPartition(REQUESTS, 0), new OffsetAndMetadata(record.offset() + 1)),
        requests.groupMetadata());
    decides.commitTransaction();
  }

  private void deliver(ConsumerRecord<byte[], byte[]> record) {
    var unused = delivers.send(new ProducerRecord<>(REPLIES, stamped(record.value(), 2)));
  }

  private static byte[] stamped(byte[] value, int place) {
    return ByteBuffer.wrap(value.clone()).putLong(place * Long.BYTES, System.nanoTime()).array();
  }

  private interface Step {
    void take(ConsumerRecord<byte[], byte[]> record);
  }

  private void loop(KafkaConsumer<byte[], byte[]> consumer, Step step) {
    while (!closed) {
      consumer.poll(POLL).forEach(step::take);
    }
  }

  private KafkaConsumer<byte[], byte[]> consumer(String topic, String isolation) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("bootstrap.servers", bootstrap);
    settings.put("group.id", "bench");
    settings.put("enable.auto.commit", false);
    settings.put("auto.offset.reset", "earliest");
    settings.put("isolation.level", isolation);
    KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    consumer.assign(List.of(new TopicPartition(topic, 0)));
    return consumer;
  }

  /** As Fairway's own: nothing lingers. */
  private KafkaProducer<byte[], byte[]> producer(String transactionalId) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("bootstrap.servers", bootstrap);
    settings.put("linger.ms", 0);
    settings.put("acks", "all");
    settings.put("retry.backoff.ms", 5);
    if (transactionalId != null) {
      settings.put("transactional.id", transactionalId);
    }
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public void close() throws Exception {
    closed = true;
    for (Thread thread : threads) {
      thread.join();
    }
    List.of(requests, journal, replies).forEach(KafkaConsumer::close);
    List.of(asks, decides, delivers).forEach(KafkaProducer::close);
  }
}
