package dev.fairway.it.admission;

import dev.fairway.admission.AdmissionConfig;
import dev.fairway.admission.AdmissionService;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.admission.mapping.JournalRecord;
import dev.fairway.cli.embedded.TopicLayout;
import dev.fairway.cli.embedded.TopicSetup;
import dev.fairway.cli.registry.InProcessSchemaRegistry;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Margin;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.Usage;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Topics, a registry, a client's producer and a journal reader, for one test class. */
final class AdmissionFixture implements AutoCloseable {
  static final String AGENT = "agent-1";

  final Topics topics;
  final InProcessSchemaRegistry registry;
  private final Path folder;
  private final AvroSerializer<SpecificRecord> serializer;
  private final KafkaProducer<byte[], byte[]> producer;
  private final HttpSchemaRegistry schemas;
  private int instances;

  AdmissionFixture(String name, Path folder) throws IOException {
    this.topics = new Topics(TestCluster.newPrefix(name));
    this.folder = folder;
    registry = InProcessSchemaRegistry.start(0, folder.resolve("registry"));
    schemas = new HttpSchemaRegistry(registry.url());
    serializer = new AvroSerializer<>(schemas);
    try (Admin admin = TestCluster.admin()) {
      new TopicSetup(admin).ensure(topics, TopicLayout.EMBEDDED);
    }
    producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                TestCluster.bootstrapServers(),
                "partitioner.class",
                KeyPartitioner.class.getName(),
                "max.request.size",
                20_000_000),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  /** Settings of a further instance of the coordinator. */
  Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>();
    settings.put(AdmissionConfig.BOOTSTRAP_SERVERS, TestCluster.bootstrapServers());
    settings.put(AdmissionConfig.SCHEMA_REGISTRY_URL, registry.url());
    settings.put(AdmissionConfig.TOPIC_PREFIX, topics.prefix());
    settings.put(AdmissionConfig.STATE_DIR, folder.resolve("state-" + instances++).toString());
    settings.put(AdmissionConfig.HTTP_PORT, "0");
    return settings;
  }

  AdmissionService startCoordinator() throws InterruptedException {
    return startCoordinator(settings());
  }

  AdmissionService startCoordinator(Map<String, String> settings) throws InterruptedException {
    AdmissionService service = AdmissionService.start(AdmissionConfig.of(settings));
    if (!service.awaitReady(Duration.ofSeconds(30))) {
      service.close();
      throw new AssertionError("Expected the coordinator to be ready within 30 s");
    }
    return service;
  }

  /** A definition that grants up to that many requests a minute, and queues the others. */
  static Quota quota(String id, long requestsPerMinute) {
    return Quota.newBuilder()
        .setId(id)
        .setPolicy(PolicyPreset.SEED)
        .setWindow(ProviderWindow.TOKEN_BUCKET)
        .setLimits(Limits.newBuilder().setRequestsPerMinute(requestsPerMinute).build())
        .setMargin(Margin.newBuilder().setMode(MarginMode.RATE).setStart(1.0).build())
        .setClasses(Map.of())
        .setTenants(Map.of())
        .setState(QuotaState.ACTIVE)
        .build();
  }

  static LeaseRequest request(String id, String quota) {
    return requestBuilder(id, quota).build();
  }

  static LeaseRequest.Builder requestBuilder(String id, String quota) {
    return LeaseRequest.newBuilder()
        .setRequestId(id)
        .setAgentId(AGENT)
        .setQuota(quota)
        .setEstimate(Estimate.newBuilder().setInputTokens(100L).build());
  }

  static Settlement settlement(String lease, String quota) {
    return Settlement.newBuilder()
        .setLeaseId(lease)
        .setAgentId(AGENT)
        .setQuota(quota)
        .setOutcome(Outcome.SUCCEEDED)
        .setUsage(Usage.newBuilder().setInputTokens(80L).setOutputTokens(10L).build())
        .build();
  }

  /** Sends as a client does, and waits for the broker. */
  RecordMetadata send(String topic, String key, SpecificRecord value) {
    return send(topic, null, key, serializer.serialize(topic, value));
  }

  /** Sends as a client does, and does not wait; an error shows as a missing decision. */
  void sendLater(String topic, String key, SpecificRecord value) {
    producer.send(
        new ProducerRecord<>(topic, bytes(key), serializer.serialize(topic, value)),
        (metadata, error) -> {});
  }

  /** Waits for everything that was sent. */
  void flush() {
    producer.flush();
  }

  /** Sends raw bytes, to that partition if it is not null. */
  RecordMetadata send(String topic, Integer partition, String key, byte[] value) {
    return await(producer.send(new ProducerRecord<>(topic, partition, bytes(key), value)));
  }

  byte[] serialized(String topic, SpecificRecord value) {
    return serializer.serialize(topic, value);
  }

  /** A reader of the committed records of a topic, from its beginning. */
  Reader reader(String topic) {
    return new Reader(topic);
  }

  /** The JSON or text that a coordinator answers. */
  static String get(AdmissionService service, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + service.httpPort() + path))
                .timeout(Duration.ofSeconds(5))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  JournalRecord journal(ConsumerRecord<byte[], byte[]> record) {
    return JournalMapper.toEngine(
        new AvroDeserializer<>(schemas, AdmissionEvent.class)
            .deserialize(record.topic(), record.value()));
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(5));
    registry.close();
  }

  private static byte[] bytes(String key) {
    return key == null ? null : key.getBytes(StandardCharsets.UTF_8);
  }

  private static RecordMetadata await(Future<RecordMetadata> sent) {
    try {
      return sent.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    } catch (ExecutionException e) {
      throw new AssertionError("could not send", e.getCause());
    }
  }

  /** Reads committed records, each once. */
  static final class Reader implements AutoCloseable {
    private final KafkaConsumer<byte[], byte[]> consumer;

    private Reader(String topic) {
      consumer =
          new KafkaConsumer<>(
              Map.of(
                  "bootstrap.servers",
                  TestCluster.bootstrapServers(),
                  "isolation.level",
                  "read_committed"),
              new ByteArrayDeserializer(),
              new ByteArrayDeserializer());
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(info -> new TopicPartition(topic, info.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
    }

    /** What came since the last call; waits a moment if that is nothing. */
    Iterable<ConsumerRecord<byte[], byte[]>> poll() {
      return consumer.poll(Duration.ofMillis(100));
    }

    @Override
    public void close() {
      consumer.close();
    }
  }
}
