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

/** Counts that Anthropic is asked for, how good estimates are, and where that is told. */
class CountedTokensTest {
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
  void shouldAskNoMoreOnceTheTokenizerIsGoodEnough() {
    // given: a tokenizer that is always right
    EstimateErrors errors = new EstimateErrors();
    for (int i = 0; i < CountedTokens.CALLS_TO_JUDGE; i++) {
      errors.observe("claude-x", 100, 101, 1);
    }

    // when / then
    EstimateQuality quality = errors.of("claude-x");
    assertThat(quality.errorP90()).isLessThan(CountedTokens.GOOD_ENOUGH);
    assertThat(quality.bias()).isNegative();
    errors.observe("claude-x", 200, 100, 1);
    assertThat(errors.of("claude-x").errorP90()).isLessThan(CountedTokens.GOOD_ENOUGH);
    errors.observe("claude-x", 200, 100, 1);
    errors.observe("claude-x", 200, 100, 1);
    assertThat(errors.of("claude-x").errorP90()).isEqualTo(1);
  }

  @Test
  void shouldLearnAModelsCorrectionAndReportTheErrorThatIsLeft() throws Exception {
    // given: a model whose tokens are 1.3 times the tokenizer's, with 4 % of noise
    EstimateErrors errors = new EstimateErrors();
    TokenizerEstimator estimator = new TokenizerEstimator(errors);

    // when
    for (int i = 0; i < 200; i++) {
      estimator.learn("claude-x", 1_000, 1_300 + (i % 3 - 1) * 52);
    }

    // then
    EstimateQuality quality = errors.of("claude-x");
    assertThat(quality.correction()).isBetween(1.25, 1.35);
    assertThat(quality.errorP90()).isBetween(0.01, 0.08);
    assertThat(Math.abs(quality.bias())).isLessThan(0.02);
    CallBody body =
        CallBody.parse(
            "{\"model\":\"claude-x\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"
                .getBytes(java.nio.charset.StandardCharsets.UTF_8));
    assertThat(estimator.estimate(Endpoint.MESSAGES, body).method())
        .contains(" x 1.")
        .contains("+-");
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
