package dev.fairway.cli.ops;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.cli.CliException;
import dev.fairway.schemas.ProtocolData;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.service.ConnectionTrouble;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.io.DecoderFactory;

/**
 * Asks running coordinators what holds now. Each coordinator answers for the quotas it owns; the
 * answers are put together.
 */
public final class StatusClient {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int ANSWER_BYTES_MAX = 64 * 1024 * 1024;
  private static final int NOT_NOW = 503;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final List<URI> coordinators;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();

  /**
   * A coordinator is there and cannot answer now: it starts, takes over partitions, or is busy. Who
   * can wait asks again.
   */
  static final class NotNowException extends CliException {
    private static final long serialVersionUID = 1L;

    NotNowException(String message) {
      super(message);
    }
  }

  /** Asks these base URLs. */
  public StatusClient(List<URI> coordinators) {
    this.coordinators = List.copyOf(coordinators);
  }

  /**
   * The answer of every coordinator to {@code GET /status}.
   *
   * @throws CliException if one does not answer
   */
  public List<JsonNode> status() {
    return ask("/status", Map.of());
  }

  /**
   * What the coordinators that were asked decide for.
   *
   * @param quotas by id, sorted
   * @param partitions that they own together
   * @param partitionsOfAll that there are
   */
  public record Overview(Map<String, JsonNode> quotas, int partitions, int partitionsOfAll) {

    /** What is missing, for people; empty if nothing is. */
    public Optional<String> gap() {
      return partitions >= partitionsOfAll
          ? Optional.empty()
          : Optional.of(
              "these are the quotas of "
                  + partitions
                  + " of "
                  + partitionsOfAll
                  + " partitions: another coordinator decides for the others. Name the status ports"
                  + " of all of them: --coordinator URL,URL");
    }
  }

  /**
   * The answers of {@link #status()} put together.
   *
   * @throws CliException if a coordinator does not answer
   */
  public Overview overview() {
    Map<String, JsonNode> quotas = new TreeMap<>();
    int owned = 0;
    int all = 0;
    for (JsonNode status : status()) {
      status.path("quotas").forEach(quota -> quotas.put(quota.path("id").asText(), quota));
      owned += status.path("partitions_owned").asInt();
      all = Math.max(all, status.path("partitions").asInt());
    }
    return new Overview(quotas, owned, all);
  }

  /** The quotas of {@link #overview()}. */
  public Map<String, JsonNode> quotasById() {
    return overview().quotas();
  }

  /**
   * The definitions that the coordinators decide by, by quota id.
   *
   * @param quota null: of all quotas
   * @throws CliException if one does not answer, or with another version's records
   */
  public Map<String, Quota> definitions(String quota) {
    Map<String, Quota> definitions = new TreeMap<>();
    for (JsonNode answer : ask("/definitions", quota == null ? Map.of() : Map.of("quota", quota))) {
      for (JsonNode definition : answer.path("definitions")) {
        Quota read = definition(definition);
        definitions.put(read.getId(), read);
      }
    }
    return definitions;
  }

  private static Quota definition(JsonNode json) {
    Schema schema = Quota.getClassSchema();
    try {
      return ProtocolData.reader(schema, Quota.class)
          .read(null, DecoderFactory.get().jsonDecoder(schema, json.toString()));
    } catch (IOException | AvroRuntimeException e) {
      throw new CliException(
          "Expected definitions from the coordinator as this version knows them, but: "
              + e.getMessage()
              + ". Use the fairway that belongs to the coordinator's version.",
          e);
    }
  }

  /**
   * One entry of a list.
   *
   * @param atMs the time of the coordinator that gave it, epoch milliseconds
   */
  public record Entry(JsonNode value, long atMs) {}

  /**
   * The list that every coordinator gives under {@code field}, put together.
   *
   * @param path such as {@code /leases}
   * @param quota null: of all quotas
   * @param limit most entries of one coordinator
   */
  public List<Entry> list(String path, String field, String quota, int limit) {
    Map<String, String> query = new LinkedHashMap<>();
    if (quota != null) {
      query.put("quota", quota);
    }
    query.put("limit", Integer.toString(limit));
    List<Entry> entries = new ArrayList<>();
    for (JsonNode answer : ask(path, query)) {
      long atMs = answer.path("at_ms").asLong();
      answer.path(field).forEach(value -> entries.add(new Entry(value, atMs)));
    }
    return entries;
  }

  private List<JsonNode> ask(String path, Map<String, String> query) {
    List<JsonNode> answers = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    query.forEach(
        (name, value) ->
            text.append(text.isEmpty() ? '?' : '&')
                .append(name)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
    for (URI coordinator : coordinators) {
      answers.add(askOne(URI.create(coordinator.toString().replaceAll("/+$", "") + path + text)));
    }
    return answers;
  }

  private JsonNode askOne(URI uri) {
    try {
      HttpResponse<InputStream> response =
          http.send(
              HttpRequest.newBuilder(uri).timeout(TIMEOUT).GET().build(),
              HttpResponse.BodyHandlers.ofInputStream());
      byte[] body;
      try (InputStream in = response.body()) {
        body = in.readNBytes(ANSWER_BYTES_MAX);
      }
      if (response.statusCode() != 200) {
        String said =
            "Expected an answer of the coordinator at "
                + uri
                + ", but it said "
                + response.statusCode()
                + ": "
                + Printable.message(body);
        throw response.statusCode() == NOT_NOW ? new NotNowException(said) : new CliException(said);
      }
      return MAPPER.readTree(body);
    } catch (JsonProcessingException e) {
      throw new CliException(
          "Expected JSON from "
              + uri
              + ", but found something else. Check that it is the coordinator's status port.",
          e);
    } catch (IOException e) {
      throw new CliException(
          "Expected a coordinator at "
              + uri
              + ", but: "
              + ConnectionTrouble.of(e)
              + ". Start it, or name another with --coordinator.",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted.", e);
    }
  }
}
