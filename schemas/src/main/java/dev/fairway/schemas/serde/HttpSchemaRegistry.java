package dev.fairway.schemas.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Client of a registry that speaks Confluent's REST API, as Confluent Schema Registry, Apicurio
 * ({@code /apis/ccompat/v7}), Karapace and Redpanda do.
 *
 * <p>Made to be asked from threads that must not stand still:
 *
 * <ul>
 *   <li>What is known is answered from memory: schemas by id, also those that this instance
 *       registered itself, and ids by subject and schema; 1,000 of each by default, the least
 *       recently used is forgotten first.
 *   <li>A look-up by id takes at most the request timeout, all addresses together.
 *   <li>An id that the registry does not know is remembered for {@link
 *       RegistrySettings#missingTtl}, and is not asked for again meanwhile; 10,000 of them by
 *       default.
 *   <li>After a look-up by id that got no answer, none is tried for {@link
 *       RegistrySettings#unavailablePause}: they fail at once with {@link
 *       SchemaRegistryException.Kind#UNAVAILABLE}.
 * </ul>
 *
 * <p>Thread-safe. Two threads may ask the same question at the same time; the answers agree.
 */
public final class HttpSchemaRegistry implements SchemaRegistry {

  private static final Logger LOG = LoggerFactory.getLogger(HttpSchemaRegistry.class);

  private record SubjectSchema(String subject, Schema schema) {}

  private record Missing(long untilNanos, String message) {}

  private final RegistrySettings settings;
  private final RegistryHttp http;
  private final BoundedCache<Integer, Schema> schemasById;
  private final BoundedCache<SubjectSchema, Integer> ids;
  private final BoundedCache<Integer, Missing> missingIds;
  private volatile Missing unavailable;

  /** A client with default limits of one or more addresses, comma separated. */
  public HttpSchemaRegistry(String urls) {
    this(RegistrySettings.of(urls));
  }

  /** A client with limits of the caller's choice. */
  public HttpSchemaRegistry(RegistrySettings settings) {
    this.settings = settings;
    this.http =
        new RegistryHttp(settings.urls(), settings.authorization(), settings.connectTimeout());
    this.schemasById = new BoundedCache<>(settings.cachedMax());
    this.ids = new BoundedCache<>(settings.cachedMax());
    this.missingIds = new BoundedCache<>(settings.missingMax());
  }

  @Override
  public int register(String subject, Schema schema) {
    return id(
        subject, schema, "/subjects/" + encode(subject) + "/versions", settings.registerTimeout());
  }

  @Override
  public int idOf(String subject, Schema schema) {
    return id(subject, schema, "/subjects/" + encode(subject), settings.requestTimeout());
  }

  private int id(String subject, Schema schema, String path, Duration time) {
    SubjectSchema asked = new SubjectSchema(subject, schema);
    Integer known = ids.get(asked);
    if (known != null) {
      return known;
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode().put("schema", schema.toString());
    RegistryHttp.Answer answer = http.post(path, body, time);
    JsonNode id = answer.body().path("id");
    if (answer.status() != 200 || !id.canConvertToInt()) {
      throw refusal(
          answer, "an id for schema %s under subject %s".formatted(schema.getFullName(), subject));
    }
    ids.put(asked, id.intValue());
    schemasById.put(id.intValue(), schema);
    missingIds.remove(id.intValue());
    return id.intValue();
  }

  @Override
  public Schema byId(int id) {
    Schema known = schemasById.get(id);
    if (known != null) {
      return known;
    }
    long now = System.nanoTime();
    Missing missing = missingIds.get(id);
    if (missing != null && now - missing.untilNanos() < 0) {
      throw failure(SchemaRegistryException.Kind.NOT_FOUND, missing.message());
    }
    Missing pause = unavailable;
    if (pause != null && now - pause.untilNanos() < 0) {
      throw failure(SchemaRegistryException.Kind.UNAVAILABLE, pause.message());
    }
    Schema schema = fetch(id);
    schemasById.put(id, schema);
    return schema;
  }

  private Schema fetch(int id) {
    RegistryHttp.Answer answer;
    try {
      answer = http.get("/schemas/ids/" + id, settings.requestTimeout());
      unavailable = null;
    } catch (SchemaRegistryException e) {
      unavailable = until(settings.unavailablePause(), e.getMessage());
      LOG.warn(
          "No look-up of schemas for {} ms: {}",
          settings.unavailablePause().toMillis(),
          e.getMessage());
      throw e;
    }
    String wanted = "the schema with id " + id;
    if (answer.status() != 200) {
      SchemaRegistryException refusal = refusal(answer, wanted);
      if (refusal.kind() == SchemaRegistryException.Kind.NOT_FOUND) {
        missingIds.put(id, until(settings.missingTtl(), refusal.getMessage()));
      }
      throw refusal;
    }
    String type = answer.body().path("schemaType").asText("AVRO");
    JsonNode references = answer.body().path("references");
    if (!type.equals("AVRO") || !references.isEmpty()) {
      throw unusable(
          id,
          answer,
          "Expected %s to be a self-contained AVRO schema, but %s has type %s and %d references. Only such schemas are read."
              .formatted(wanted, answer.uri(), type, references.size()),
          null);
    }
    try {
      return new Schema.Parser().parse(answer.body().path("schema").asText());
    } catch (AvroRuntimeException e) {
      throw unusable(
          id,
          answer,
          "Expected %s to be an Avro schema, but %s answered one that does not parse: %s. Look at it in the registry."
              .formatted(wanted, answer.uri(), e.getMessage()),
          e);
    }
  }

  private SchemaRegistryException unusable(
      int id, RegistryHttp.Answer answer, String message, Exception cause) {
    missingIds.put(id, until(settings.missingTtl(), message));
    return new SchemaRegistryException(SchemaRegistryException.Kind.NOT_FOUND, message, cause);
  }

  private static Missing until(Duration time, String message) {
    return new Missing(System.nanoTime() + time.toNanos(), message);
  }

  private static SchemaRegistryException failure(
      SchemaRegistryException.Kind kind, String message) {
    return new SchemaRegistryException(kind, message, null);
  }

  private static SchemaRegistryException refusal(RegistryHttp.Answer answer, String wanted) {
    String found =
        "Expected %s, but %s answered %s. "
            .formatted(wanted, answer.uri(), RegistryHttp.describe(answer));
    return switch (answer.status()) {
      case 404 ->
          failure(
              SchemaRegistryException.Kind.NOT_FOUND,
              found
                  + "Check that writer and reader use the same registry, and that the schema is registered.");
      case 401, 403 ->
          failure(
              SchemaRegistryException.Kind.REFUSED,
              found + "Set basic.auth.user.info to an account that may do this.");
      case 409 ->
          failure(
              SchemaRegistryException.Kind.REFUSED,
              found
                  + "Change the schema so that it reads what earlier versions wrote: new fields need a default.");
      case 422 ->
          failure(
              SchemaRegistryException.Kind.REFUSED,
              found + "Check that the registry takes Avro schemas.");
      default ->
          failure(
              SchemaRegistryException.Kind.REFUSED,
              found + "Check that schema.registry.url is the base address of a schema registry.");
    };
  }

  private static String encode(String subject) {
    return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
