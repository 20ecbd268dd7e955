package dev.fairway.cli.ops;

import dev.fairway.cli.CliException;
import dev.fairway.cli.embedded.BrokerCheck;
import dev.fairway.cli.embedded.BrokerException;
import dev.fairway.cli.embedded.EmbeddedKafka;
import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import dev.fairway.schemas.serde.RegistrySettings;
import dev.fairway.schemas.serde.SchemaRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The Kafka side of a pipeline, for operators' commands: connects when it is first used, and gives
 * up with a message for people when nobody answers. Not thread-safe.
 */
public final class Pipeline implements AutoCloseable {

  private static final int ANSWER_MS = BrokerCheck.ANSWER_MS;

  private final String bootstrap;
  private final Topics topics;
  private final Map<String, String> clientSettings;
  private final SchemaRegistry registry;
  private Admin admin;
  private KafkaProducer<String, byte[]> producer;

  /**
   * Creates a pipeline without connecting.
   *
   * @param bootstrap address for {@code bootstrap.servers}
   * @param registryUrl base URL of the schema registry
   * @param clientSettings settings of every client, by name; may be empty
   */
  public Pipeline(
      String bootstrap, String registryUrl, Topics topics, Map<String, String> clientSettings) {
    this.bootstrap = bootstrap;
    this.topics = topics;
    this.clientSettings = Map.copyOf(clientSettings);
    // The defaults are for threads that decide; a command can wait for a registry that is busy.
    Duration answer = Duration.ofMillis(ANSWER_MS);
    this.registry =
        new HttpSchemaRegistry(
            RegistrySettings.of(registryUrl).withTimeouts(answer, answer, answer));
  }

  /** Names of the topics. */
  public Topics topics() {
    return topics;
  }

  /** The schema registry. */
  public SchemaRegistry registry() {
    return registry;
  }

  /**
   * An admin client of a broker that answers; closed with this.
   *
   * @throws BrokerException if no broker answers
   */
  public Admin admin() {
    if (admin == null) {
      admin = BrokerCheck.connect(bootstrap, clientSettings);
    }
    return admin;
  }

  /**
   * Reads topics of this pipeline.
   *
   * @throws BrokerException if no broker answers
   */
  public TopicReader reader() {
    admin();
    return new TopicReader(clientSettings());
  }

  /**
   * Writes one record into the partition of its key and waits until the broker has it.
   *
   * @param key record key; the part before the first slash decides the partition
   * @param value null: a tombstone
   */
  public void send(String topic, String key, SpecificRecord value) {
    byte[] bytes = value == null ? null : new AvroSerializer<>(registry).serialize(topic, value);
    send(new ProducerRecord<>(topic, key, bytes));
  }

  /** Writes one record as it is and waits until the broker has it. */
  public void send(ProducerRecord<String, byte[]> record) {
    admin();
    if (producer == null) {
      producer =
          new KafkaProducer<>(
              producerSettings(), new StringSerializer(), new ByteArraySerializer());
    }
    try {
      producer.send(record).get(3L * ANSWER_MS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new CliException(
          "Expected Kafka to take a record for " + record.topic() + ", but: " + cause.getMessage(),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted.", e);
    }
  }

  /** Writes records in one transaction: readers of committed records see all of them or none. */
  public void sendTogether(List<ProducerRecord<byte[], byte[]>> records) {
    admin();
    Map<String, Object> settings = producerSettings();
    settings.put("transactional.id", topics.prefix() + "operator-" + UUID.randomUUID());
    settings.put("transaction.timeout.ms", 3 * ANSWER_MS);
    try (KafkaProducer<byte[], byte[]> transactional =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      transactional.initTransactions();
      transactional.beginTransaction();
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      records.forEach(record -> sent.add(transactional.send(record)));
      transactional.commitTransaction();
      // The commit has flushed them: this only fetches the error of one that was refused.
      for (Future<RecordMetadata> future : sent) {
        future.get();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted.", e);
    } catch (KafkaException | ExecutionException e) {
      throw new CliException(
          "Expected Kafka to take records for "
              + records.get(0).topic()
              + " in one transaction, but: "
              + e.getMessage(),
          e);
    }
  }

  private Map<String, Object> producerSettings() {
    Map<String, Object> settings = clientSettings();
    settings.put("partitioner.class", KeyPartitioner.class.getName());
    settings.put("acks", "all");
    settings.put("linger.ms", 0);
    settings.put("max.block.ms", ANSWER_MS);
    settings.put("request.timeout.ms", ANSWER_MS);
    settings.put("delivery.timeout.ms", 2 * ANSWER_MS);
    // A record that a client could send is not refused here for its size; the broker has the last
    // word.
    settings.put("max.request.size", EmbeddedKafka.MESSAGE_MAX_BYTES);
    return settings;
  }

  private Map<String, Object> clientSettings() {
    Map<String, Object> settings = new HashMap<>(clientSettings);
    settings.put("bootstrap.servers", bootstrap);
    return settings;
  }

  @Override
  public void close() {
    if (producer != null) {
      producer.close();
    }
    if (admin != null) {
      admin.close();
    }
  }
}
