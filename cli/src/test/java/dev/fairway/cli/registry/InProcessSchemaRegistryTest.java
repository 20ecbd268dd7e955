package dev.fairway.cli.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only our registry promises; the contract that it shares with others has its own suite. */
class InProcessSchemaRegistryTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String RECORD =
      "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"string\",\"doc\":\"An a.\"}]}";

  @TempDir Path folder;
  private InProcessSchemaRegistry registry;

  private record Answer(int status, JsonNode body) {}

  @BeforeEach
  void start() throws IOException {
    registry = InProcessSchemaRegistry.start(0, folder);
  }

  @AfterEach
  void stop() {
    registry.close();
  }

  private Answer call(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpResponse<byte[]> response =
        HTTP.send(
            HttpRequest.newBuilder(URI.create(registry.url() + path))
                .timeout(Duration.ofSeconds(10))
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofByteArray());
    assertThat(response.headers().firstValue("Content-Type"))
        .contains("application/vnd.schemaregistry.v1+json");
    return new Answer(response.statusCode(), JSON.readTree(response.body()));
  }

  private Answer get(String path) throws IOException, InterruptedException {
    return call("GET", path, "");
  }

  private Answer register(String subject, String schema) throws IOException, InterruptedException {
    return call(
        "POST",
        "/subjects/" + subject + "/versions",
        JSON.createObjectNode().put("schema", schema).toString());
  }

  private static void assertError(Answer answer, int status, int code) {
    assertThat(answer.status()).as("%s", answer.body()).isEqualTo(status);
    assertThat(answer.body().get("error_code").asInt()).isEqualTo(code);
    assertThat(answer.body().get("message").asText()).isNotBlank();
  }

  @Test
  void shouldKeepIdsVersionsAndLevelsOverARestart() throws Exception {
    // given
    int first = register("a", RECORD).body().get("id").asInt();
    int second = register("b", "\"string\"").body().get("id").asInt();
    call("PUT", "/config/b", "{\"compatibility\":\"full\"}");
    call("PUT", "/config", "{\"compatibility\":\"FORWARD\"}");

    // when
    registry.close();
    registry = InProcessSchemaRegistry.start(0, folder);

    // then
    assertThat(get("/schemas/ids/" + first).body().get("schema").asText()).contains("An a.");
    assertThat(get("/subjects/b/versions/latest").body().get("id").asInt()).isEqualTo(second);
    assertThat(get("/config/b").body().get("compatibilityLevel").asText()).isEqualTo("FULL");
    assertThat(get("/config").body().get("compatibilityLevel").asText()).isEqualTo("FORWARD");
    assertThat(register("a", RECORD).body().get("id").asInt()).isEqualTo(first);
    assertThat(register("c", "\"int\"").body().get("id").asInt()).isEqualTo(second + 1);
  }

  @Test
  void shouldTakeSchemasThatAvroWritesTheSameForOne() throws Exception {
    int id = register("a", RECORD).body().get("id").asInt();
    assertThat(register("a", RECORD.replace(",", " ,\n ")).body().get("id").asInt()).isEqualTo(id);
    assertThat(register("a", RECORD.replace("An a.", "Another.")).body().get("id").asInt())
        .as("docs are part of a schema")
        .isNotEqualTo(id);
    assertThat(get("/subjects/a/versions").body()).hasSize(2);
  }

  @Test
  void shouldServeASchemaByItself() throws Exception {
    int id = register("a", RECORD).body().get("id").asInt();
    assertThat(get("/schemas/ids/" + id + "/schema").body()).isEqualTo(JSON.readTree(RECORD));
    assertThat(get("/subjects/a/versions/1/schema").body()).isEqualTo(JSON.readTree(RECORD));
    assertThat(get("/schemas/ids/" + id + "/subjects").body().toString()).isEqualTo("[\"a\"]");
    assertThat(get("/schemas/types").body().toString()).isEqualTo("[\"AVRO\"]");
    assertThat(get("/").status()).isEqualTo(200);
  }

  @Test
  void shouldCheckNothingAtLevelNone() throws Exception {
    call("PUT", "/config/a", "{\"compatibility\":\"NONE\"}");
    register("a", RECORD);
    assertThat(register("a", "\"int\"").status()).isEqualTo(200);
  }

  @Test
  void shouldExplainAnIncompatibility() throws Exception {
    register("a", RECORD);
    String missing = RECORD.replace("\"a\"", "\"b\"");
    Answer refused = register("a", missing);
    assertError(refused, 409, 409);
    assertThat(refused.body().get("message").asText())
        .contains("version 1")
        .contains("BACKWARD_TRANSITIVE")
        .contains("READER_FIELD_MISSING_DEFAULT_VALUE")
        .contains("/fields/0");
    Answer judged =
        call(
            "POST",
            "/compatibility/subjects/a/versions?verbose=true",
            JSON.createObjectNode().put("schema", missing).toString());
    assertThat(judged.body().get("is_compatible").asBoolean()).isFalse();
    assertThat(judged.body().get("messages")).hasSize(1);
  }

  @Test
  void shouldRefuseWithConfluentsCodes() throws Exception {
    register("a", RECORD);
    assertError(get("/subjects/a/versions/0"), 422, 42202);
    assertError(get("/subjects/a/versions/newest"), 422, 42202);
    assertError(get("/schemas/ids/x"), 404, 40403);
    assertError(get("/schemas/ids/0"), 404, 40403);
    assertError(get("/config/a"), 404, 40408);
    assertThat(get("/config/a?defaultToGlobal=true").status()).isEqualTo(200);
    assertError(call("PUT", "/config", "{\"compatibility\":\"SOMETIMES\"}"), 422, 42203);
    assertError(call("POST", "/subjects/a/versions", "{}"), 422, 42201);
    assertError(call("POST", "/subjects/a/versions", "{\"schema\":5}"), 422, 42201);
    assertError(
        call("POST", "/subjects/a/versions", "{\"schema\":\"x\",\"schemaType\":\"JSON\"}"),
        422,
        42201);
    assertError(
        call(
            "POST",
            "/subjects/a/versions",
            "{\"schema\":\"\\\"int\\\"\",\"references\":[{\"name\":\"x\",\"subject\":\"x\",\"version\":1}]}"),
        422,
        42201);
    assertError(call("POST", "/subjects/a/versions", "not json"), 400, 400);
    assertError(call("POST", "/subjects/a/versions", "[]"), 400, 400);
    assertError(call("POST", "/subjects/a/versions", ""), 400, 400);
    assertError(register("%20", RECORD), 422, 42208);
    assertError(register("x".repeat(301), RECORD), 422, 42208);
    assertError(register("a%0Ab", RECORD), 422, 42208);
    assertError(call("DELETE", "/subjects/a", ""), 405, 405);
    assertError(get("/nothing/here"), 404, 404);
  }

  @Test
  void shouldRefuseABodyThatIsTooLarge() throws Exception {
    assertError(register("a", "x".repeat(1024 * 1024)), 413, 413);
    assertThat(register("a", RECORD).status()).isEqualTo(200);
  }

  @Test
  void shouldRefuseASchemaNestedWithoutEnd() throws Exception {
    String deep = "{\"type\":\"array\",\"items\":".repeat(5_000) + "\"int\"" + "}".repeat(5_000);
    assertThat(register("a", deep).status()).isIn(422, 500);
    assertThat(register("a", RECORD).status()).isEqualTo(200);
  }

  @Test
  void shouldAnswerWhileAClientStallsInItsBody() throws Exception {
    URI uri = URI.create(registry.url());
    try (Socket stalled = new Socket(uri.getHost(), uri.getPort())) {
      stalled
          .getOutputStream()
          .write(
              "POST /subjects/a/versions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
                  .getBytes(StandardCharsets.US_ASCII));
      stalled.getOutputStream().flush();
      assertThat(register("a", RECORD).status()).isEqualTo(200);
    }
  }

  @Test
  void shouldAnswerAMalformedPath() throws Exception {
    URI uri = URI.create(registry.url());
    try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
      socket.setSoTimeout(5_000);
      socket
          .getOutputStream()
          .write(
              "GET /subjects/%FF%FE/versions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      assertThat(new String(in.readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 404");
    }
  }

  @Test
  void shouldRefuseAFolderThatAnotherRegistryUses() {
    assertThatThrownBy(() -> InProcessSchemaRegistry.start(0, folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(folder.toString())
        .hasMessageContaining("for this process alone");
  }

  @Test
  void shouldRefuseAPortThatIsTaken(@TempDir Path other) {
    int port = URI.create(registry.url()).getPort();
    assertThatThrownBy(() -> InProcessSchemaRegistry.start(port, other))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(Integer.toString(port));
  }

  @Test
  void shouldNotStartEmptyOverAFileItCannotRead() throws Exception {
    // given
    register("a", RECORD);
    registry.close();
    Path file = folder.resolve("schemas.json");
    String whole = Files.readString(file);

    // when / then
    for (String damaged :
        new String[] {
          "",
          whole.substring(0, whole.length() / 2),
          whole.replace("\"format\":1", "\"format\":2"),
          whole.replace("\"a\":[1]", "\"a\":[7]")
        }) {
      assertThat(damaged).isNotEqualTo(whole);
      Files.writeString(file, damaged);
      assertThatThrownBy(() -> InProcessSchemaRegistry.start(0, folder))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("Restore the file");
    }
    Files.writeString(file, whole);
    registry = InProcessSchemaRegistry.start(0, folder);
    assertThat(get("/subjects/a/versions").status()).isEqualTo(200);
  }

  @Test
  void shouldIgnoreAHalfWrittenNewFile() throws Exception {
    register("a", RECORD);
    registry.close();
    Files.writeString(folder.resolve("schemas.json.new"), "{\"form");
    registry = InProcessSchemaRegistry.start(0, folder);
    assertThat(register("b", "\"int\"").body().get("id").asInt()).isEqualTo(2);
  }

  @Test
  void shouldChangeNothingThatItCannotWrite() throws Exception {
    // given: a folder where the new file would be written
    register("a", RECORD);
    Files.createDirectory(folder.resolve("schemas.json.new"));

    // when
    Answer refused = register("b", "\"int\"");

    // then
    assertError(refused, 500, 50001);
    assertError(get("/subjects/b/versions"), 404, 40401);
    Files.delete(folder.resolve("schemas.json.new"));
    assertThat(register("b", "\"int\"").body().get("id").asInt()).isEqualTo(2);
  }
}
