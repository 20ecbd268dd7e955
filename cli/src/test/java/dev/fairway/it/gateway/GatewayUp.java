package dev.fairway.it.gateway;

import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.cli.up.UpProcess;
import dev.fairway.cli.up.UpSettings;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

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
      UpProcess process =
          new UpProcess(
              new UpSettings(
                  data.resolve("up"),
                  QuotaYaml.parse(yaml.replace("%KEY%", key.toString()), "test"),
                  null,
                  null,
                  new Topics(),
                  0,
                  0,
                  0),
              line -> {});
      GatewayUp up = new GatewayUp(data, process);
      try {
        process.start();
      } catch (RuntimeException e) {
        up.close();
        throw e;
      }
      return up;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

  StatusClient status() {
    return new StatusClient(List.of(URI.create(process.addresses().coordinator())));
  }

  @Override
  public void close() {
    process.close();
    TestCluster.deleteFolder(data);
  }
}
