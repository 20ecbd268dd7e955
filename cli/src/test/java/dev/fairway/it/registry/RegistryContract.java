package dev.fairway.it.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import dev.fairway.schemas.serde.OwnSchemas;
import dev.fairway.schemas.serde.RegistrySettings;
import dev.fairway.schemas.serde.SchemaRegistryException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Schema;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What Fairway and the clients beside it need of a schema registry, of whatever make. Each test
 * works on subjects of its own, so that a registry can be shared.
 */
abstract class RegistryContract {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private static final String V1 = record("{\"name\":\"a\",\"type\":\"string\",\"doc\":\"An a.\"}");
  private static final String V2 =
      record(
          "{\"name\":\"a\",\"type\":\"string\",\"doc\":\"An a.\"},{\"name\":\"b\",\"type\":\"int\",\"default\":0}");
  private static final String V2_WITHOUT_DEFAULT =
      record("{\"name\":\"a\",\"type\":\"string\"},{\"name\":\"b\",\"type\":\"int\"}");

  private String base;
  private String subject;

  /** Base address of the registry under test, or an aborted test that says why there is none. */
  abstract String url() throws Exception;

  record Answer(int status, JsonNode body) {}

  private static String record(String fields) {
    // A name of its own per JVM: a shared registry must not know the schema from an earlier run.
    return "{\"type\":\"record\",\"name\":\"R%s\",\"namespace\":\"n\",\"doc\":\"A record.\",\"fields\":[%s]}"
        .formatted(Long.toString(ProcessHandle.current().pid()), fields);
  }

  @BeforeEach
  void newSubject() throws Exception {
    base = url();
    subject = "contract-" + UUID.randomUUID() + "-value";
  }

  private Answer call(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(base + path))
            .header("Accept", "application/vnd.schemaregistry.v1+json, application/json")
            .header("Content-Type", "application/vnd.schemaregistry.v1+json")
            .timeout(Duration.ofSeconds(20))
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<byte[]> response = HTTP.send(request, HttpResponse.BodyHandlers.ofByteArray());
    return new Answer(response.statusCode(), JSON.readTree(response.body()));
  }

  private Answer get(String path) throws IOException, InterruptedException {
    return call("GET", path, null);
  }

  private static String withSchema(String schema) {
    return JSON.createObjectNode().put("schema", schema).toString();
  }

  private int register(String toSubject, String schema) throws Exception {
    Answer answer = call("POST", "/subjects/" + toSubject + "/versions", withSchema(schema));
    assertThat(answer.status()).as("%s", answer.body()).isEqualTo(200);
    return answer.body().get("id").intValue();
  }

  private static void assertError(Answer answer, int status, int code) {
    assertThat(answer.status()).as("%s", answer.body()).isEqualTo(status);
    assertThat(answer.body().path("error_code").asInt()).isEqualTo(code);
    assertThat(answer.body().path("message").asText()).isNotBlank();
  }

  private static List<Integer> ints(JsonNode array) {
    List<Integer> ints = new ArrayList<>();
    array.forEach(node -> ints.add(node.intValue()));
    return ints;
  }

  @Test
  void shouldGiveTheSameSchemaTheSameIdUnderAllSubjects() throws Exception {
    int id = register(subject, V1);
    assertThat(register(subject, V1)).isEqualTo(id);
    assertThat(register("other-" + subject, V1)).isEqualTo(id);
    assertThat(register(subject, V2)).isNotEqualTo(id);
    assertThat(id).isPositive();
  }

  @Test
  void shouldServeASchemaByIdWithItsDocs() throws Exception {
    int id = register(subject, V1);
    Answer answer = get("/schemas/ids/" + id);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(JSON.readTree(answer.body().get("schema").asText())).isEqualTo(JSON.readTree(V1));
  }

  @Test
  void shouldTellWhereASchemaIsUsed() throws Exception {
    int id = register(subject, V1);
    JsonNode uses = get("/schemas/ids/" + id + "/versions").body();
    assertThat(uses)
        .anySatisfy(
            use -> {
              assertThat(use.get("subject").asText()).isEqualTo(subject);
              assertThat(use.get("version").asInt()).isEqualTo(1);
            });
  }

  @Test
  void shouldNumberVersionsFromOne() throws Exception {
    // given
    int first = register(subject, V1);
    int second = register(subject, V2);

    // when
    JsonNode versions = get("/subjects/" + subject + "/versions").body();
    JsonNode one = get("/subjects/" + subject + "/versions/1").body();
    JsonNode latest = get("/subjects/" + subject + "/versions/latest").body();

    // then
    assertThat(ints(versions)).containsExactly(1, 2);
    assertThat(one.get("id").asInt()).isEqualTo(first);
    assertThat(one.get("version").asInt()).isEqualTo(1);
    assertThat(one.get("subject").asText()).isEqualTo(subject);
    assertThat(JSON.readTree(one.get("schema").asText())).isEqualTo(JSON.readTree(V1));
    assertThat(latest.get("id").asInt()).isEqualTo(second);
    assertThat(latest.get("version").asInt()).isEqualTo(2);
  }

  @Test
  void shouldListSubjects() throws Exception {
    register(subject, V1);
    assertThat(get("/subjects").body()).extracting(JsonNode::asText).contains(subject);
  }

  @Test
  void shouldFindASchemaUnderItsSubject() throws Exception {
    int id = register(subject, V1);
    Answer found = call("POST", "/subjects/" + subject, withSchema(V1));
    assertThat(found.status()).isEqualTo(200);
    assertThat(found.body().get("id").asInt()).isEqualTo(id);
    assertThat(found.body().get("version").asInt()).isEqualTo(1);
    assertThat(found.body().get("subject").asText()).isEqualTo(subject);
    assertThat(JSON.readTree(found.body().get("schema").asText())).isEqualTo(JSON.readTree(V1));
    assertError(call("POST", "/subjects/" + subject, withSchema(V2)), 404, 40403);
    assertError(call("POST", "/subjects/none-" + subject, withSchema(V1)), 404, 40401);
  }

  @Test
  void shouldSayWhatIsNotThere() throws Exception {
    register(subject, V1);
    assertError(get("/schemas/ids/99999999"), 404, 40403);
    assertError(get("/subjects/none-" + subject + "/versions"), 404, 40401);
    assertError(get("/subjects/" + subject + "/versions/7"), 404, 40402);
  }

  @Test
  void shouldRefuseWhatIsNoAvroSchema() throws Exception {
    assertError(
        call("POST", "/subjects/" + subject + "/versions", withSchema("{\"type\":")), 422, 42201);
  }

  @Test
  void shouldRefuseAnIncompatibleVersion() throws Exception {
    register(subject, V1);
    Answer refused =
        call("POST", "/subjects/" + subject + "/versions", withSchema(V2_WITHOUT_DEFAULT));
    assertError(refused, 409, 409);
    assertThat(ints(get("/subjects/" + subject + "/versions").body())).containsExactly(1);
  }

  @Test
  void shouldJudgeCompatibilityAgainstAllVersions() throws Exception {
    // given: b as int, then none, so that b as string reads the latest but not the first
    String withString =
        record(
            "{\"name\":\"a\",\"type\":\"string\"},{\"name\":\"b\",\"type\":\"string\",\"default\":\"\"}");
    register(subject, V2);
    register(subject, V1);

    // when / then
    assertError(
        call("POST", "/subjects/" + subject + "/versions", withSchema(withString)), 409, 409);
  }

  @Test
  void shouldAnswerCompatibilityQuestionsWithoutRegistering() throws Exception {
    register(subject, V1);
    String path = "/compatibility/subjects/" + subject + "/versions/latest";
    assertThat(call("POST", path, withSchema(V2)).body().get("is_compatible").asBoolean()).isTrue();
    assertThat(
            call("POST", path, withSchema(V2_WITHOUT_DEFAULT))
                .body()
                .get("is_compatible")
                .asBoolean())
        .isFalse();
    assertThat(ints(get("/subjects/" + subject + "/versions").body())).containsExactly(1);
  }

  @Test
  void shouldKeepALevelPerSubject() throws Exception {
    // given
    register(subject, V1);
    assertThat(get("/config").body().get("compatibilityLevel").asText())
        .isEqualTo("BACKWARD_TRANSITIVE");

    // when
    Answer set = call("PUT", "/config/" + subject, "{\"compatibility\":\"FORWARD\"}");

    // then
    assertThat(set.status()).isEqualTo(200);
    assertThat(get("/config/" + subject).body().get("compatibilityLevel").asText())
        .isEqualTo("FORWARD");
    register(subject, V2_WITHOUT_DEFAULT);
    assertThat(get("/config").body().get("compatibilityLevel").asText())
        .isEqualTo("BACKWARD_TRANSITIVE");
  }

  @Test
  void shouldTakeSubjectsThatNeedEncoding() throws Exception {
    String encoded =
        URLEncoder.encode("a b/c+d " + subject, StandardCharsets.UTF_8).replace("+", "%20");
    int id = register(encoded, V1);
    assertThat(get("/subjects/" + encoded + "/versions/1").body().get("id").asInt()).isEqualTo(id);
    assertThat(get("/subjects").body()).extracting(JsonNode::asText).contains("a b/c+d " + subject);
  }

  @Test
  void shouldServeOurClient() {
    // given
    RegistrySettings settings =
        RegistrySettings.of(base)
            .withTimeouts(Duration.ofSeconds(10), Duration.ofSeconds(10), Duration.ofSeconds(20));
    HttpSchemaRegistry writer = new HttpSchemaRegistry(settings);
    HttpSchemaRegistry reader = new HttpSchemaRegistry(settings);
    Map<String, Schema> own = OwnSchemas.bySubject(new Topics("t" + System.nanoTime() + "."));

    // when / then
    own.forEach(
        (ownSubject, schema) -> {
          assertThatThrownBy(() -> writer.idOf(ownSubject, schema))
              .isInstanceOf(SchemaRegistryException.class)
              .extracting(e -> ((SchemaRegistryException) e).kind())
              .isEqualTo(SchemaRegistryException.Kind.NOT_FOUND);
          int id = writer.register(ownSubject, schema);
          assertThat(reader.byId(id).toString()).isEqualTo(schema.toString());
          assertThat(reader.idOf(ownSubject, schema)).isEqualTo(id);
        });
    assertThatThrownBy(() -> reader.byId(99_999_999))
        .isInstanceOf(SchemaRegistryException.class)
        .hasMessageContaining("40403");
  }
}
