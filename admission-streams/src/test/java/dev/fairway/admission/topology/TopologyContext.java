package dev.fairway.admission.topology;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.admission.mapping.JournalRecord;
import dev.fairway.admission.mapping.JournalRecord.Decided;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import dev.fairway.schemas.serde.OwnSchemas;
import dev.fairway.schemas.serde.SchemaRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;

/** The whole topology in one thread and in virtual time. */
final class TopologyContext implements AutoCloseable {
  static final long START_MS = 1_700_000_000_000L;
  static final String SALT = "00112233445566778899aabbccddeeff";

  final Topics topics = new Topics();
  final SchemaRegistry registry;
  final EngineTasks tasks = new EngineTasks();
  final FailureMemory failures = new FailureMemory();
  final RecordingObserver observer = new RecordingObserver();
  private final TopologyTestDriver driver;
  private final AvroSerializer<SpecificRecord> serializer;
  private long nowMs = START_MS;

  TopologyContext() {
    this(1);
  }

  TopologyContext(int partitions) {
    this(partitions, new InMemorySchemaRegistry());
  }

  TopologyContext(int partitions, SchemaRegistry registry) {
    this(TopologySettings.of(new Topics(), partitions), registry);
  }

  TopologyContext(TopologySettings settings, SchemaRegistry registry) {
    this.registry = registry;
    OwnSchemas.registerAll(registry, topics);
    serializer = new AvroSerializer<>(registry);
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "fairway-test");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:9092");
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    AdmissionTopology.Parts parts =
        new AdmissionTopology.Parts(registry, () -> nowMs, () -> SALT, observer, failures, tasks);
    driver =
        new TopologyTestDriver(
            AdmissionTopology.build(settings, parts), properties, Instant.ofEpochMilli(START_MS));
  }

  long nowMs() {
    return nowMs;
  }

  /** Lets time pass in small steps, so that every timer fires at its own time. */
  void sleep(long ms) {
    for (long left = ms; left > 0; ) {
      long step = Math.min(left, 10);
      nowMs += step;
      driver.advanceWallClockTime(Duration.ofMillis(step));
      left -= step;
    }
  }

  /** Lets time pass for the clock, and no timer fire. */
  void freezeTimers(long ms) {
    nowMs += ms;
  }

  void quota(SpecificRecord quota, String id) {
    send(topics.quotas(), id, quota);
  }

  void send(String topic, String key, SpecificRecord value) {
    send(topic, key, bytes(topic, value), new RecordHeaders());
  }

  void send(String topic, String key, byte[] value, Headers headers) {
    driver
        .createInputTopic(topic, new ByteArraySerializer(), new ByteArraySerializer())
        .pipeInput(
            new TestRecord<>(
                key == null ? null : key.getBytes(StandardCharsets.UTF_8),
                value,
                headers,
                // A producer's clock, which nobody is to believe.
                12_345L));
  }

  byte[] bytes(String topic, SpecificRecord value) {
    return serializer.serialize(topic, value);
  }

  /** Journal records since the last call. */
  List<JournalRecord> journal() {
    AvroDeserializer<AdmissionEvent> deserializer =
        new AvroDeserializer<>(registry, AdmissionEvent.class);
    List<JournalRecord> records = new ArrayList<>();
    for (TestRecord<byte[], byte[]> record : output(topics.journal())) {
      records.add(
          JournalMapper.toEngine(deserializer.deserialize(topics.journal(), record.value())));
    }
    return records;
  }

  /** Events of the journal since the last call. */
  List<Event> events() {
    List<Event> events = new ArrayList<>();
    for (JournalRecord record : journal()) {
      if (record instanceof Decided decided) {
        events.addAll(decided.events());
      }
    }
    return events;
  }

  <E extends Event> List<E> events(Class<E> type) {
    return events().stream().filter(type::isInstance).map(type::cast).toList();
  }

  List<TestRecord<byte[], byte[]>> output(String topic) {
    return driver
        .createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer())
        .readRecordsToList();
  }

  /** Dead letters since the last call. */
  List<TestRecord<byte[], byte[]>> deadLetters() {
    return output(topics.deadLetters());
  }

  /** Number of entries in the store. */
  int storeSize() {
    int size = 0;
    try (var all = driver.getKeyValueStore(AdmissionTopology.STORE).all()) {
      while (all.hasNext()) {
        all.next();
        size++;
      }
    }
    return size;
  }

  static String header(TestRecord<byte[], byte[]> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    driver.close();
  }
}
