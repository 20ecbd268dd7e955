package dev.fairway.cli.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.mapping.QuotaMapper;
import dev.fairway.replay.script.ClosestName;
import dev.fairway.replay.script.InvalidJsonException;
import dev.fairway.replay.script.QuotaJson;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Quotas as people write them, in YAML or JSON, from and to the {@link Quota} record. Reading is
 * strict and reports all errors of a file at once, each with its line.
 */
public final class QuotaYaml {

  /** Longest file that is read, in bytes. */
  public static final int FILE_BYTES_MAX = 1024 * 1024;

  /** A value that long is recognised; the rest of it says nothing new. */
  private static final int TOLD_MAX = 60;

  private static final Set<String> SECTIONS = Set.of("quotas", "admission", "gateway", "kafka");
  private static final ObjectMapper YAML =
      new ObjectMapper(
          YAMLFactory.builder()
              .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
              .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
              .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
              .build());

  private QuotaYaml() {}

  /**
   * Reads a {@code fairway.yaml}.
   *
   * @throws InvalidConfigException with every error of the file, or if it cannot be read
   */
  public static FairwayConfig read(Path file) {
    try {
      long bytes = Files.size(file);
      if (bytes > FILE_BYTES_MAX) {
        throw new InvalidConfigException(
            List.of(file + ": expected at most " + FILE_BYTES_MAX + " bytes, but found " + bytes));
      }
      return parse(Files.readString(file, StandardCharsets.UTF_8), file.toString());
    } catch (IOException e) {
      throw new InvalidConfigException(
          List.of(
              "Expected a readable UTF-8 file at "
                  + file
                  + ", but: "
                  + FileTrouble.of(e)
                  + ". Check the path."));
    }
  }

  /**
   * Reads the text of a {@code fairway.yaml}.
   *
   * @param source name of the text, for messages
   * @throws InvalidConfigException with every error of the text
   */
  public static FairwayConfig parse(String text, String source) {
    LocatedTree tree = LocatedTree.parse(text, source);
    Errors errors = new Errors(tree, source);
    JsonNode root = tree.root();
    if (!root.isObject()) {
      errors.add(
          "",
          "expected a section 'quotas:' with a list, one '- id: ...' a quota, but found "
              + kind(root));
      throw errors.toException();
    }
    root.fieldNames()
        .forEachRemaining(
            name -> {
              if (!SECTIONS.contains(name)) {
                errors.add(
                    name,
                    "unknown section; expected one of [admission, gateway, kafka, quotas]"
                        + ClosestName.question(name, SECTIONS));
              }
            });
    List<Quota> quotas = quotas(root.path("quotas"), errors);
    FairwayConfig config =
        new FairwayConfig(
            quotas,
            stateGiven(root.path("quotas")),
            settings("admission", root.path("admission"), errors),
            gateway(root.path("gateway"), quotas, errors),
            settings("kafka", root.path("kafka"), errors));
    if (!errors.isEmpty()) {
      throw errors.toException();
    }
    return config;
  }

  /**
   * The quotas as a file that {@link #parse} reads back to the same records, but for how often each
   * was cleared: that is no part of what an operator defines, and a quota that is defined anew
   * keeps its own.
   */
  public static String toYaml(List<Quota> quotas) {
    ArrayNode list = JsonNodeFactory.instance.arrayNode();
    for (Quota quota : quotas) {
      ObjectNode tree = toTree(quota);
      tree.remove("clear_count");
      list.add(tree);
    }
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.set("quotas", list);
    try {
      return YAML.writeValueAsString(root);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree that is no YAML", e);
    }
  }

  /** One quota as a tree with the names of the file; what has no value is left out. */
  public static ObjectNode toTree(Quota quota) {
    return RecordTree.of(quota);
  }

  /**
   * What a quota says that this version stores but does not act on: one line for people, or null if
   * it acts on all.
   */
  public static String notEnforced(Quota quota) {
    List<String> knobs = QuotaPolicy.notEnforced(QuotaMapper.toEngine(quota));
    return knobs.isEmpty()
        ? null
        : quota.getId() + ": this version stores, but does not act on, " + String.join(", ", knobs);
  }

  private static List<Quota> quotas(JsonNode list, Errors errors) {
    if (list.isMissingNode()) {
      return List.of();
    }
    if (list.isNull() || (list.isArray() && list.isEmpty())) {
      errors.add(
          "quotas",
          "expected at least one quota, '- id: ...', but found "
              + (list.isNull() ? "nothing" : "an empty list")
              + ". Write one below it; 'fairway up' alone takes a file without the section, too");
      return List.of();
    }
    if (!list.isArray()) {
      errors.add("quotas", "expected a list, one '- id: ...' a quota, but found " + kind(list));
      return List.of();
    }
    List<Quota> quotas = new ArrayList<>();
    Map<String, Integer> firstById = new HashMap<>();
    for (int i = 0; i < list.size(); i++) {
      String path = "quotas[" + i + "]";
      try {
        Quota quota = QuotaJson.parse(list.get(i));
        Integer first = firstById.putIfAbsent(quota.getId(), i);
        if (first != null) {
          errors.add(
              path + ".id",
              "expected each id once, but quotas[" + first + "] is " + quota.getId() + " too");
        }
        for (String violation : QuotaJson.violations(list.get(i), quota)) {
          errors.addRelative(path, violation);
        }
        quotas.add(quota);
      } catch (InvalidJsonException e) {
        e.errors().forEach(error -> errors.addRelative(path, error));
      }
    }
    return quotas;
  }

  /** What a node is, for people. */
  private static String kind(JsonNode node) {
    return switch (node.getNodeType()) {
      case ARRAY -> "a list";
      case OBJECT -> "fields";
      case NUMBER, BOOLEAN, STRING -> "'" + shortened(node.asText()) + "'";
      default -> "nothing";
    };
  }

  private static String shortened(String text) {
    return text.length() <= TOLD_MAX ? text : text.substring(0, TOLD_MAX) + "...";
  }

  private static GatewaySection gateway(JsonNode node, List<Quota> quotas, Errors errors) {
    if (node.isMissingNode() || node.isNull()) {
      return null;
    }
    try {
      return GatewayYaml.parse(node, quotas, errors.isEmpty());
    } catch (InvalidJsonException e) {
      e.errors().forEach(error -> errors.addRelative("gateway", error));
      return null;
    }
  }

  private static Set<String> stateGiven(JsonNode list) {
    Set<String> ids = new HashSet<>();
    for (JsonNode quota : list) {
      if (quota.hasNonNull("state") && quota.path("id").isTextual()) {
        ids.add(quota.path("id").textValue());
      }
    }
    return ids;
  }

  private static Map<String, String> settings(String section, JsonNode node, Errors errors) {
    Map<String, String> settings = new LinkedHashMap<>();
    if (node.isMissingNode() || node.isNull()) {
      return settings;
    }
    if (!node.isObject()) {
      errors.add(section, "expected settings, one 'name: value' a line, but found " + kind(node));
      return settings;
    }
    node.properties()
        .forEach(
            entry -> {
              if (entry.getValue().isValueNode() && !entry.getValue().isNull()) {
                settings.put(entry.getKey(), entry.getValue().asText());
              } else {
                errors.add(
                    section + "." + entry.getKey(),
                    "expected a text or a number, but found " + entry.getValue().getNodeType());
              }
            });
    return settings;
  }

  private record Errors(LocatedTree tree, String source, TreeMap<Integer, List<String>> byLine) {

    Errors(LocatedTree tree, String source) {
      this(tree, source, new TreeMap<>());
    }

    void add(String path, String message) {
      int line = tree.lineOf(path);
      byLine
          .computeIfAbsent(line, any -> new ArrayList<>())
          .add(InvalidConfigException.error(source, line, path, message));
    }

    /** An error below {@code path}: {@code field: message}, or a message alone. */
    void addRelative(String path, String error) {
      int colon = error.indexOf(": ");
      String field = colon < 0 ? "" : error.substring(0, colon);
      if (field.isEmpty() || field.indexOf(' ') >= 0) {
        add(path, error);
      } else {
        add(path + "." + field, error.substring(colon + 2));
      }
    }

    boolean isEmpty() {
      return byLine.isEmpty();
    }

    InvalidConfigException toException() {
      return new InvalidConfigException(byLine.values().stream().flatMap(List::stream).toList());
    }
  }
}
