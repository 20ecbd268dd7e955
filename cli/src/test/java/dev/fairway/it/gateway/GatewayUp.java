package dev.fairway.it.gateway;

import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.cli.ops.TopicReader;
import dev.fairway.cli.up.UpProcess;
import dev.fairway.cli.up.UpSettings;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.SettleLease;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code fairway up} with a gateway, in this process, in a folder that is deleted afterwards. */
final class GatewayUp implements AutoCloseable {
  private final Path data;
  private final UpProcess process;

  private GatewayUp(Path data, UpProcess process) {
    this.data = data;
    this.process = process;
  }

  /** Starts it; {@code %KEY%} in the configuration stands for a file with a provider's key. */
  static GatewayUp start(String yaml) {
    try {
      Path data = Files.createTempDirectory("fairway-gateway-it");
      Path key = Files.writeString(data.resolve("key"), "sk-upstream\n");
      return start(data, QuotaYaml.parse(yaml.replace("%KEY%", key.toString()), "test"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts it as a user has it who has no configuration. */
  static GatewayUp startWithoutFile() {
    return start((FairwayConfig) null);
  }

  /** Starts it with a configuration. */
  static GatewayUp start(FairwayConfig config) {
    try {
      return start(Files.createTempDirectory("fairway-gateway-it"), config);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static GatewayUp start(Path data, FairwayConfig config) {
    UpProcess process =
        new UpProcess(
            new UpSettings(
                data.resolve("up"), config, config == null, null, null, new Topics(), 0, 0, 0),
            line -> {});
    GatewayUp up = new GatewayUp(data, process);
    try {
      process.start();
    } catch (RuntimeException e) {
      up.close();
      throw e;
    }
    return up;
  }

  /** What an agent is to have in its environment. */
  Map<String, String> agentExports() {
    return process.agentExports();
  }

  String url() {
    return process.addresses().gateway();
  }

  String bootstrap() {
    return process.addresses().bootstrap();
  }

  String registry() {
    return process.addresses().registry();
  }

  /** Every request in the journal so far. */
  List<LeaseRequest> requests() {
    return journal().stream()
        .map(AdmissionEvent::getCommand)
        .filter(RequestLease.class::isInstance)
        .map(command -> ((RequestLease) command).getRequest())
        .toList();
  }

  /** Every settlement in the journal so far. */
  List<Settlement> settlements() {
    return journal().stream()
        .map(AdmissionEvent::getCommand)
        .filter(SettleLease.class::isInstance)
        .map(command -> ((SettleLease) command).getSettlement())
        .toList();
  }

  /** The journal so far. */
  List<AdmissionEvent> journal() {
    List<AdmissionEvent> events = new ArrayList<>();
    try (Pipeline pipeline = new Pipeline(bootstrap(), registry(), new Topics(), Map.of());
        AvroDeserializer<AdmissionEvent> deserializer =
            new AvroDeserializer<>(pipeline.registry(), AdmissionEvent.class)) {
      String topic = pipeline.topics().journal();
      pipeline
          .reader()
          .read(
              topic,
              new TopicReader.From.Beginning(),
              record -> events.add(deserializer.deserialize(topic, record.value())));
    }
    return events;
  }

  StatusClient status() {
    return new StatusClient(List.of(URI.create(process.addresses().coordinator())));
  }

  @Override
  public void close() {
    process.close();
    TestCluster.deleteFolder(data);
  }
}
