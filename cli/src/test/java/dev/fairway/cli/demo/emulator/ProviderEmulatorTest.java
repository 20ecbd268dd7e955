package dev.fairway.cli.demo.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProviderEmulatorTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String BODY =
      "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":1024,"
          + "\"messages\":[{\"role\":\"user\",\"content\":\"twelve chars\"}]}";

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private ProviderEmulator emulator;
  private Path file;

  @BeforeEach
  void start() throws IOException {
    file = folder.resolve("ledger.jsonl");
    emulator =
        ProviderEmulator.start(
            0,
            ProviderLimits.full(1000, 60_000, 10_000),
            ModelSpeed.REAL.faster(1000),
            Ledger.appendingTo(file));
  }

  @AfterEach
  void stop() throws IOException {
    emulator.close();
  }

  private HttpResponse<String> post(String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(emulator.uri().resolve(path))
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String[] size(String call, long input, long output) {
    return new String[] {
      "x-demo-call",
      call,
      "x-demo-turn",
      "agent-03.7",
      "x-demo-agent",
      "agent-03",
      "x-demo-input-tokens",
      Long.toString(input),
      "x-demo-output-tokens",
      Long.toString(output)
    };
  }

  @Test
  void shouldAnswerAMessageWithUsageAndLimits() throws Exception {
    // when
    HttpResponse<String> response = post("/v1/messages", BODY, size("call-1", 12_345, 321));

    // then
    assertThat(response.statusCode()).isEqualTo(200);
    JsonNode body = JSON.readTree(response.body());
    assertThat(body.path("type").asText()).isEqualTo("message");
    assertThat(body.path("model").asText()).isEqualTo("claude-sonnet-4-5");
    assertThat(body.path("stop_reason").asText()).isEqualTo("end_turn");
    assertThat(body.path("usage").path("input_tokens").asLong()).isEqualTo(12_345);
    assertThat(body.path("usage").path("output_tokens").asLong()).isEqualTo(321);
    assertThat(response.headers().firstValue("request-id")).isPresent();
    assertThat(response.headers().firstValue("anthropic-ratelimit-input-tokens-remaining"))
        .contains("48000");
    assertThat(response.headers().firstValue("anthropic-ratelimit-output-tokens-limit"))
        .contains("10000");
    assertThat(response.headers().firstValue("retry-after")).isEmpty();
  }

  @Test
  void shouldRefuseLikeTheProvider() throws Exception {
    // given
    post("/v1/messages", BODY, size("call-1", 60_000, 1));

    // when
    HttpResponse<String> response = post("/v1/messages", BODY, size("call-2", 5_000, 1));

    // then
    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(Long.parseLong(response.headers().firstValue("retry-after").orElseThrow()))
        .isBetween(1L, 5L);
    JsonNode body = JSON.readTree(response.body());
    assertThat(body.path("type").asText()).isEqualTo("error");
    assertThat(body.path("error").path("type").asText()).isEqualTo("rate_limit_error");
    assertThat(body.path("error").path("message").asText())
        .startsWith("This request would exceed the rate limit for your organization")
        .contains("60,000 input tokens per minute");
    assertThat(response.headers().firstValue("anthropic-ratelimit-input-tokens-remaining"))
        .contains("0");
  }

  @Test
  void shouldCountTokensWithoutTakingAny() throws Exception {
    // given
    String body =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"twelve chars\"}]}";

    // when
    HttpResponse<String> counted = post("/v1/messages/count_tokens", body);
    HttpResponse<String> wrong = post("/v1/messages/count_tokens", "{}");
    HttpResponse<String> other = post("/v1/messages/batches", body);

    // then
    assertThat(counted.statusCode()).isEqualTo(200);
    assertThat(counted.body()).isEqualTo("{\"input_tokens\":3}");
    assertThat(wrong.statusCode()).isEqualTo(400);
    assertThat(other.statusCode()).isEqualTo(404);
    assertThat(emulator.ledger().entries()).isEmpty();
  }

  @Test
  void shouldWriteDownEveryCall() throws Exception {
    // given
    post("/v1/messages", BODY, size("call-1", 60_000, 7));
    post("/v1/messages", BODY, size("call-2", 5_000, 1));

    // when
    List<LedgerEntry> entries = Ledger.read(file);

    // then
    assertThat(entries).isEqualTo(emulator.ledger().entries());
    assertThat(entries)
        .extracting(LedgerEntry::call, LedgerEntry::agent, LedgerEntry::turn, LedgerEntry::status)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("call-1", "agent-03", "agent-03.7", 200),
            org.assertj.core.groups.Tuple.tuple("call-2", "agent-03", "agent-03.7", 429));
    assertThat(entries.get(0).outputTokens()).isEqualTo(7);
    assertThat(entries.get(0).finishedNs()).isGreaterThan(entries.get(0).arrivedNs());
    assertThat(entries.get(1).refusedBy()).isEqualTo("INPUT_TOKENS");
  }

  @Test
  void shouldCountTextWhereNoSizeIsGiven() throws Exception {
    // when
    HttpResponse<String> response = post("/v1/messages", BODY);

    // then
    assertThat(JSON.readTree(response.body()).path("usage").path("input_tokens").asLong())
        .isEqualTo(3);
  }

  @Test
  void shouldStopAtMaxTokens() throws Exception {
    // when
    JsonNode body = JSON.readTree(post("/v1/messages", BODY, size("call-1", 10, 5_000)).body());

    // then
    assertThat(body.path("usage").path("output_tokens").asLong()).isEqualTo(1024);
    assertThat(body.path("stop_reason").asText()).isEqualTo("max_tokens");
  }

  @Test
  void shouldExplainWhatIsWrongWithARequest() throws Exception {
    assertInvalid(post("/v1/messages", "{"), "not valid JSON");
    assertInvalid(post("/v1/messages", "[]"), "not a JSON object");
    assertInvalid(post("/v1/messages", "{\"max_tokens\":1,\"messages\":[{}]}"), "model");
    assertInvalid(post("/v1/messages", "{\"model\":\"m\",\"messages\":[{}]}"), "max_tokens");
    assertInvalid(post("/v1/messages", "{\"model\":\"m\",\"max_tokens\":5}"), "messages");
    assertInvalid(post("/v1/messages", BODY, "x-demo-input-tokens", "-1"), "x-demo-input-tokens");
    assertThat(emulator.ledger().entries()).isEmpty();
  }

  private static void assertInvalid(HttpResponse<String> response, String about)
      throws IOException {
    assertThat(response.statusCode()).isEqualTo(400);
    JsonNode error = JSON.readTree(response.body()).path("error");
    assertThat(error.path("type").asText()).isEqualTo("invalid_request_error");
    assertThat(error.path("message").asText()).contains(about);
  }

  @Test
  void shouldNotKnowOtherPaths() throws Exception {
    // when
    HttpResponse<String> response = post("/v1/complete", BODY);

    // then
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).contains("not_found_error").contains("/v1/messages");
  }
}
