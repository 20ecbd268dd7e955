package dev.fairway.admission.topology;

import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.serde.SchemaRegistry;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.state.Stores;

/**
 * The topology: four input topics, one processor with one store, and three ways out (the journal,
 * dead letters, and back to an input topic for a key that lies in the wrong partition).
 */
public final class AdmissionTopology {
  /** Name of the store, and so of its changelog: {@code <application id>-state-changelog}. */
  public static final String STORE = "state";

  static final String PROCESSOR = "admission";
  static final String JOURNAL = "journal";
  static final String DEAD_LETTERS = "dead-letters";
  static final String FORWARD = "forward";

  private AdmissionTopology() {}

  /**
   * What the topology works with, shared by all tasks of the process.
   *
   * @param registry resolves schema ids; own ids are to be registered before, and no look-up may
   *     take longer than a second
   * @param clock decision time, epoch milliseconds
   * @param salts 32 hex characters from a secure random source, new ones each time
   * @param observer is told what happens
   * @param failures failures of the engine
   * @param tasks where tasks sign in to be asked
   */
  public record Parts(
      SchemaRegistry registry,
      LongSupplier clock,
      Supplier<String> salts,
      AdmissionObserver observer,
      FailureMemory failures,
      EngineTasks tasks) {}

  /** Builds the topology. */
  public static Topology build(TopologySettings settings, Parts parts) {
    ByteArrayDeserializer reading = new ByteArrayDeserializer();
    ByteArraySerializer writing = new ByteArraySerializer();
    BrokerTimeExtractor time = new BrokerTimeExtractor(parts.clock());
    StreamPartitioner<byte[], byte[]> byKey =
        (topic, key, value, partitions) ->
            Optional.of(Set.of(KeyPartitioner.partition(key, partitions)));
    String quotas = settings.topics().quotas();
    String requests = settings.topics().requests();
    String settlements = settings.topics().settlements();
    String tasks = settings.topics().tasks();
    return new Topology()
        .addSource(AutoOffsetReset.earliest(), "quotas", time, reading, reading, quotas)
        .addSource(AutoOffsetReset.earliest(), "requests", time, reading, reading, requests)
        .addSource(AutoOffsetReset.earliest(), "settlements", time, reading, reading, settlements)
        .addSource(AutoOffsetReset.earliest(), "tasks", time, reading, reading, tasks)
        .addProcessor(
            PROCESSOR,
            () -> new AdmissionProcessor(settings, parts),
            "quotas",
            "requests",
            "settlements",
            "tasks")
        .addStateStore(
            Stores.keyValueStoreBuilder(
                    Stores.inMemoryKeyValueStore(STORE), Serdes.Bytes(), Serdes.ByteArray())
                .withCachingDisabled()
                .withLoggingEnabled(Map.of()),
            PROCESSOR)
        .addSink(JOURNAL, settings.topics().journal(), writing, writing, byKey, PROCESSOR)
        .addSink(DEAD_LETTERS, settings.topics().deadLetters(), writing, writing, PROCESSOR)
        .addSink(
            FORWARD, (key, value, record) -> record.topic(), writing, writing, byKey, PROCESSOR);
  }
}
