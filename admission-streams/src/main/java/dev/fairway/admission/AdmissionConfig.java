package dev.fairway.admission;

import dev.fairway.admission.topology.TopologySettings;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroSerdeConfig;
import dev.fairway.schemas.serde.RegistrySettings;
import dev.fairway.schemas.service.ServiceSettings;
import java.nio.file.Path;
import java.util.Map;
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
  public static final String BOOTSTRAP_SERVERS = ServiceSettings.BOOTSTRAP_SERVERS;

  /** Addresses of the schema registry. */
  public static final String SCHEMA_REGISTRY_URL = ServiceSettings.SCHEMA_REGISTRY_URL;

  /** What the names of the topics begin with. */
  public static final String TOPIC_PREFIX = ServiceSettings.TOPIC_PREFIX;

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

  private static final ConfigDef DEFINITION = AdmissionSettings.DEFINITION;

  private final ServiceSettings settings;
  private final AbstractConfig values;
  private final RegistrySettings registry;

  private AdmissionConfig(Map<String, ?> given) {
    settings = ServiceSettings.of("the coordinator", DEFINITION, given);
    values = settings.values();
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
   * @throws ConfigException if the file cannot be read, a name in it is unknown, or a value missing
   *     or out of range
   */
  public static AdmissionConfig load(Path file, Map<String, String> environment) {
    return of(ServiceSettings.read(DEFINITION, file, environment));
  }

  /** Every setting with its type, default and meaning, as text. */
  public static String documentation() {
    return ServiceSettings.documentation(DEFINITION);
  }

  Topics topics() {
    return settings.topics();
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
    return configured == null ? topics().prefix() + "admission" : configured;
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
        topics(),
        partitions,
        values.getLong(SNAPSHOT_INTERVAL_MS),
        values.getInt(RECORD_BYTES_MAX),
        values.getInt(DEAD_LETTER_BYTES_MAX));
  }

  /** What was passed through to Kafka, without the prefix. */
  Map<String, Object> kafka() {
    return settings.kafka();
  }

  /** Names the settings; values may be credentials. */
  @Override
  public String toString() {
    return "AdmissionConfig" + settings;
  }

  private RegistrySettings registrySettings() {
    Map<String, Object> given = settings.serde();
    given.put(AvroSerdeConfig.SCHEMA_REGISTRY_URL, values.getString(SCHEMA_REGISTRY_URL));
    AvroSerdeConfig serde = new AvroSerdeConfig(given);
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
}
