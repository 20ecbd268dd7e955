package dev.fairway.schemas.service;

import dev.fairway.schemas.Topics;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/**
 * Settings of a program, checked: those of its own definition, and beside them {@code kafka.<name>}
 * for Kafka's clients and {@code serde.<name>} for the serializers. Immutable.
 */
public final class ServiceSettings {

  /** Brokers to begin with; every program has it. */
  public static final String BOOTSTRAP_SERVERS = "bootstrap.servers";

  /** Addresses of the schema registry; every program has it. */
  public static final String SCHEMA_REGISTRY_URL = "schema.registry.url";

  /** What the names of the topics begin with; every program has it. */
  public static final String TOPIC_PREFIX = "topic.prefix";

  private static final String KAFKA_PREFIX = "kafka.";
  private static final String SERDE_PREFIX = "serde.";
  private static final String ENVIRONMENT_PREFIX = "FAIRWAY_";
  private static final String HELP_INDENT = "      ";
  private static final int HELP_COLUMNS = 100;

  private final AbstractConfig values;
  private final Topics topics;

  private ServiceSettings(AbstractConfig values, Topics topics) {
    this.values = values;
    this.topics = topics;
  }

  /** A new definition with the settings that every program has; for more to be added. */
  public static ConfigDef definition() {
    return new ConfigDef()
        .define(
            BOOTSTRAP_SERVERS,
            ConfigDef.Type.LIST,
            ConfigDef.NO_DEFAULT_VALUE,
            ConfigDef.Importance.HIGH,
            "Brokers to begin with, host:port, comma separated.")
        .define(
            SCHEMA_REGISTRY_URL,
            ConfigDef.Type.STRING,
            ConfigDef.NO_DEFAULT_VALUE,
            ConfigDef.Importance.HIGH,
            "Base addresses of the schema registry, comma separated, tried in turn.")
        .define(
            TOPIC_PREFIX,
            ConfigDef.Type.STRING,
            Topics.DEFAULT_PREFIX,
            ConfigDef.Importance.MEDIUM,
            "What the names of the topics begin with.");
  }

  /**
   * Settings by name; values may be strings.
   *
   * @param program for people, such as {@code the dispatcher}
   * @param definition {@link #definition()} and what is the program's own
   * @throws ConfigException if a name is unknown, or a value missing or out of range
   */
  public static ServiceSettings of(String program, ConfigDef definition, Map<String, ?> settings) {
    for (String name : settings.keySet()) {
      if (!isKnown(definition, name)) {
        throw new ConfigException(
            "Expected settings of %s, but found '%s'. Known are %s, and any %s* or %s*."
                .formatted(
                    program,
                    name,
                    definition.names().stream().sorted().toList(),
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
    AbstractConfig values = new AbstractConfig(definition, settings, false);
    try {
      return new ServiceSettings(values, new Topics(values.getString(TOPIC_PREFIX)));
    } catch (IllegalArgumentException e) {
      throw new ConfigException(TOPIC_PREFIX, values.getString(TOPIC_PREFIX), e.getMessage());
    }
  }

  /**
   * Every setting with its default and its meaning, as plain text; those without a default first.
   */
  public static String documentation(ConfigDef definition) {
    StringBuilder text = new StringBuilder("Settings:\n");
    definition.configKeys().values().stream()
        .sorted(Comparator.comparing(ConfigDef.ConfigKey::hasDefault))
        .forEach(
            key -> {
              text.append("  ").append(key.name).append(" (").append(presetOf(key)).append(")\n");
              wrap(key.documentation, text);
            });
    return text.toString();
  }

  private static String presetOf(ConfigDef.ConfigKey key) {
    String range = key.validator == null ? "" : ", " + key.validator;
    if (!key.hasDefault()) {
      return "required" + range;
    }
    Object preset = key.defaultValue;
    if (preset instanceof Class<?> type) {
      preset = type.getName();
    }
    return "default: " + (preset == null ? "none" : preset) + range;
  }

  private static void wrap(String words, StringBuilder text) {
    int column = 0;
    for (String word : words.split(" ", -1)) {
      boolean fits = column > 0 && column + 1 + word.length() <= HELP_COLUMNS;
      text.append(fits ? " " : column == 0 ? HELP_INDENT : "\n" + HELP_INDENT).append(word);
      column = (fits ? column + 1 : HELP_INDENT.length()) + word.length();
    }
    text.append('\n');
  }

  /**
   * Reads a properties file and environment variables, which win. The variable of {@code
   * topic.prefix} is {@code FAIRWAY_TOPIC_PREFIX}; variables that are no setting of this definition
   * are ignored, because other parts of Fairway have theirs.
   *
   * @param file null if there is none
   * @param environment the process's environment
   * @return values by name, unchecked
   * @throws ConfigException if the file cannot be read, or is no properties file
   */
  public static Map<String, String> read(
      ConfigDef definition, Path file, Map<String, String> environment) {
    Map<String, String> settings = new HashMap<>();
    if (file != null) {
      Properties properties = new Properties();
      try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
        properties.load(reader);
      } catch (IOException e) {
        throw new ConfigException(
            "Expected a properties file at %s, but: %s.".formatted(file, FileTrouble.of(e)));
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
          if (name != null && isKnown(definition, name)) {
            settings.put(name, value);
          }
        });
    return settings;
  }

  /** The values of the definition. */
  public AbstractConfig values() {
    return values;
  }

  /** Names of the topics. */
  public Topics topics() {
    return topics;
  }

  /** What is passed through to Kafka, without its prefix; the caller's own. */
  public Map<String, Object> kafka() {
    return values.originalsWithPrefix(KAFKA_PREFIX);
  }

  /** What is passed through to the serializers, without its prefix; the caller's own. */
  public Map<String, Object> serde() {
    return values.originalsWithPrefix(SERDE_PREFIX);
  }

  /** Names the settings; values may be credentials. */
  @Override
  public String toString() {
    return values.originals().keySet().toString();
  }

  private static boolean isKnown(ConfigDef definition, String name) {
    return definition.names().contains(name)
        || name.startsWith(KAFKA_PREFIX)
        || name.startsWith(SERDE_PREFIX);
  }

  private static String environmentName(String name) {
    return ENVIRONMENT_PREFIX + name.toUpperCase(Locale.ROOT).replace('.', '_');
  }

  /** Null if it is no variable of Fairway. */
  private static String settingName(String variable) {
    return variable.startsWith(ENVIRONMENT_PREFIX)
        ? variable.substring(ENVIRONMENT_PREFIX.length()).toLowerCase(Locale.ROOT).replace('_', '.')
        : null;
  }
}
