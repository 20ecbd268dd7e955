package dev.fairway.admission;

import dev.fairway.admission.topology.TopologySettings;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroSerdeConfig;
import dev.fairway.schemas.serde.RegistrySettings;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/**
 * Settings of a coordinator: checked, immutable. The constants are their names; {@link
 * #documentation()} tells each with its default.
 *
 * <p>Beside them {@code kafka.<name>} goes to Kafka Streams and its clients as {@code <name>}
 * (security settings, {@code kafka.producer.linger.ms}) and overrides what Fairway sets itself, and
 * {@code serde.<name>} to the client of the schema registry ({@code serde.basic.auth.user.info}).
 */
public final class AdmissionConfig {

  /** Brokers to begin with. */
  public static final String BOOTSTRAP_SERVERS = "bootstrap.servers";

  /** Addresses of the schema registry. */
  public static final String SCHEMA_REGISTRY_URL = "schema.registry.url";

  /** What the names of the topics begin with. */
  public static final String TOPIC_PREFIX = "topic.prefix";

  /** Kafka Streams application. */
  public static final String APPLICATION_ID = "application.id";

  /** Folder of the instance. */
  public static final String STATE_DIR = "state.dir";

  /** Threads that decide. */
  public static final String STREAM_THREADS = "stream.threads";

  /** Address of the HTTP endpoint. */
  public static final String HTTP_HOST = "http.host";

  /** Port of the HTTP endpoint. */
  public static final String HTTP_PORT = "http.port";

  /** How long the start waits for what it needs. */
  public static final String START_TIMEOUT_MS = "start.timeout.ms";

  /** How often state is written to the journal. */
  public static final String SNAPSHOT_INTERVAL_MS = "snapshot.interval.ms";

  /** Most bytes of an input record. */
  public static final String RECORD_BYTES_MAX = "record.bytes.max";

  /** Most bytes of a whole dead letter. */
  public static final String DEAD_LETTER_BYTES_MAX = "dead.letter.bytes.max";

  /** Most replaced threads. */
  public static final String RESTARTS_MAX = "restarts.max";

  /** Most quotas with metrics of their own. */
  public static final String METRICS_QUOTAS_MAX = "metrics.quotas.max";

  private static final String KAFKA_PREFIX = "kafka.";
  private static final String SERDE_PREFIX = "serde.";
  private static final String ENVIRONMENT_PREFIX = "FAIRWAY_";
  private static final ConfigDef DEFINITION = AdmissionSettings.DEFINITION;

  private final AbstractConfig values;
  private final Topics topics;
  private final RegistrySettings registry;

  private AdmissionConfig(Map<String, ?> settings) {
    for (String name : settings.keySet()) {
      if (!isKnown(name)) {
        throw new ConfigException(
            "Expected settings of the coordinator, but found '%s'. Known are %s, and any %s* or %s*."
                .formatted(
                    name,
                    DEFINITION.names().stream().sorted().toList(),
                    KAFKA_PREFIX,
                    SERDE_PREFIX));
      }
    }
    for (String name : List.of(BOOTSTRAP_SERVERS, SCHEMA_REGISTRY_URL)) {
      if (settings.get(name) == null || settings.get(name).toString().isBlank()) {
        throw new ConfigException(
            "Expected a value for '%s', but found none. Set it in the file, or as %s."
                .formatted(name, environmentName(name)));
      }
    }
    values = new AbstractConfig(DEFINITION, settings, false);
    try {
      topics = new Topics(values.getString(TOPIC_PREFIX));
    } catch (IllegalArgumentException e) {
      throw new ConfigException(TOPIC_PREFIX, values.getString(TOPIC_PREFIX), e.getMessage());
    }
    registry = registrySettings();
  }

  /**
   * Settings by name; values may be strings.
   *
   * @throws ConfigException if a name is unknown, or a value missing or out of range
   */
  public static AdmissionConfig of(Map<String, ?> settings) {
    return new AdmissionConfig(settings);
  }

  /**
   * Settings from a properties file and from environment variables, which win. The variable of
   * {@code topic.prefix} is {@code FAIRWAY_TOPIC_PREFIX}; variables that are no setting of the
   * coordinator are ignored, because other parts of Fairway have theirs.
   *
   * @param file null if there is none
   * @param environment the process's environment
   * @throws IOException if the file cannot be read
   * @throws ConfigException if a name in the file is unknown, or a value missing or out of range
   */
  public static AdmissionConfig load(Path file, Map<String, String> environment)
      throws IOException {
    Map<String, String> settings = new HashMap<>();
    if (file != null) {
      Properties properties = new Properties();
      try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
        properties.load(reader);
      } catch (IllegalArgumentException e) {
        throw new ConfigException(
            "Expected a properties file of name=value lines at %s, but: %s."
                .formatted(file, e.getMessage()));
      }
      properties.stringPropertyNames().forEach(n -> settings.put(n, properties.getProperty(n)));
    }
    environment.forEach(
        (variable, value) -> {
          String name = settingName(variable);
          if (name != null) {
            settings.put(name, value);
          }
        });
    return of(settings);
  }

  /** Every setting with its type, default and meaning, as text. */
  public static String documentation() {
    return DEFINITION.toRst();
  }

  Topics topics() {
    return topics;
  }

  String bootstrapServers() {
    return String.join(",", values.getList(BOOTSTRAP_SERVERS));
  }

  String registryUrls() {
    return values.getString(SCHEMA_REGISTRY_URL);
  }

  RegistrySettings registry() {
    return registry;
  }

  /** Kafka Streams application: its consumer group, and what its transactional ids begin with. */
  public String applicationId() {
    String configured = values.getString(APPLICATION_ID);
    return configured == null ? topics.prefix() + "admission" : configured;
  }

  Path stateDir() {
    return Path.of(values.getString(STATE_DIR));
  }

  int streamThreads() {
    return values.getInt(STREAM_THREADS);
  }

  String httpHost() {
    return values.getString(HTTP_HOST);
  }

  int httpPort() {
    return values.getInt(HTTP_PORT);
  }

  long startTimeoutMs() {
    return values.getLong(START_TIMEOUT_MS);
  }

  int restartsMax() {
    return values.getInt(RESTARTS_MAX);
  }

  int metricsQuotasMax() {
    return values.getInt(METRICS_QUOTAS_MAX);
  }

  TopologySettings topology(int partitions) {
    return new TopologySettings(
        topics,
        partitions,
        values.getLong(SNAPSHOT_INTERVAL_MS),
        values.getInt(RECORD_BYTES_MAX),
        values.getInt(DEAD_LETTER_BYTES_MAX));
  }

  /** What was passed through to Kafka, without the prefix. */
  Map<String, Object> kafka() {
    return values.originalsWithPrefix(KAFKA_PREFIX);
  }

  /** Names the settings; values may be credentials. */
  @Override
  public String toString() {
    return "AdmissionConfig" + values.originals().keySet();
  }

  private RegistrySettings registrySettings() {
    Map<String, Object> settings = values.originalsWithPrefix(SERDE_PREFIX);
    settings.put(AvroSerdeConfig.SCHEMA_REGISTRY_URL, values.getString(SCHEMA_REGISTRY_URL));
    AvroSerdeConfig serde = new AvroSerdeConfig(settings);
    try {
      // Look-ups stay at a second: they are made by threads that decide.
      RegistrySettings defaults = RegistrySettings.of(values.getString(SCHEMA_REGISTRY_URL));
      return serde.getString(AvroSerdeConfig.BASIC_AUTH_CREDENTIALS_SOURCE).equals("USER_INFO")
          ? defaults.withBasicAuth(serde.getPassword(AvroSerdeConfig.BASIC_AUTH_USER_INFO).value())
          : defaults;
    } catch (IllegalArgumentException e) {
      throw new ConfigException(e.getMessage());
    }
  }

  private static boolean isKnown(String name) {
    return DEFINITION.names().contains(name)
        || name.startsWith(KAFKA_PREFIX)
        || name.startsWith(SERDE_PREFIX);
  }

  private static String environmentName(String name) {
    return ENVIRONMENT_PREFIX + name.toUpperCase(Locale.ROOT).replace('.', '_');
  }

  private static String settingName(String variable) {
    if (!variable.startsWith(ENVIRONMENT_PREFIX)) {
      return null;
    }
    String name =
        variable.substring(ENVIRONMENT_PREFIX.length()).toLowerCase(Locale.ROOT).replace('_', '.');
    return isKnown(name) ? name : null;
  }
}
