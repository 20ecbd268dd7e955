package dev.fairway.cli.registry;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTP side: paths, JSON and error codes as Confluent's registry has them. */
final class RegistryApi implements HttpHandler {

  private static final Logger LOG = LoggerFactory.getLogger(RegistryApi.class);
  private static final String CONTENT_TYPE = "application/vnd.schemaregistry.v1+json";
  private static final int BODY_BYTES_MAX = 1024 * 1024;
  private static final int LATEST = -1;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final SchemaStore store;

  RegistryApi(SchemaStore store) {
    this.store = store;
  }

  /** One request, taken apart. The body is read on demand. */
  private record Request(String method, List<String> path, String query, HttpExchange exchange) {

    String segment(int index) {
      return path.get(index);
    }

    /** Whether method and path fit; {@code *} stands for any one segment. */
    boolean is(String wantedMethod, String... pattern) {
      return method.equals(wantedMethod) && isAt(pattern);
    }

    private boolean isAt(String... pattern) {
      if (path.size() != pattern.length) {
        return false;
      }
      for (int i = 0; i < pattern.length; i++) {
        if (!pattern[i].equals("*") && !pattern[i].equals(path.get(i))) {
          return false;
        }
      }
      return true;
    }

    boolean has(String parameter) {
      return query != null && List.of(query.split("&")).contains(parameter);
    }
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      int status = 200;
      JsonNode answer;
      try {
        answer = answer(request(exchange));
      } catch (RegistryError e) {
        status = e.status();
        answer = error(e.code(), e.getMessage());
      } catch (RuntimeException | StackOverflowError e) {
        LOG.error("Request {} {} failed", exchange.getRequestMethod(), exchange.getRequestURI(), e);
        status = 500;
        answer = error(50001, "Error in the schema registry: " + e);
      }
      byte[] bytes = JSON.writeValueAsBytes(answer);
      exchange.getResponseHeaders().set("Content-Type", CONTENT_TYPE);
      boolean head = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(status, head ? -1 : bytes.length);
      if (!head) {
        exchange.getResponseBody().write(bytes);
      }
    }
  }

  private static Request request(HttpExchange exchange) {
    List<String> path = new ArrayList<>();
    for (String segment : exchange.getRequestURI().getRawPath().split("/")) {
      if (!segment.isEmpty()) {
        path.add(decode(segment));
      }
    }
    return new Request(
        exchange.getRequestMethod(), path, exchange.getRequestURI().getRawQuery(), exchange);
  }

  private static String decode(String segment) {
    try {
      // In a path a plus is a plus.
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw RegistryError.badRequest("Expected a URL-encoded path: " + e.getMessage());
    }
  }

  private JsonNode answer(Request request) throws IOException {
    if (request.is("GET")) {
      return JSON.createObjectNode();
    }
    return subjects(request)
        .or(() -> schemas(request))
        .or(() -> config(request))
        .orElseThrow(() -> refusal(request));
  }

  private Optional<JsonNode> subjects(Request request) {
    if (request.is("GET", "subjects")) {
      return Optional.of(JSON.valueToTree(store.subjects()));
    }
    if (request.is("POST", "subjects", "*")) {
      return Optional.of(version(store.lookUp(request.segment(1), schemaIn(request))));
    }
    if (request.is("GET", "subjects", "*", "versions")) {
      ArrayNode versions = JSON.createArrayNode();
      store.versions(request.segment(1)).forEach(v -> versions.add(v.version()));
      return Optional.of(versions);
    }
    if (request.is("POST", "subjects", "*", "versions")) {
      int id = store.register(request.segment(1), schemaIn(request));
      return Optional.of(JSON.createObjectNode().put("id", id));
    }
    if (request.is("GET", "subjects", "*", "versions", "*")) {
      return Optional.of(
          version(store.version(request.segment(1), versionNumber(request.segment(3)))));
    }
    if (request.is("GET", "subjects", "*", "versions", "*", "schema")) {
      return Optional.of(
          tree(store.version(request.segment(1), versionNumber(request.segment(3))).schema()));
    }
    if (request.is("POST", "compatibility", "subjects", "*", "versions", "*")) {
      String subject = request.segment(2);
      int version = versionNumber(request.segment(4));
      return Optional.of(compatible(request, subject, List.of(store.version(subject, version))));
    }
    if (request.is("POST", "compatibility", "subjects", "*", "versions")) {
      String subject = request.segment(2);
      return Optional.of(compatible(request, subject, store.versions(subject)));
    }
    return Optional.empty();
  }

  private Optional<JsonNode> schemas(Request request) {
    if (request.is("GET", "schemas", "types")) {
      return Optional.of(JSON.createArrayNode().add("AVRO"));
    }
    if (request.is("GET", "schemas", "ids", "*")) {
      return Optional.of(
          JSON.createObjectNode().put("schema", store.schema(schemaId(request.segment(2)))));
    }
    if (request.is("GET", "schemas", "ids", "*", "schema")) {
      return Optional.of(tree(store.schema(schemaId(request.segment(2)))));
    }
    if (request.is("GET", "schemas", "ids", "*", "subjects")) {
      ArrayNode subjects = JSON.createArrayNode();
      store.usesOf(schemaId(request.segment(2))).forEach(use -> subjects.add(use.subject()));
      return Optional.of(subjects);
    }
    if (request.is("GET", "schemas", "ids", "*", "versions")) {
      ArrayNode versions = JSON.createArrayNode();
      for (SchemaStore.Version use : store.usesOf(schemaId(request.segment(2)))) {
        versions.addObject().put("subject", use.subject()).put("version", use.version());
      }
      return Optional.of(versions);
    }
    return Optional.empty();
  }

  private Optional<JsonNode> config(Request request) {
    if (request.is("GET", "config")) {
      return Optional.of(level("compatibilityLevel", store.compatibility()));
    }
    if (request.is("PUT", "config")) {
      Compatibility level = levelIn(request);
      store.setCompatibility(level);
      return Optional.of(level("compatibility", level));
    }
    if (request.is("GET", "config", "*")) {
      String subject = request.segment(1);
      Optional<Compatibility> level = store.ownCompatibility(subject);
      if (level.isEmpty() && !request.has("defaultToGlobal=true")) {
        throw RegistryError.noSubjectCompatibility(subject);
      }
      return Optional.of(level("compatibilityLevel", level.orElse(store.compatibility())));
    }
    if (request.is("PUT", "config", "*")) {
      Compatibility level = levelIn(request);
      store.setCompatibility(request.segment(1), level);
      return Optional.of(level("compatibility", level));
    }
    return Optional.empty();
  }

  private static RegistryError refusal(Request request) {
    String path = request.exchange().getRequestURI().getPath();
    boolean known =
        !request.path().isEmpty()
            && List.of("subjects", "schemas", "config", "compatibility")
                .contains(request.segment(0));
    return known && !request.method().equals("GET")
        ? RegistryError.methodNotAllowed(request.method(), path)
        : RegistryError.noSuchPath(path);
  }

  private JsonNode compatible(Request request, String subject, List<SchemaStore.Version> against) {
    Optional<String> violation = store.violation(subject, schemaIn(request), against);
    ObjectNode answer = JSON.createObjectNode().put("is_compatible", violation.isEmpty());
    if (request.has("verbose=true")) {
      ArrayNode messages = answer.putArray("messages");
      violation.ifPresent(messages::add);
    }
    return answer;
  }

  private static String schemaIn(Request request) {
    JsonNode body = body(request);
    String type = body.path("schemaType").asText("AVRO");
    if (!type.equals("AVRO")) {
      throw RegistryError.invalidSchema(
          "Expected schemaType AVRO, but found '%s'. This registry keeps Avro schemas only."
              .formatted(type));
    }
    if (!body.path("references").isEmpty()) {
      throw RegistryError.invalidSchema(
          "Expected a schema without references, but found %d. Put the referenced types into it."
              .formatted(body.path("references").size()));
    }
    JsonNode schema = body.path("schema");
    if (!schema.isTextual() || schema.asText().isBlank()) {
      throw RegistryError.invalidSchema(
          "Expected the schema as a string in field 'schema', but found %s."
              .formatted(schema.isMissingNode() ? "none" : schema.getNodeType()));
    }
    return schema.asText();
  }

  private static Compatibility levelIn(Request request) {
    String level = body(request).path("compatibility").asText("");
    return Compatibility.of(level).orElseThrow(() -> RegistryError.invalidCompatibility(level));
  }

  private static JsonNode body(Request request) {
    try {
      byte[] bytes = request.exchange().getRequestBody().readNBytes(BODY_BYTES_MAX + 1);
      if (bytes.length > BODY_BYTES_MAX) {
        throw RegistryError.tooLarge(BODY_BYTES_MAX);
      }
      JsonNode body = JSON.readTree(bytes);
      if (!body.isObject()) {
        throw RegistryError.badRequest("Expected a JSON object as body.");
      }
      return body;
    } catch (JsonProcessingException e) {
      throw RegistryError.badRequest(
          "Expected a JSON object as body, but it does not parse: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw RegistryError.badRequest("Expected a whole body, but: " + e.getMessage());
    }
  }

  private static int versionNumber(String text) {
    if (text.equals("latest") || text.equals(Integer.toString(LATEST))) {
      return LATEST;
    }
    try {
      int version = Integer.parseInt(text);
      if (version >= 1) {
        return version;
      }
    } catch (NumberFormatException e) {
      throw RegistryError.invalidVersion(text);
    }
    throw RegistryError.invalidVersion(text);
  }

  private static int schemaId(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw RegistryError.schemaNotFound(text);
    }
  }

  private static JsonNode version(SchemaStore.Version version) {
    return JSON.createObjectNode()
        .put("subject", version.subject())
        .put("version", version.version())
        .put("id", version.id())
        .put("schema", version.schema());
  }

  private static JsonNode level(String field, Compatibility level) {
    return JSON.createObjectNode().put(field, level.name());
  }

  private static JsonNode error(int code, String message) {
    return JSON.createObjectNode().put("error_code", code).put("message", message);
  }

  private static JsonNode tree(String schema) {
    try {
      return JSON.readTree(schema);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("Avro wrote a schema that is not JSON", e);
    }
  }
}
