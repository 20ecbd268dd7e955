package dev.fairway.it.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.cli.embedded.TopicLayout;
import dev.fairway.cli.embedded.TopicSetup;
import dev.fairway.cli.registry.InProcessSchemaRegistry;
import dev.fairway.dispatcher.DispatcherConfig;
import dev.fairway.dispatcher.DispatcherService;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.DeadLetterFormat;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import dev.fairway.schemas.serde.RegistrySettings;
import dev.fairway.schemas.serde.SchemaRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A dispatcher over the shared broker with topics and a schema registry of its own, and what a
 * coordinator and agents would do beside it: write the journal in transactions, and read reply
 * topics.
 */
final class DispatcherHarness implements AutoCloseable {

  static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Topics topics;
  private final Admin admin = TestCluster.admin();
  private final InProcessSchemaRegistry registryServer;
  private final SchemaRegistry registry;
  private final KafkaProducer<byte[], byte[]> journalWriter;
  private final KafkaProducer<byte[], byte[]> writer;
  private final KafkaConsumer<byte[], byte[]> reader;
  private final AvroDeserializer<Decision> decisions;
  private final List<DispatcherService> services = new ArrayList<>();

  DispatcherHarness(Path folder) throws Exception {
    this(folder, true);
  }

  DispatcherHarness(Path folder, boolean createTopics) throws Exception {
    topics = new Topics(TestCluster.newPrefix("dispatch"));
    registryServer = InProcessSchemaRegistry.start(0, folder);
    registry = new HttpSchemaRegistry(RegistrySettings.of(registryServer.url()));
    decisions = new AvroDeserializer<>(registry, Decision.class);
    if (createTopics) {
      createTopics();
    }
    Map<String, Object> settings = new HashMap<>();
    settings.put("bootstrap.servers", TestCluster.bootstrapServers());
    writer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    settings.put("transactional.id", topics.prefix() + "coordinator");
    journalWriter =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    journalWriter.initTransactions();
    reader =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                TestCluster.bootstrapServers(),
                "allow.auto.create.topics",
                false),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
  }

  void createTopics() {
    new TopicSetup(admin).ensure(topics, TopicLayout.EMBEDDED);
  }

  Topics topics() {
    return topics;
  }

  String registryUrl() {
    return registryServer.url();
  }

  Admin admin() {
    return admin;
  }

  /** A dispatcher with these settings beside the addresses; not yet healthy. */
  Dispatcher startUnready(Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("bootstrap.servers", TestCluster.bootstrapServers());
    all.put("schema.registry.url", registryUrl());
    all.put("topic.prefix", topics.prefix());
    all.putIfAbsent("commit.interval.ms", "20");
    MeterRegistry meters = new SimpleMeterRegistry();
    DispatcherService service = DispatcherService.start(DispatcherConfig.of(all), meters);
    services.add(service);
    return new Dispatcher(service, meters);
  }

  Dispatcher start(Map<String, String> settings) throws InterruptedException {
    Dispatcher dispatcher = startUnready(settings);
    assertThat(dispatcher.service.awaitHealthy(PATIENCE))
        .as(() -> dispatcher.service.trouble())
        .isTrue();
    return dispatcher;
  }

  Dispatcher start() throws InterruptedException {
    return start(Map.of());
  }

  /** Writes journal records in one transaction; the coordinates of the first. */
  RecordMetadata journal(List<AdmissionEvent> records) throws Exception {
    journalWriter.beginTransaction();
    RecordMetadata first = send(records);
    journalWriter.commitTransaction();
    return first;
  }

  RecordMetadata journal(AdmissionEvent record) throws Exception {
    return journal(List.of(record));
  }

  /** Writes journal records in a transaction that is aborted. */
  void journalAborted(AdmissionEvent record) throws Exception {
    journalWriter.beginTransaction();
    send(List.of(record));
    journalWriter.abortTransaction();
  }

  private RecordMetadata send(List<AdmissionEvent> records) throws Exception {
    AvroSerializer<AdmissionEvent> serializer = new AvroSerializer<>(registry);
    RecordMetadata first = null;
    for (AdmissionEvent event : records) {
      byte[] value = serializer.serialize(topics.journal(), event);
      RecordMetadata sent =
          journalWriter
              .send(new ProducerRecord<>(topics.journal(), utf8(event.getKey()), value))
              .get();
      first = first == null ? sent : first;
    }
    return first;
  }

  /** Registers an agent as an operator does; a null topic is its own. */
  void register(String agentId, String replyTopic, Integer partition) throws Exception {
    register(
        new AgentRegistration(agentId, replyTopic, partition, "operator", 0L, false, Map.of()));
  }

  void register(AgentRegistration registration) throws Exception {
    byte[] value =
        new AvroSerializer<AgentRegistration>(registry).serialize(topics.agents(), registration);
    writer
        .send(new ProducerRecord<>(topics.agents(), utf8(registration.getAgentId()), value))
        .get();
  }

  void retire(String agentId) throws Exception {
    writer.send(new ProducerRecord<>(topics.agents(), utf8(agentId), null)).get();
  }

  void writeRaw(String topic, int partition, byte[] key, byte[] value) throws Exception {
    writer.send(new ProducerRecord<>(topic, partition, key, value)).get();
  }

  void createTopic(String name, int partitions, Map<String, String> configs) throws Exception {
    admin
        .createTopics(List.of(new NewTopic(name, partitions, (short) 1).configs(configs)))
        .all()
        .get();
  }

  boolean exists(String topic) {
    return TestCluster.topics(topics.prefix()).contains(topic);
  }

  /** What is on the agent's own reply topic now. */
  List<Decision> decisionsOf(String agentId) {
    return decisionsIn(topics.reply(agentId), 0);
  }

  List<Decision> decisionsIn(String topic, int partition) {
    return records(topic, partition).stream()
        .map(record -> decisions.deserialize(topic, record.value()))
        .toList();
  }

  /** All registrations that were ever written, tombstones left out. */
  List<AgentRegistration> registrations() {
    try (AvroDeserializer<AgentRegistration> deserializer =
        new AvroDeserializer<>(registry, AgentRegistration.class)) {
      return records(topics.agents(), 0).stream()
          .filter(record -> record.value() != null)
          .map(record -> deserializer.deserialize(topics.agents(), record.value()))
          .toList();
    }
  }

  /** Agents for which a tombstone was written. */
  List<String> retirements() {
    return records(topics.agents(), 0).stream()
        .filter(record -> record.value() == null)
        .map(record -> new String(record.key(), StandardCharsets.UTF_8))
        .toList();
  }

  /** Reason and source of each dead letter now. */
  List<String> deadLetters() {
    List<TopicPartition> partitions =
        reader.partitionsFor(topics.deadLetters()).stream()
            .map(p -> new TopicPartition(p.topic(), p.partition()))
            .toList();
    return records(partitions).stream()
        .map(
            letter ->
                header(letter, DeadLetterFormat.REASON)
                    + " "
                    + header(letter, DeadLetterFormat.TOPIC)
                    + "/"
                    + header(letter, DeadLetterFormat.PARTITION)
                    + ":"
                    + header(letter, DeadLetterFormat.OFFSET))
        .toList();
  }

  private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }

  /** Everything in a partition now; empty if there is no such topic. */
  List<ConsumerRecord<byte[], byte[]>> records(String topic, int partition) {
    if (reader.partitionsFor(topic).stream().noneMatch(p -> p.partition() == partition)) {
      return List.of();
    }
    return records(List.of(new TopicPartition(topic, partition)));
  }

  /** Everything in these partitions now; they must exist. */
  List<ConsumerRecord<byte[], byte[]>> records(List<TopicPartition> partitions) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    reader.assign(partitions);
    reader.seekToBeginning(partitions);
    Map<TopicPartition, Long> ends = reader.endOffsets(partitions);
    while (partitions.stream().anyMatch(p -> reader.position(p) < ends.get(p))) {
      reader.poll(Duration.ofMillis(100)).forEach(records::add);
    }
    return records;
  }

  /** Waits until the agent has been told this many decisions. */
  List<Decision> awaitDecisions(String agentId, int count) {
    return await()
        .atMost(PATIENCE)
        .until(() -> decisionsOf(agentId), found -> found.size() >= count);
  }

  /** Offset that the dispatchers' group has committed in a partition of the journal; 0 if none. */
  long committed(int partition) throws Exception {
    Map<TopicPartition, OffsetAndMetadata> offsets =
        admin
            .listConsumerGroupOffsets(topics.prefix() + "dispatcher")
            .partitionsToOffsetAndMetadata()
            .get();
    OffsetAndMetadata offset = offsets.get(new TopicPartition(topics.journal(), partition));
    return offset == null ? 0 : offset.offset();
  }

  void deleteTopic(String topic) throws Exception {
    admin.deleteTopics(List.of(topic)).all().get();
  }

  void deleteTopics() throws Exception {
    Set<String> all = TestCluster.topics(topics.prefix());
    admin.deleteTopics(all).all().get();
  }

  @Override
  public void close() throws Exception {
    services.forEach(DispatcherService::close);
    journalWriter.close(Duration.ZERO);
    writer.close(Duration.ZERO);
    reader.close();
    registryServer.close();
    deleteTopics();
    admin.close();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** A running dispatcher and what it counts. */
  record Dispatcher(DispatcherService service, MeterRegistry meters) {

    double delivered() {
      return meters.get("fairway.dispatcher.delivered").counter().count();
    }

    double dropped(String reason) {
      return meters.get("fairway.dispatcher.dropped").tag("reason", reason).counter().count();
    }

    double topicErrors(String error) {
      return meters.get("fairway.dispatcher.topic.errors").tag("error", error).counter().count();
    }

    double count(String name) {
      return meters.get("fairway.dispatcher." + name).counter().count();
    }
  }
}
