package dev.fairway.dispatcher;

import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroSerdeConfig;
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
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Settings of a dispatcher: checked, immutable. The constants are their names; {@link
 * #documentation()} tells each with its default.
 *
 * <p>Beside them {@code kafka.<name>} goes to every Kafka client as {@code <name>} (security
 * settings, say), and {@code serde.<name>} to the serializer and the deserializer.
 */
public final class DispatcherConfig {

  /** Brokers to begin with. */
  public static final String BOOTSTRAP_SERVERS = "bootstrap.servers";

  /** Addresses of the schema registry. */
  public static final String SCHEMA_REGISTRY_URL = "schema.registry.url";

  /** What the names of the topics begin with. */
  public static final String TOPIC_PREFIX = "topic.prefix";

  /** Consumer group. */
  public static final String GROUP_ID = "group.id";

  /** Whether an agent registers by its first request. */
  public static final String OPEN_MODE = "open.mode";

  /** Most parked replies. */
  public static final String PARKED_REPLIES_MAX = "parked.replies.max";

  /** Most parked replies of one agent. */
  public static final String PARKED_REPLIES_PER_AGENT_MAX = "parked.replies.per.agent.max";

  /** Most bytes of parked replies. */
  public static final String PARKED_BYTES_MAX = "parked.bytes.max";

  /** How long a reply other than a grant may be parked. */
  public static final String PARKING_DEADLINE_MS = "parking.deadline.ms";

  /** How much longer than its lease a grant is kept. */
  public static final String CLOCK_TOLERANCE_MS = "clock.tolerance.ms";

  /** Most replies sent and not acknowledged. */
  public static final String IN_FLIGHT_REPLIES_MAX = "in.flight.replies.max";

  /** Retention of reply topics. */
  public static final String REPLY_RETENTION_MS = "reply.retention.ms";

  /** Replication factor of reply topics. */
  public static final String REPLY_REPLICATION_FACTOR = "reply.replication.factor";

  /** Most registered agents. */
  public static final String AGENTS_MAX = "agents.max";

  /** When a silent agent is retired. */
  public static final String AGENT_IDLE_MS = "agent.idle.ms";

  /** How long a retired agent's topic is kept. */
  public static final String AGENT_RETIRE_GRACE_MS = "agent.retire.grace.ms";

  /** How often offsets are committed. */
  public static final String COMMIT_INTERVAL_MS = "commit.interval.ms";

  /** Address of the HTTP endpoint. */
  public static final String HTTP_HOST = "http.host";

  /** Port of the HTTP endpoint. */
  public static final String HTTP_PORT = "http.port";

  /** Class that writes values. */
  public static final String VALUE_SERIALIZER = "value.serializer";

  /** Class that reads values. */
  public static final String VALUE_DESERIALIZER = "value.deserializer";

  private static final String KAFKA_PREFIX = "kafka.";
  private static final String SERDE_PREFIX = "serde.";
  private static final String ENVIRONMENT_PREFIX = "FAIRWAY_";

  /** A journal record is one command's events, and draining a long queue makes many. */
  private static final int JOURNAL_RECORD_BYTES_MAX = 16 << 20;

  private static final ConfigDef DEFINITION = DispatcherSettings.DEFINITION;

  private final AbstractConfig values;
  private final Topics topics;

  private DispatcherConfig(Map<String, ?> settings) {
    for (String name : settings.keySet()) {
      if (!DEFINITION.names().contains(name)
          && !name.startsWith(KAFKA_PREFIX)
          && !name.startsWith(SERDE_PREFIX)) {
        throw new ConfigException(
            "Expected settings of the dispatcher, but found '%s'. Known are %s, and any %s* or %s*."
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
    if (replicationFactor() == 0) {
      throw new ConfigException(
          REPLY_REPLICATION_FACTOR, 0, "Expected 1 or more, or -1 for the brokers' default.");
    }
  }

  /**
   * Settings by name; values may be strings.
   *
   * @throws ConfigException if a name is unknown, or a value missing or out of range
   */
  public static DispatcherConfig of(Map<String, ?> settings) {
    return new DispatcherConfig(settings);
  }

  /**
   * Settings from a properties file and from environment variables, which win. The variable of
   * {@code topic.prefix} is {@code FAIRWAY_TOPIC_PREFIX}; variables that are no setting of the
   * dispatcher are ignored, because other parts of Fairway have theirs.
   *
   * @param file null if there is none
   * @param environment the process's environment
   * @throws IOException if the file cannot be read
   * @throws ConfigException if a name in the file is unknown, or a value missing or out of range
   */
  public static DispatcherConfig load(Path file, Map<String, String> environment)
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

  /** Consumer group of the journal. */
  public String groupId() {
    String configured = values.getString(GROUP_ID);
    return configured == null ? topics.prefix() + "dispatcher" : configured;
  }

  /** A group that nobody joins; it keeps up to where bad registrations were put aside. */
  String agentsGroupId() {
    return groupId() + "-agents";
  }

  boolean openMode() {
    Boolean configured = values.getBoolean(OPEN_MODE);
    return configured == null
        ? values.getList(BOOTSTRAP_SERVERS).stream().allMatch(DispatcherConfig::isLoopback)
        : configured;
  }

  ParkingBounds parkingBounds() {
    return new ParkingBounds(
        values.getInt(PARKED_REPLIES_MAX),
        values.getInt(PARKED_REPLIES_PER_AGENT_MAX),
        values.getLong(PARKED_BYTES_MAX));
  }

  long parkingDeadlineMs() {
    return values.getLong(PARKING_DEADLINE_MS);
  }

  long clockToleranceMs() {
    return values.getLong(CLOCK_TOLERANCE_MS);
  }

  int inFlightMax() {
    return values.getInt(IN_FLIGHT_REPLIES_MAX);
  }

  long replyRetentionMs() {
    return values.getLong(REPLY_RETENTION_MS);
  }

  short replicationFactor() {
    return values.getShort(REPLY_REPLICATION_FACTOR);
  }

  int agentsMax() {
    return values.getInt(AGENTS_MAX);
  }

  long agentIdleMs() {
    return values.getLong(AGENT_IDLE_MS);
  }

  long retireGraceMs() {
    return values.getLong(AGENT_RETIRE_GRACE_MS);
  }

  long commitIntervalMs() {
    return values.getLong(COMMIT_INTERVAL_MS);
  }

  String httpHost() {
    return values.getString(HTTP_HOST);
  }

  int httpPort() {
    return values.getInt(HTTP_PORT);
  }

  /** Settings of every Kafka client: where the cluster is, and what was passed through. */
  Map<String, Object> clientSettings() {
    Map<String, Object> settings = values.originalsWithPrefix(KAFKA_PREFIX);
    settings.put(BOOTSTRAP_SERVERS, values.getList(BOOTSTRAP_SERVERS));
    return settings;
  }

  /**
   * New, configured serializers.
   *
   * @throws ConfigException if they don't take their settings
   */
  @SuppressWarnings("unchecked")
  Serdes newSerdes() {
    Map<String, Object> settings = new HashMap<>();
    settings.put(AvroSerdeConfig.SPECIFIC_AVRO_READER, true);
    settings.put(AvroSerdeConfig.MAX_BYTES, JOURNAL_RECORD_BYTES_MAX);
    settings.putAll(values.originalsWithPrefix(SERDE_PREFIX));
    settings.put(SCHEMA_REGISTRY_URL, values.getString(SCHEMA_REGISTRY_URL));
    try {
      Serializer<Object> serializer =
          values.getConfiguredInstance(VALUE_SERIALIZER, Serializer.class);
      serializer.configure(settings, false);
      Deserializer<Object> deserializer =
          values.getConfiguredInstance(VALUE_DESERIALIZER, Deserializer.class);
      deserializer.configure(settings, false);
      return new Serdes(serializer, deserializer);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(e.getMessage());
    }
  }

  /** Names the settings; values may be credentials. */
  @Override
  public String toString() {
    return "DispatcherConfig" + values.originals().keySet();
  }

  private static boolean isLoopback(String address) {
    String host = address.substring(0, Math.max(0, address.lastIndexOf(':')));
    return host.equals("localhost")
        || host.equals("[::1]")
        || host.equals("::1")
        || host.matches("127(\\.\\d{1,3}){3}");
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
    boolean known =
        DEFINITION.names().contains(name)
            || name.startsWith(KAFKA_PREFIX)
            || name.startsWith(SERDE_PREFIX);
    return known ? name : null;
  }
}
