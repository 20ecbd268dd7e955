package dev.fairway.dispatcher;

import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroSerdeConfig;
import dev.fairway.schemas.service.ServiceSettings;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
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
  public static final String BOOTSTRAP_SERVERS = ServiceSettings.BOOTSTRAP_SERVERS;

  /** Addresses of the schema registry. */
  public static final String SCHEMA_REGISTRY_URL = ServiceSettings.SCHEMA_REGISTRY_URL;

  /** What the names of the topics begin with. */
  public static final String TOPIC_PREFIX = ServiceSettings.TOPIC_PREFIX;

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

  /** A journal record is one command's events, and draining a long queue makes many. */
  private static final int JOURNAL_RECORD_BYTES_MAX = 16 << 20;

  private static final ConfigDef DEFINITION = DispatcherSettings.DEFINITION;

  private final ServiceSettings settings;
  private final AbstractConfig values;

  private DispatcherConfig(Map<String, ?> given) {
    settings = ServiceSettings.of("the dispatcher", DEFINITION, given);
    values = settings.values();
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
   * @throws ConfigException if the file cannot be read, a name in it is unknown, or a value missing
   *     or out of range
   */
  public static DispatcherConfig load(Path file, Map<String, String> environment) {
    return of(ServiceSettings.read(DEFINITION, file, environment));
  }

  /** Every setting with its type, default and meaning, as text. */
  public static String documentation() {
    return ServiceSettings.documentation(DEFINITION);
  }

  Topics topics() {
    return settings.topics();
  }

  /** Consumer group of the journal. */
  public String groupId() {
    String configured = values.getString(GROUP_ID);
    return configured == null ? topics().prefix() + "dispatcher" : configured;
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
    Map<String, Object> clients = settings.kafka();
    clients.put(BOOTSTRAP_SERVERS, values.getList(BOOTSTRAP_SERVERS));
    return clients;
  }

  /**
   * New, configured serializers.
   *
   * @throws ConfigException if they don't take their settings
   */
  @SuppressWarnings("unchecked")
  Serdes newSerdes() {
    Map<String, Object> serde = new HashMap<>();
    serde.put(AvroSerdeConfig.SPECIFIC_AVRO_READER, true);
    serde.put(AvroSerdeConfig.MAX_BYTES, JOURNAL_RECORD_BYTES_MAX);
    serde.putAll(settings.serde());
    serde.put(SCHEMA_REGISTRY_URL, values.getString(SCHEMA_REGISTRY_URL));
    try {
      Serializer<Object> serializer =
          values.getConfiguredInstance(VALUE_SERIALIZER, Serializer.class);
      serializer.configure(serde, false);
      Deserializer<Object> deserializer =
          values.getConfiguredInstance(VALUE_DESERIALIZER, Deserializer.class);
      deserializer.configure(serde, false);
      return new Serdes(serializer, deserializer);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(e.getMessage());
    }
  }

  /** Names the settings; values may be credentials. */
  @Override
  public String toString() {
    return "DispatcherConfig" + settings;
  }

  private static boolean isLoopback(String address) {
    String host = address.substring(0, Math.max(0, address.lastIndexOf(':')));
    return host.equals("localhost")
        || host.equals("[::1]")
        || host.equals("::1")
        || host.matches("127(\\.\\d{1,3}){3}");
  }
}
