package dev.fairway.it.interop;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.embedded.TopicLayout;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.QuotaStore;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.cli.ops.TopicReader;
import dev.fairway.cli.up.UpProcess;
import dev.fairway.cli.up.UpSettings;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * All of Fairway as {@code fairway up} starts it, on a Kafka of its own, and what a test looks at
 * from outside: records, journal, status. Not thread-safe.
 */
final class InteropPipeline implements AutoCloseable {

  /** What a full bucket of a quota here holds. */
  static final long DEPTH_TOKENS = 1_000;

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final class Shared {
    private static final InteropPipeline PIPELINE = startShared();
  }

  private final Path data;
  private final UpProcess process;
  private final Pipeline pipeline;
  private final AvroDeserializer<AdmissionEvent> events;
  private final StatusClient status;

  private InteropPipeline(Path data, UpProcess process) {
    this.data = data;
    this.process = process;
    this.pipeline =
        new Pipeline(
            process.addresses().bootstrap(),
            process.addresses().registry(),
            new Topics(process.addresses().prefix()),
            Map.of());
    this.events = new AvroDeserializer<>(pipeline.registry(), AdmissionEvent.class);
    this.status = new StatusClient(List.of(URI.create(process.addresses().coordinator())));
  }

  /** The one that the tests of this JVM share, with its registry in the process. */
  static InteropPipeline shared() {
    return Shared.PIPELINE;
  }

  private static InteropPipeline startShared() {
    InteropPipeline pipeline = start(null);
    Runtime.getRuntime().addShutdownHook(new Thread(pipeline::close, "interop-shutdown"));
    return pipeline;
  }

  /**
   * Starts one.
   *
   * @param registryUrl the registry to use; null: one in this process
   */
  static InteropPipeline start(String registryUrl) {
    try {
      Path data = Files.createTempDirectory("fairway-interop");
      UpProcess process =
          new UpProcess(
              new UpSettings(data, null, false, null, registryUrl, new Topics(), 0, 0, 0),
              line -> {});
      try {
        process.start();
        return new InteropPipeline(data, process);
      } catch (RuntimeException e) {
        process.close();
        TestCluster.deleteFolder(data);
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String bootstrap() {
    return process.addresses().bootstrap();
  }

  String registryUrl() {
    return process.addresses().registry();
  }

  Topics topics() {
    return pipeline.topics();
  }

  /** The partition where a key's records belong. */
  int home(String key) {
    return KeyPartitioner.partition(key, TopicLayout.EMBEDDED.partitions());
  }

  /**
   * Defines a quota that starts full and refills by one token per second, so that a test can count
   * tokens; returns when it holds.
   */
  void define(String quotaId) {
    define(
        quotaId,
        "limits: {input_tokens_per_minute: 60}, depth: {input_tokens: "
            + DEPTH_TOKENS
            + "}, margin: {start: 1.0, floor: 1.0}");
  }

  /** Defines a quota by its fields in YAML, without the id; returns when it holds. */
  void define(String quotaId, String fields) {
    Quota quota =
        QuotaYaml.parse("quotas: [{id: %s, %s}]".formatted(quotaId, fields), quotaId)
            .quotas()
            .get(0);
    new QuotaStore(pipeline).put(quota);
    await("quota " + quotaId)
        .atMost(PATIENCE)
        .until(() -> status.quotasById().containsKey(quotaId));
  }

  /** What the coordinator says of a quota now. */
  JsonNode status(String quotaId) {
    return status.quotasById().get(quotaId);
  }

  /** The journal of a key in order, once {@code enough} is in it. */
  List<AdmissionEvent> journal(String key, Predicate<List<AdmissionEvent>> enough) {
    return await("journal of " + key)
        .atMost(PATIENCE)
        .until(
            () ->
                records(topics().journal(), key).stream()
                    .map(record -> events.deserialize(record.topic(), record.value()))
                    .sorted(Comparator.comparingLong(AdmissionEvent::getSequence))
                    .toList(),
            enough);
  }

  /** The events of a type in the journal of a key, once there are {@code count} or more. */
  <T> List<T> events(String key, Class<T> type, int count) {
    return eventsOf(type, journal(key, journal -> eventsOf(type, journal).size() >= count));
  }

  private static <T> List<T> eventsOf(Class<T> type, List<AdmissionEvent> journal) {
    return journal.stream()
        .flatMap(record -> record.getEvents().stream())
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  /** The records of a topic with that record key, in order within each partition. */
  List<ConsumerRecord<byte[], byte[]>> records(String topic, String key) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    pipeline
        .reader()
        .read(
            topic,
            new TopicReader.From.Beginning(),
            record -> {
              if (record.key() != null
                  && key.equals(new String(record.key(), StandardCharsets.UTF_8))) {
                records.add(record);
              }
              return true;
            });
    return records;
  }

  boolean hasTopic(String name) {
    try {
      return pipeline.admin().listTopics().names().get().contains(name);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("could not list topics", e);
    }
  }

  @Override
  public void close() {
    pipeline.close();
    process.close();
    TestCluster.deleteFolder(data);
  }
}
