package dev.fairway.cli;

import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.up.Addresses;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import picocli.CommandLine.Option;

/**
 * Options that say which pipeline a command works on: a running {@code fairway up}, found by its
 * data folder, or any cluster by its addresses. Mix in with {@code @Mixin}.
 */
public final class ConnectionOptions {

  @Option(
      names = "--data",
      paramLabel = "DIR",
      defaultValue = "${FAIRWAY_DATA:-fairway-data}",
      description =
          "Data folder of the running 'fairway up' (default: $FAIRWAY_DATA, or fairway-data).")
  private Path data;

  @Option(
      names = "--bootstrap",
      paramLabel = "HOST:PORT",
      description = "Kafka to use instead of that of --data.")
  private String bootstrap;

  @Option(
      names = "--registry",
      converter = RegistryUrlConverter.class,
      paramLabel = "URL",
      description = "Schema registry that goes with --bootstrap.")
  private String registry;

  @Option(
      names = "--coordinator",
      converter = HttpUrlConverter.class,
      paramLabel = "URL",
      split = ",",
      description = "Status port of each coordinator that goes with --bootstrap; several by comma.")
  private List<URI> coordinators = List.of();

  @Option(
      names = "--prefix",
      paramLabel = "TEXT",
      description = "Prefix of the topics (default: that of --data, or fairway.).")
  private String prefix;

  @Option(
      names = "--client-config",
      paramLabel = "FILE",
      description = "Properties for every Kafka client, such as security settings.")
  private Path clientConfig;

  /**
   * Connects.
   *
   * @throws CliException if nothing runs there, or the options don't fit together
   */
  public Pipeline open() {
    if (bootstrap == null) {
      Addresses up = running();
      return new Pipeline(up.bootstrap(), up.registry(), topics(up.prefix()), clientSettings());
    }
    if (registry == null) {
      throw new CliException(
          "Expected --registry URL along with --bootstrap, but found none. Name the schema registry of that cluster.");
    }
    return new Pipeline(bootstrap, registry, topics(Topics.DEFAULT_PREFIX), clientSettings());
  }

  /**
   * Base URLs of the coordinators.
   *
   * @throws CliException if nothing runs there, or the options don't fit together
   */
  public List<URI> coordinators() {
    if (!coordinators.isEmpty()) {
      return coordinators;
    }
    if (bootstrap != null) {
      throw new CliException(
          "Expected --coordinator URL along with --bootstrap, but found none. Name the status port of each coordinator.");
    }
    return List.of(URI.create(running().coordinator()));
  }

  /**
   * Whether a coordinator is known, so that {@link #coordinators()} does not fail for lack of one.
   */
  public boolean hasCoordinators() {
    return !coordinators.isEmpty() || (bootstrap == null && Addresses.read(data).isPresent());
  }

  /**
   * Base URL of the gateway of the running 'fairway up'; empty if it has none, or for a cluster.
   */
  public Optional<URI> gateway() {
    return bootstrap != null || !coordinators.isEmpty()
        ? Optional.empty()
        : Addresses.read(data).map(Addresses::gateway).map(URI::create);
  }

  private Addresses running() {
    return Addresses.running(data);
  }

  private Topics topics(String otherwise) {
    try {
      return new Topics(prefix == null ? otherwise : prefix);
    } catch (IllegalArgumentException e) {
      throw new CliException(e.getMessage(), e);
    }
  }

  private Map<String, String> clientSettings() {
    Map<String, String> settings = new HashMap<>();
    if (clientConfig != null) {
      Properties properties = new Properties();
      try (Reader reader = Files.newBufferedReader(clientConfig, StandardCharsets.UTF_8)) {
        properties.load(reader);
      } catch (IOException e) {
        throw new CliException(
            "Expected a properties file at "
                + clientConfig
                + ", but: "
                + FileTrouble.of(e)
                + ". Check the path of --client-config.",
            e);
      } catch (IllegalArgumentException e) {
        throw new CliException(
            "Expected name=value lines in " + clientConfig + ", but: " + e.getMessage() + ".", e);
      }
      properties
          .stringPropertyNames()
          .forEach(name -> settings.put(name, properties.getProperty(name)));
    }
    return settings;
  }
}
