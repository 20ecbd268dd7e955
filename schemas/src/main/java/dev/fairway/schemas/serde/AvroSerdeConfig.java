package dev.fairway.schemas.serde;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/**
 * Settings of the serializer and the deserializer. All but {@link #MAX_BYTES} have the names, and
 * where nothing else is said the meaning, of Confluent's.
 */
public final class AvroSerdeConfig extends AbstractConfig {

  /** Addresses of the registry. */
  public static final String SCHEMA_REGISTRY_URL = "schema.registry.url";

  /** Whether the serializer registers schemas that the subject lacks. */
  public static final String AUTO_REGISTER_SCHEMAS = "auto.register.schemas";

  /** Whether generated classes are read; only true is supported. */
  public static final String SPECIFIC_AVRO_READER = "specific.avro.reader";

  /** Class of values. */
  public static final String SPECIFIC_AVRO_VALUE_TYPE = "specific.avro.value.type";

  /** Class of record keys. */
  public static final String SPECIFIC_AVRO_KEY_TYPE = "specific.avro.key.type";

  /** Whether Java-only properties are left out of what is registered. */
  public static final String AVRO_REMOVE_JAVA_PROPERTIES = "avro.remove.java.properties";

  /** Naming of subjects for values. */
  public static final String VALUE_SUBJECT_NAME_STRATEGY = "value.subject.name.strategy";

  /** Naming of subjects for record keys. */
  public static final String KEY_SUBJECT_NAME_STRATEGY = "key.subject.name.strategy";

  /** Where the credentials come from. */
  public static final String BASIC_AUTH_CREDENTIALS_SOURCE = "basic.auth.credentials.source";

  /** The credentials. */
  public static final String BASIC_AUTH_USER_INFO = "basic.auth.user.info";

  /** Longest wait for a connection. */
  public static final String HTTP_CONNECT_TIMEOUT_MS = "http.connect.timeout.ms";

  /** Longest look-up. */
  public static final String HTTP_READ_TIMEOUT_MS = "http.read.timeout.ms";

  /** Most unknown ids remembered. */
  public static final String MISSING_CACHE_SIZE = "missing.cache.size";

  /** How long an unknown id is remembered. */
  public static final String MISSING_ID_CACHE_TTL_SEC = "missing.id.cache.ttl.sec";

  /** Most bytes of one record's value that are read. */
  public static final String MAX_BYTES = "fairway.avro.max.bytes";

  /** Bytes that are read at most unless set otherwise: what a broker takes by default. */
  public static final int MAX_BYTES_DEFAULT = 1_048_588;

  private static final String TOPIC_NAME_STRATEGY = "TopicNameStrategy";

  private static final ConfigDef DEFINITION =
      new ConfigDef()
          .define(
              SCHEMA_REGISTRY_URL,
              ConfigDef.Type.STRING,
              ConfigDef.NO_DEFAULT_VALUE,
              new ConfigDef.NonEmptyString(),
              ConfigDef.Importance.HIGH,
              "Base addresses of the schema registry, comma separated, tried in turn.")
          .define(
              AUTO_REGISTER_SCHEMAS,
              ConfigDef.Type.BOOLEAN,
              true,
              ConfigDef.Importance.MEDIUM,
              "Whether the serializer registers schemas. If false, it looks their ids up.")
          .define(
              SPECIFIC_AVRO_READER,
              ConfigDef.Type.BOOLEAN,
              true,
              ConfigDef.Importance.LOW,
              "Whether the deserializer makes objects of generated classes. It makes no others; Confluent's default is false.")
          .define(
              SPECIFIC_AVRO_VALUE_TYPE,
              ConfigDef.Type.CLASS,
              null,
              ConfigDef.Importance.MEDIUM,
              "Generated class of the values. Null: the protocol's record of the writer's name.")
          .define(
              SPECIFIC_AVRO_KEY_TYPE,
              ConfigDef.Type.CLASS,
              null,
              ConfigDef.Importance.LOW,
              "Generated class of the record keys. Null: the protocol's record of the writer's name.")
          .define(
              AVRO_REMOVE_JAVA_PROPERTIES,
              ConfigDef.Type.BOOLEAN,
              true,
              ConfigDef.Importance.LOW,
              "Whether the schema is registered without avro.java.string, so that writers in other languages share its id. Confluent's default is false.")
          .define(
              VALUE_SUBJECT_NAME_STRATEGY,
              ConfigDef.Type.STRING,
              TOPIC_NAME_STRATEGY,
              ConfigDef.Importance.LOW,
              "Naming of subjects for values. Only TopicNameStrategy.")
          .define(
              KEY_SUBJECT_NAME_STRATEGY,
              ConfigDef.Type.STRING,
              TOPIC_NAME_STRATEGY,
              ConfigDef.Importance.LOW,
              "Naming of subjects for record keys. Only TopicNameStrategy.")
          .define(
              BASIC_AUTH_CREDENTIALS_SOURCE,
              ConfigDef.Type.STRING,
              "URL",
              ConfigDef.ValidString.in("URL", "USER_INFO"),
              ConfigDef.Importance.MEDIUM,
              "USER_INFO: credentials are in basic.auth.user.info. URL: there are none.")
          .define(
              BASIC_AUTH_USER_INFO,
              ConfigDef.Type.PASSWORD,
              "",
              ConfigDef.Importance.MEDIUM,
              "user:password for the registry, used if the source is USER_INFO.")
          .define(
              HTTP_CONNECT_TIMEOUT_MS,
              ConfigDef.Type.INT,
              1_000,
              ConfigDef.Range.atLeast(1),
              ConfigDef.Importance.LOW,
              "Longest wait for a connection to the registry, in milliseconds.")
          .define(
              HTTP_READ_TIMEOUT_MS,
              ConfigDef.Type.INT,
              1_000,
              ConfigDef.Range.atLeast(1),
              ConfigDef.Importance.LOW,
              "Longest look-up, all addresses together, in milliseconds. A registration may take five times as long.")
          .define(
              MISSING_CACHE_SIZE,
              ConfigDef.Type.INT,
              10_000,
              ConfigDef.Range.atLeast(1),
              ConfigDef.Importance.LOW,
              "Most unknown schema ids that are remembered.")
          .define(
              MISSING_ID_CACHE_TTL_SEC,
              ConfigDef.Type.LONG,
              10L,
              ConfigDef.Range.atLeast(0),
              ConfigDef.Importance.LOW,
              "How long an unknown schema id is not asked for again, in seconds.")
          .define(
              MAX_BYTES,
              ConfigDef.Type.INT,
              MAX_BYTES_DEFAULT,
              ConfigDef.Range.atLeast(5),
              ConfigDef.Importance.LOW,
              "Most bytes of one record's value that are read.");

  /**
   * Checked settings; names that are not of the serde's are ignored.
   *
   * @throws ConfigException if a value is missing, out of range or not supported
   */
  public AvroSerdeConfig(Map<String, ?> values) {
    super(DEFINITION, values, false);
    for (String name : new String[] {VALUE_SUBJECT_NAME_STRATEGY, KEY_SUBJECT_NAME_STRATEGY}) {
      String strategy = getString(name);
      if (!strategy.substring(strategy.lastIndexOf('.') + 1).equals(TOPIC_NAME_STRATEGY)) {
        throw new ConfigException(
            name,
            strategy,
            "Only TopicNameStrategy is supported: the protocol's subjects are <topic>-value.");
      }
    }
  }

  RegistrySettings registrySettings() {
    int readTimeoutMs = getInt(HTTP_READ_TIMEOUT_MS);
    RegistrySettings defaults = RegistrySettings.of(getString(SCHEMA_REGISTRY_URL));
    RegistrySettings settings =
        defaults
            .withTimeouts(
                Duration.ofMillis(getInt(HTTP_CONNECT_TIMEOUT_MS)),
                Duration.ofMillis(readTimeoutMs),
                Duration.ofMillis(5L * readTimeoutMs))
            .withCaches(
                defaults.cachedMax(),
                getInt(MISSING_CACHE_SIZE),
                Duration.ofSeconds(getLong(MISSING_ID_CACHE_TTL_SEC)));
    return getString(BASIC_AUTH_CREDENTIALS_SOURCE).equals("USER_INFO")
        ? settings.withBasicAuth(getPassword(BASIC_AUTH_USER_INFO).value())
        : settings;
  }
}
