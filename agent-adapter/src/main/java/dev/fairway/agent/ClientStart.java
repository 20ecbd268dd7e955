package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DurationText;
import dev.fairway.schemas.serde.SchemaRegistryException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Brings a client up: everything that later calls would otherwise have to wait for (the metadata of
 * the topics, the ids of the schemas, the position of the replies) is fetched here, once.
 */
final class ClientStart {
  private static final Duration STEP = Duration.ofSeconds(1);
  private static final long PAUSE_MS = 50;

  private final AdmissionClientConfig config;
  private final long deadlineNanos;
  private Consumer<byte[], byte[]> consumer;
  private Producer<String, SpecificRecord> producer;
  private Handover handover = Handover.none();

  private ClientStart(AdmissionClientConfig config) {
    this.config = config;
    this.deadlineNanos = System.nanoTime() + config.startTimeout().toNanos();
  }

  static AdmissionClient start(AdmissionClientConfig config) {
    ClientStart start = new ClientStart(config);
    try {
      return start.start();
    } catch (AdmissionException e) {
      start.abandon();
      throw e;
    } catch (RuntimeException | ClassNotFoundException e) {
      start.abandon();
      throw new AdmissionException(
          "Expected to start agent "
              + config.agentId()
              + " on brokers "
              + config.bootstrapServers()
              + " and registry "
              + config.registryUrl()
              + ", but: "
              + messages(e),
          e);
    }
  }

  /** Kafka says what it was doing in the first message, and what was wrong in the last. */
  private static String messages(Throwable error) {
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root == error ? error.toString() : error.getMessage() + ": " + root;
  }

  private AdmissionClient start() throws ClassNotFoundException {
    consumer =
        new KafkaConsumer<>(
            KafkaClients.consumerProperties(config),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    // The consumer asks for topics without creating them; a producer would, where brokers let it.
    awaitTopic(config.topics().requests());
    awaitTopic(config.topics().settlements());
    Serializer<SpecificRecord> serializer = KafkaClients.serializer(config);
    registerSchemas(serializer);
    Deserializer<?> deserializer = KafkaClients.deserializer(config);
    producer =
        new KafkaProducer<>(
            KafkaClients.producerProperties(config), new StringSerializer(), serializer);
    awaitMetadata(config.topics().requests());
    awaitMetadata(config.topics().settlements());
    RequestIds requestIds = new RequestIds();
    handover = Handover.open(config.handover(), requestIds.prefix());
    AdmissionClient client =
        new AdmissionClient(
            config,
            producer,
            consumer,
            (topic, bytes) -> (Decision) deserializer.deserialize(topic, bytes),
            requestIds,
            handover);
    client.open(Duration.ofMillis(Math.max(1, leftMs())));
    return client;
  }

  private void awaitTopic(String topic) {
    do {
      try {
        if (!consumer.partitionsFor(topic, STEP).isEmpty()) {
          return;
        }
      } catch (TimeoutException e) {
        if (leftMs() <= 0) {
          throw new AdmissionException(
              "Expected brokers at "
                  + config.bootstrapServers()
                  + ", but none answered within "
                  + DurationText.of(config.startTimeout())
                  + ". Check the address, and that Kafka runs.",
              e);
        }
      }
      pause();
    } while (leftMs() > 0);
    throw new AdmissionException(
        "Expected topic "
            + topic
            + " on brokers "
            + config.bootstrapServers()
            + ", but it does not exist. Start the coordinator, which creates it, or check the topic"
            + " prefix \""
            + config.topicPrefix()
            + "\".");
  }

  private void awaitMetadata(String topic) {
    while (true) {
      try {
        List<?> unused = producer.partitionsFor(topic);
        return;
      } catch (TimeoutException e) {
        if (leftMs() <= 0) {
          throw e;
        }
        pause();
      }
    }
  }

  private void registerSchemas(Serializer<SpecificRecord> serializer) {
    LeaseCall call = LeaseCall.of("key").build();
    String requestId = "schema";
    SpecificRecord request = Records.request(config.agentId(), requestId, call, null);
    SpecificRecord settlement = Records.cancellation(config.agentId(), call.quota(), requestId);
    while (true) {
      try {
        serializer.serialize(config.topics().requests(), request);
        serializer.serialize(config.topics().settlements(), settlement);
        return;
      } catch (SchemaRegistryException e) {
        if (e.kind() != SchemaRegistryException.Kind.UNAVAILABLE || leftMs() <= 0) {
          throw e;
        }
        pause();
      }
    }
  }

  private void abandon() {
    handover.close();
    if (producer != null) {
      producer.close(Duration.ZERO);
    }
    if (consumer != null) {
      consumer.close(CloseOptions.timeout(Duration.ZERO));
    }
  }

  private long leftMs() {
    return TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AdmissionException(
          "Expected to start, but the thread was interrupted. Start again if that was not meant.",
          e);
    }
  }
}
