package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.LeaseCall;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the gateway asks leases for, and what it learns from answers. */
class EstimatedCallsTest {
  private static final String WORDS = "word ".repeat(200);

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldLearnNothingFromConversationsThatTheProviderKeeps() {
    // given: 30,000 tokens each, of which 200 are seen
    answerWithInput(30_000);

    // when
    for (int i = 0; i < 30; i++) {
      fixture.post(
          "/v1/responses",
          "{\"model\":\"gpt-4o\",\"previous_response_id\":\"r"
              + i
              + "\",\"input\":\""
              + WORDS
              + "\"}");
    }
    await().atMost(Duration.ofSeconds(20)).until(() -> fixture.admission.settled.size() == 30);
    fixture.post("/v1/responses", "{\"model\":\"gpt-4o\",\"input\":\"" + WORDS + "\"}");

    // then
    assertThat(estimate(30).inputTokens()).isBetween(195L, 205L);
    assertThat(estimate(0).inputTokens()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"tools\":[{\"type\":\"web_search\"}],\"input\":",
        "\"tools\":[{\"type\":\"file_search\",\"vector_store_ids\":[\"v\"]}],\"input\":",
        "\"tools\":[{\"type\":\"mcp\",\"server_label\":\"s\",\"server_url\":\"https://x\"}],\"input\":"
      })
  void shouldLearnNothingFromWhatToolsOfTheProviderRead(String fields) {
    // given
    answerWithInput(30_000);
    for (int i = 0; i < 5; i++) {
      fixture.post("/v1/responses", "{\"model\":\"gpt-4o\"," + fields + "\"" + WORDS + "\"}");
    }
    await().atMost(Duration.ofSeconds(20)).until(() -> fixture.admission.settled.size() == 5);

    // when
    fixture.post("/v1/responses", "{\"model\":\"gpt-4o\",\"input\":\"" + WORDS + "\"}");

    // then
    assertThat(estimate(5).inputTokens()).isBetween(195L, 205L);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/responses | \"prompt\":{\"id\":\"pmpt_1\"}",
        "/v1/responses | \"prompt\":{\"id\":\"pmpt_1\"},\"input\":\"hi\"",
        "/v1/responses | \"conversation\":\"conv_1\",\"input\":\"hi\"",
        "/v1/responses | \"conversation\":{\"id\":\"conv_1\"},\"input\":\"hi\"",
        "/v1/responses | \"previous_response_id\":\"r\",\"input\":\"hi\"",
        "/v1/responses | \"input\":[{\"type\":\"item_reference\",\"id\":\"msg_1\"},{\"role\":\"user\",\"content\":\"hi\"}]",
        "/v1/responses | \"input\":\"\"",
        "/v1/chat/completions | \"n\":1",
        "/v1/chat/completions | \"messages\":[]",
        "/v1/embeddings | \"input\":\"\""
      })
  void shouldLeaveTextThatNobodySeesToTheDefaultEstimate(String path, String fields) {
    // when
    fixture.post(path, "{\"model\":\"gpt-4o\"," + fields + "}");

    // then: unknown, for which the coordinator takes what the role uses, or default_estimate
    assertThat(estimate(0).inputTokens()).isNull();
    assertThat(estimate(0).method()).isEqualTo("unknown");
  }

  @Test
  void shouldBelieveACacheForAsLongAsTheMarksSay() {
    // when
    Instant expiresAt =
        cachedUntil(
            "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}", "\"cache_creation_input_tokens\":5000");

    // then
    assertThat(expiresAt).isCloseTo(in(60), within(1, ChronoUnit.MINUTES));
  }

  @Test
  void shouldBelieveACacheForAsLongAsItsUsageSays() {
    // when: whatever the mark says
    Instant expiresAt =
        cachedUntil(
            "{\"type\":\"ephemeral\"}",
            "\"cache_creation_input_tokens\":5000,\"cache_creation\":{\"ephemeral_5m_input_tokens\":0,\"ephemeral_1h_input_tokens\":5000}");

    // then
    assertThat(expiresAt).isCloseTo(in(60), within(1, ChronoUnit.MINUTES));
  }

  @Test
  void shouldBelieveTheShortestOfSeveralTimes() {
    // when
    Instant expiresAt =
        cachedUntil(
            "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
            "\"cache_creation_input_tokens\":5000,\"cache_creation\":{\"ephemeral_5m_input_tokens\":1000,\"ephemeral_1h_input_tokens\":4000}");

    // then
    assertThat(expiresAt).isCloseTo(in(5), within(1, ChronoUnit.MINUTES));
  }

  @Test
  void shouldBelieveTheClientsOwnWordOnItsCache() {
    // when
    Instant expiresAt =
        cachedUntil(
            "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
            "\"cache_creation_input_tokens\":5000",
            "x-fairway-cache-ttl",
            "1200");

    // then
    assertThat(expiresAt).isCloseTo(in(20), within(1, ChronoUnit.MINUTES));
  }

  private static Instant in(int minutes) {
    return Instant.now().plus(Duration.ofMinutes(minutes));
  }

  /** When the cache of a prompt ends that was used just now. */
  private Instant cachedUntil(String mark, String usage, String... headers) {
    fixture.upstream.otherwise(
        exchange ->
            FakeUpstream.json(
                exchange,
                200,
                "{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":12,\"cache_read_input_tokens\":0,"
                    + usage
                    + ",\"output_tokens\":3}}"));
    String body =
        "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":100,\"system\":[{\"type\":\"text\",\"text\":\""
            + WORDS.repeat(25)
            + "\",\"cache_control\":"
            + mark
            + "}],\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    String[] all = new String[headers.length + 2];
    System.arraycopy(headers, 0, all, 2, headers.length);
    all[0] = "x-session-id";
    all[1] = "s";
    fixture.post("/v1/messages", body, all);
    await().atMost(Duration.ofSeconds(20)).until(() -> fixture.admission.settled.size() == 1);
    fixture.post("/v1/messages", body, all);
    assertThat(estimate(1).cachedTokens()).isPositive();
    return estimate(1).cacheExpiresAt();
  }

  private void answerWithInput(int tokens) {
    String answer =
        "{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":%d,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":5,\"total_tokens\":9}}"
            .formatted(tokens);
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 200, answer));
  }

  private LeaseCall.Estimate estimate(int call) {
    return fixture.admission.asked.get(call).call().estimate();
  }
}
