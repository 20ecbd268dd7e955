package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.it.Peers;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/openapi.yaml, read by a validator that others wrote, and what the gateway really answers.
 */
class LeaseApiIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path DOCUMENT = Path.of("../docs/openapi.yaml").toAbsolutePath().normalize();

  private final HttpClient http = HttpClient.newHttpClient();
  private final ArrayNode answers = JSON.createArrayNode();

  @Test
  void shouldAnswerAsItsDocumentSays() throws Exception {
    try (EmulatedApis apis = new EmulatedApis(1_000_000);
        GatewayUp up =
            GatewayUp.start(
                """
                quotas:
                  - id: ant/sonnet
                    provider: anthropic
                    models: ["claude-*"]
                    limits: {requests_per_minute: 600, input_tokens_per_minute: 6000}
                    max_queue_wait: 5m
                gateway:
                  upstreams: {anthropic: {provider: anthropic, url: "%s", key: {file: "%%KEY%%"}}}
                """
                    .formatted(apis.url()))) {
      // when: a lease, one that waits for what the first one holds, one that never fits
      String ask = "{\"quota\":\"ant/sonnet\",\"agent\":\"%s\",\"input_tokens\":%d,\"wait_ms\":%d}";
      JsonNode granted = call(up, "POST", "/v1/leases", "", ask.formatted("a1", 5_000, 30_000));
      JsonNode queued = call(up, "POST", "/v1/leases", "", ask.formatted("a2", 3_000, 500));
      JsonNode rejected = call(up, "POST", "/v1/leases", "", ask.formatted("a3", 90_000, 30_000));
      call(up, "GET", "/v1/leases/{id}", queued.path("id").asText(), null);
      call(
          up,
          "POST",
          "/v1/leases/{id}/settle",
          granted.path("id").asText(),
          "{\"outcome\":\"SUCCEEDED\",\"usage\":{\"input_tokens\":100,\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"output_tokens\":10}}");
      JsonNode granted2 =
          call(up, "GET", "/v1/leases/{id}", queued.path("id").asText() + "?wait_ms=30000", null);
      call(
          up,
          "POST",
          "/v1/leases/{id}/settle",
          granted.path("id").asText(),
          "{\"outcome\":\"NOT_SENT\"}");
      call(up, "DELETE", "/v1/leases/{id}", granted.path("id").asText(), null);
      call(up, "DELETE", "/v1/leases/{id}", queued.path("id").asText(), null);
      call(
          up,
          "POST",
          "/v1/tasks",
          "",
          "{\"quota\":\"ant/sonnet\",\"id\":\"T\",\"state\":\"STARTED\"}");
      call(
          up,
          "POST",
          "/v1/tasks",
          "",
          "{\"quota\":\"ant/sonnet\",\"tasks\":[{\"id\":\"T\",\"state\":\"DONE\"},{\"id\":\"T2\",\"state\":\"BLOCKED\",\"blocked_on\":[\"T\"]}]}");
      call(up, "PUT", "/fairway/modes/{quota}", "ant/sonnet", "{\"mode\":\"OBSERVE\"}");
      call(up, "DELETE", "/fairway/modes/{quota}", "ant/sonnet", null);
      call(up, "GET", "/fairway/modes", "", null);
      call(up, "POST", "/v1/leases", "", "{\"quota\":\"ant/sonnet\"}");
      call(up, "GET", "/v1/leases/{id}", "unknown", null);

      // then
      assertThat(granted.path("status").asText()).isEqualTo("GRANTED");
      assertThat(queued.path("status").asText()).isEqualTo("QUEUED");
      assertThat(granted2.path("status").asText()).isEqualTo("GRANTED");
      assertThat(rejected.path("reason").asText()).isEqualTo("NEVER_FITS");
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(up.settlements())
                      .extracting(settlement -> settlement.getOutcome())
                      .contains(Outcome.SUCCEEDED, Outcome.NOT_SENT));
      JsonNode checked = validate(DOCUMENT, answers);
      assertThat(checked.path("errors")).isEmpty();
      assertThat(checked.path("version").asText()).isEqualTo("3.1");
      for (int i = 0; i < answers.size(); i++) {
        assertThat(checked.path("answers").get(i)).as(answers.get(i).toString()).isEmpty();
      }
      List<String> paths = new ArrayList<>();
      checked.path("paths").forEach(path -> paths.add(path.asText()));
      assertThat(paths)
          .containsExactlyInAnyOrder(
              "POST /v1/leases",
              "GET /v1/leases/{id}",
              "DELETE /v1/leases/{id}",
              "POST /v1/leases/{id}/settle",
              "POST /v1/tasks",
              "GET /healthz",
              "GET /metrics",
              "GET /fairway/modes",
              "PUT /fairway/modes/{quota}",
              "DELETE /fairway/modes/{quota}");
    }
  }

  /** Without this the first test would pass with a validator that finds fault with nothing. */
  @Test
  void shouldBeToldOfFaults(@TempDir Path folder) throws IOException {
    // given
    ArrayNode wrong = JSON.createArrayNode();
    wrong
        .addObject()
        .put("path", "/v1/leases")
        .put("method", "post")
        .put("status", 200)
        .putObject("body")
        .put("status", "MAYBE");
    String broken = Files.readString(DOCUMENT).replace("operationId: getLease", "operationId: 7");

    // when / then
    assertThat(validate(DOCUMENT, wrong).path("answers").get(0)).isNotEmpty();
    Path copy = Files.writeString(folder.resolve("openapi.yaml"), broken);
    assertThat(validate(copy, JSON.createArrayNode()).path("valid").asBoolean()).isFalse();
  }

  private JsonNode call(GatewayUp up, String method, String path, String argument, String body)
      throws IOException, InterruptedException {
    String filled = path.replace("{id}", argument).replace("{quota}", argument);
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(URI.create(up.url() + filled))
                .method(
                    method,
                    body == null
                        ? HttpRequest.BodyPublishers.noBody()
                        : HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    ObjectNode answer = answers.addObject();
    answer.put("path", path).put("method", method.toLowerCase(java.util.Locale.ROOT));
    answer.put("status", response.statusCode());
    answer.set("body", JSON.readTree(response.body()));
    return answer.get("body");
  }

  private static JsonNode validate(Path document, ArrayNode answers) throws IOException {
    ObjectNode job = JSON.createObjectNode().put("file", document.toString());
    job.set("answers", answers);
    return JSON.readTree(
        Peers.node("openapi", "validate.mjs", job.toString(), Duration.ofSeconds(90)).outOrThrow());
  }
}
