package dev.fairway.cli.up;

import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.agent.gateway.ModeStore;
import dev.fairway.cli.ops.AgentStore;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps switched modes in the registration of the gateways' id, on the compacted topic of agents:
 * all gateways with that id read it, and so does one that starts later.
 *
 * <p>A switch replaces the registration as it was read just before. Of two switches at two gateways
 * within that moment the later one wins, and its answer is read back by both.
 */
public final class RegistrationModes implements ModeStore, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RegistrationModes.class);
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration ANSWER = Duration.ofSeconds(10);
  private static final long TROUBLE_PAUSE_MS = 2_000;

  private final String id;
  private final Pipeline pipeline;
  private final AvroDeserializer<AgentRegistration> deserializer;
  private final KafkaConsumer<byte[], byte[]> consumer;

  /** One writes at a time: each switch begins with what the last one left. */
  private final ExecutorService writer;

  private final Thread reader = new Thread(this::read, "fairway-gateway-modes");
  private volatile Consumer<Map<String, Mode>> listener = modes -> {};
  private volatile boolean closed;

  /**
   * Connects; the brokers must answer.
   *
   * @param id agent id of the gateways
   */
  public RegistrationModes(
      String id,
      String bootstrap,
      String registry,
      Topics topics,
      Map<String, String> clientSettings) {
    this.id = id;
    this.pipeline = new Pipeline(bootstrap, registry, topics, clientSettings);
    this.deserializer = new AvroDeserializer<>(pipeline.registry(), AgentRegistration.class);
    Map<String, Object> settings = new HashMap<>(clientSettings);
    settings.put("bootstrap.servers", bootstrap);
    settings.put("enable.auto.commit", false);
    settings.put("auto.offset.reset", "earliest");
    settings.put("allow.auto.create.topics", false);
    this.consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    this.writer =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread thread = new Thread(task, "fairway-gateway-mode-switch");
              thread.setDaemon(true);
              return thread;
            });
    reader.setDaemon(true);
  }

  @Override
  public void follow(Consumer<Map<String, Mode>> modes) {
    listener = modes;
    List<TopicPartition> partitions =
        consumer.partitionsFor(pipeline.topics().agents(), ANSWER).stream()
            .map(info -> new TopicPartition(info.topic(), info.partition()))
            .toList();
    // First the end, then the table: a switch between the two is read twice and not missed.
    consumer.assign(partitions);
    consumer.seekToEnd(partitions);
    partitions.forEach(partition -> consumer.position(partition, ANSWER));
    listener.accept(modes(new AgentStore(pipeline).all().get(id)));
    reader.start();
  }

  @Override
  public CompletableFuture<Void> put(String quota, Mode mode) {
    String name = mode == null ? null : mode.name();
    return CompletableFuture.runAsync(
        () -> listener.accept(modes(new AgentStore(pipeline).switchMode(id, quota, name))), writer);
  }

  private void read() {
    while (!closed) {
      try {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          take(record);
        }
      } catch (WakeupException e) {
        // Closed: the loop looks at that.
      } catch (KafkaException e) {
        log.warn("Expected to follow the gateway's modes, but reading failed; trying on.", e);
        pause();
      }
    }
    consumer.close(CloseOptions.timeout(Duration.ZERO));
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    if (record.key() == null || !id.equals(new String(record.key(), StandardCharsets.UTF_8))) {
      return;
    }
    try {
      AgentRegistration registration =
          record.value() == null ? null : deserializer.deserialize(record.topic(), record.value());
      listener.accept(modes(registration));
    } catch (RuntimeException e) {
      log.warn(
          "Expected the registration of {} at offset {}, but it cannot be read: modes stay as they"
              + " are. Switch again once the schema registry answers.",
          id,
          record.offset(),
          e);
    }
  }

  /** A mode that this version does not know counts as none. */
  private static Map<String, Mode> modes(AgentRegistration registration) {
    Map<String, Mode> modes = new HashMap<>();
    if (registration != null) {
      registration
          .getGatewayModes()
          .forEach(
              (quota, name) -> {
                for (Mode mode : Mode.values()) {
                  if (mode.name().equals(name)) {
                    modes.put(quota, mode);
                  }
                }
              });
    }
    return modes;
  }

  private void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(TROUBLE_PAUSE_MS);
    } catch (InterruptedException e) {
      closed = true;
    }
  }

  @Override
  public void close() {
    closed = true;
    writer.shutdown();
    if (reader.isAlive()) {
      consumer.wakeup();
      try {
        reader.join(ANSWER.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    } else {
      consumer.close(CloseOptions.timeout(Duration.ZERO));
    }
    pipeline.close();
    deserializer.close();
  }
}
