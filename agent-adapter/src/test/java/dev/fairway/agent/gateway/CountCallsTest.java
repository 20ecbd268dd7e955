package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.gateway.GatewayConfig.Estimates;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Counts that Anthropic is asked for, and where it is told how good estimates are. */
class CountCallsTest {
  private final GatewayFixture fixture = new GatewayFixture();
  private volatile int status = 200;

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldAskTheProviderForACountAndRememberIt() {
    // given
    allow(60);

    // when: the same input, with another limit on the output
    String body = GatewayFixture.message("hello");
    fixture.post("/v1/messages", body, "anthropic-version", "2023-06-01");
    fixture.post("/v1/messages", body.replace("100", "200"));

    // then
    assertThat(estimate(0).inputTokens()).isEqualTo(777);
    assertThat(estimate(0).method()).isEqualTo("count_tokens");
    assertThat(estimate(1).inputTokens()).isEqualTo(777);
    List<FakeUpstream.Received> counts = counts();
    assertThat(counts).hasSize(1);
    assertThat(counts.get(0).header("x-api-key")).isEqualTo("sk-ant-secret");
    assertThat(counts.get(0).header("anthropic-version")).isEqualTo("2023-06-01");
    assertThat(counts.get(0).text()).contains("hello").doesNotContain("max_tokens");
  }

  @Test
  void shouldEstimateByItselfBeyondTheBudgetAndAfterAFailure() {
    // given: 6 a minute, of which one is saved up
    allow(6);

    // when
    fixture.post("/v1/messages", GatewayFixture.message("one"));
    fixture.post("/v1/messages", GatewayFixture.message("two"));

    // then
    assertThat(estimate(0).method()).isEqualTo("count_tokens");
    assertThat(estimate(1).method()).startsWith("tokenizer");
    assertThat(counts()).hasSize(1);
  }

  @Test
  void shouldAskNobodyForAWhileAfterAFailure() {
    // given
    allow(6_000);
    status = 500;

    // when
    fixture.post("/v1/messages", GatewayFixture.message("one"));
    fixture.post("/v1/messages", GatewayFixture.message("two"));

    // then
    assertThat(estimate(0).method()).startsWith("tokenizer");
    assertThat(counts()).hasSize(1);
  }

  @Test
  void shouldAskNobodyUnlessItIsAllowed() {
    // given
    fixture.upstream.otherwise(this::answer);

    // when
    fixture.post("/v1/messages", GatewayFixture.message("one"));

    // then
    assertThat(counts()).isEmpty();
  }

  @Test
  void shouldTellItsCountersAsPrometheusReadsThem() throws Exception {
    // given
    fixture.upstream.otherwise(
        exchange ->
            FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER.replace(":12,", ":120,")));
    fixture.post("/v1/messages", GatewayFixture.message("word ".repeat(100)));
    await().until(() -> !fixture.gateway().estimates().isEmpty());

    // when
    HttpResponse<String> metrics =
        fixture.http.send(
            HttpRequest.newBuilder(fixture.uri("/metrics")).build(),
            HttpResponse.BodyHandlers.ofString());

    // then
    assertThat(metrics.statusCode()).isEqualTo(200);
    assertThat(metrics.body())
        .contains("# TYPE fairway_gateway_calls_total counter\nfairway_gateway_calls_total 1\n")
        .contains("fairway_gateway_retry_budgets_spent_total 0\n")
        .contains("fairway_gateway_estimate_error_p90{model=\"claude-sonnet-4-5\"} 0.");
  }

  private void allow(int perMinute) {
    fixture.estimates = new Estimates(true, perMinute, Duration.ofSeconds(10));
    fixture.upstream.otherwise(this::answer);
  }

  private void answer(HttpExchange exchange) throws IOException {
    boolean count = exchange.getRequestURI().getPath().endsWith("count_tokens");
    FakeUpstream.json(
        exchange, count ? status : 200, count ? "{\"input_tokens\":777}" : GatewayFixture.ANSWER);
  }

  private LeaseCall.Estimate estimate(int call) {
    return fixture.admission.asked.get(call).call().estimate();
  }

  private List<FakeUpstream.Received> counts() {
    return fixture.upstream.received.stream()
        .filter(sent -> sent.path().endsWith("count_tokens"))
        .toList();
  }
}
