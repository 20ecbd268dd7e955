package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.SignalClass;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls go through as they are, and are settled by what their answers say. */
class ProxyTest {
  private static final String STREAM =
      "event: message_start\n"
          + "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
          + "event: content_block_delta\n"
          + "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello there\"}}\n\n";
  private static final String STREAM_END =
      "event: message_delta\n"
          + "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":15}}\n\n"
          + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldPassACallAndItsAnswerByteForByte() {
    // given
    String body =
        "{ \"model\" : \"claude-sonnet-4-5\",\n\"max_tokens\": 7, \"messages\":[{\"role\":\"user\",\"content\":\"h\u00e4\"}] }";
    fixture.upstream.then(
        exchange -> {
          exchange.getResponseHeaders().set("request-id", "req_1");
          exchange.getResponseHeaders().set("anthropic-ratelimit-requests-limit", "50");
          exchange.getResponseHeaders().set("anthropic-ratelimit-requests-remaining", "49");
          FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER);
        });

    // when
    HttpResponse<String> response =
        fixture.post("/v1/messages?beta=true", body, "x-api-key", "mine", "anthropic-beta", "b");

    // then
    FakeUpstream.Received sent = fixture.upstream.received.get(0);
    assertThat(sent.text()).isEqualTo(body);
    assertThat(sent.path()).isEqualTo("/v1/messages?beta=true");
    assertThat(sent.header("x-api-key")).isEqualTo("sk-ant-secret");
    assertThat(sent.header("anthropic-beta")).isEqualTo("b");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo(GatewayFixture.ANSWER);
    assertThat(response.headers().firstValue("request-id")).contains("req_1");
    assertThat(response.headers().firstValue("x-fairway-request-id")).contains("r1");
    FakeAdmission.Settled settled = fixture.admission.onlySettled();
    assertThat(settled.outcome()).isEqualTo(Outcome.SUCCEEDED);
    assertThat(settled.usage()).isEqualTo(new UsageReport(12L, 0L, 0L, 3L, true));
    assertThat(settled.signal().status()).isEqualTo(200);
    assertThat(settled.signal().limits()).hasSize(1);
  }

  @Test
  void shouldAskForAnEstimateOfTheCall() {
    // given
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));

    // when
    fixture.post("/v1/messages", GatewayFixture.message("one two three four five"));

    // then
    var call = fixture.admission.asked.get(0).call();
    assertThat(call.quota()).isEqualTo("ant/sonnet");
    assertThat(call.estimate().inputTokens()).isBetween(5L, 15L);
    assertThat(call.estimate().maxOutputTokens()).isEqualTo(100);
    assertThat(call.estimate().method()).startsWith("tokenizer cl100k_base");
  }

  @Test
  void shouldPassAStreamChunkByChunkAndReportItsBeginning() throws Exception {
    // given: a stream that goes on only when the client has its beginning
    CountDownLatch goOn = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          OutputStream out = FakeUpstream.events(exchange);
          FakeUpstream.write(out, STREAM);
          awaitLatch(goOn);
          FakeUpstream.write(out, STREAM_END);
        });

    // when
    HttpResponse<InputStream> response =
        fixture.http.send(
            fixture.request("/v1/messages", GatewayFixture.streamed("hi")),
            HttpResponse.BodyHandlers.ofInputStream());
    byte[] beginning = response.body().readNBytes(STREAM.length());

    // then
    assertThat(new String(beginning, StandardCharsets.UTF_8)).isEqualTo(STREAM);
    assertThat(fixture.admission.inProgress).hasSize(1);
    assertThat(fixture.admission.inProgress.get(0).usage().inputTokens()).isEqualTo(25);
    assertThat(fixture.admission.settled).isEmpty();
    goOn.countDown();
    assertThat(new String(response.body().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo(STREAM_END);
    assertThat(fixture.admission.onlySettled().usage().outputTokens()).isEqualTo(15);
    assertThat(fixture.admission.onlySettled().usage().exact()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        ": keep-alive\n\n",
        "event: message_start\ndata: {\"type\":\"mess"
      })
  void shouldReportTheInputOfAStreamHoweverItBegins(String first) throws Exception {
    // given: a beginning that says nothing of the input, and passes before the rest comes
    String whole = STREAM.startsWith(first) ? STREAM : first + STREAM;
    CountDownLatch goOn = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          OutputStream out = FakeUpstream.events(exchange);
          FakeUpstream.write(out, first);
          awaitLatch(goOn);
          FakeUpstream.write(out, whole.substring(first.length()));
          FakeUpstream.write(out, STREAM_END);
        });

    // when
    HttpResponse<InputStream> response =
        fixture.http.send(
            fixture.request("/v1/messages", GatewayFixture.streamed("hi")),
            HttpResponse.BodyHandlers.ofInputStream());
    response.body().readNBytes(first.length());
    goOn.countDown();
    response.body().readAllBytes();

    // then
    assertThat(fixture.admission.inProgress).hasSize(1);
    assertThat(fixture.admission.inProgress.get(0).usage().inputTokens()).isEqualTo(25);
    assertThat(fixture.admission.onlySettled().usage().outputTokens()).isEqualTo(15);
  }

  @Test
  void shouldSettleOnceWithWhatIsKnownWhenTheClientHangsUpMidStream() throws Exception {
    // given
    CountDownLatch never = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          OutputStream out = FakeUpstream.events(exchange);
          FakeUpstream.write(out, STREAM);
          awaitLatch(never);
        });
    HttpResponse<InputStream> response =
        fixture.http.send(
            fixture.request("/v1/messages", GatewayFixture.streamed("hi")),
            HttpResponse.BodyHandlers.ofInputStream());
    response.body().readNBytes(STREAM.length());

    // when
    response.body().close();

    // then
    await().atMost(Duration.ofSeconds(10)).until(() -> !fixture.admission.settled.isEmpty());
    never.countDown();
    FakeAdmission.Settled settled = fixture.admission.onlySettled();
    assertThat(settled.usage().inputTokens()).isEqualTo(25);
    assertThat(settled.usage().outputTokens()).isEqualTo(2);
    assertThat(settled.usage().exact()).isFalse();
    assertThat(fixture.gateway().stats().clientsGone()).isEqualTo(1);
  }

  /** Charged, perhaps; but the provider did not fail, so the agent's next turn is no retry. */
  @Test
  void shouldTellACallThatItsClientBreaksOffFromOneThatFailed() throws Exception {
    // given: the provider works on it
    CountDownLatch never = new CountDownLatch(1);
    fixture.upstream.then(exchange -> awaitLatch(never));
    CompletableFuture<HttpResponse<String>> call =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));
    await().atMost(Duration.ofSeconds(10)).until(() -> !fixture.upstream.received.isEmpty());

    // when
    call.cancel(true);

    // then
    FakeAdmission.Settled settled = fixture.admission.onlySettled();
    never.countDown();
    assertThat(settled.outcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(settled.usage().inputTokens()).isPositive();
    assertThat(settled.usage().exact()).isFalse();

    // when: the same once more
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
    fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then: is another try of it
    assertThat(fixture.admission.asked.get(1).call().retryOf()).isEqualTo("r1");
    assertThat(fixture.gateway().stats().retries()).isEqualTo(1);
  }

  @Test
  void shouldAskForUsageOfAChatStreamAndHideWhatTheClientDidNotAskFor() {
    // given
    String chunk =
        "data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}],\"usage\":null}\n\n";
    String usage =
        "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"total_tokens\":11}}\n\n";
    String done = "data: [DONE]\n\n";
    fixture.upstream.then(
        exchange -> FakeUpstream.write(FakeUpstream.events(exchange), chunk + usage + done));

    // when
    HttpResponse<String> response =
        fixture.post(
            "/v1/chat/completions",
            "{\"model\":\"gpt-4o\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");

    // then
    assertThat(fixture.upstream.received.get(0).text())
        .isEqualTo(
            "{\"stream_options\":{\"include_usage\":true},\"model\":\"gpt-4o\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    assertThat(fixture.upstream.received.get(0).header("authorization"))
        .isEqualTo("Bearer sk-oai-secret");
    // As without asking: no chunk that tells usage, and no word of it in the others.
    assertThat(response.body()).isEqualTo(chunk.replace(",\"usage\":null", "") + done);
    assertThat(fixture.admission.onlySettled().usage())
        .isEqualTo(new UsageReport(9L, null, null, 2L, true));
  }

  @Test
  void shouldPutA429BackInLineInsteadOfPassingItOn() {
    // given
    fixture
        .upstream
        .then(
            exchange -> {
              exchange.getResponseHeaders().set("retry-after", "1");
              FakeUpstream.json(
                  exchange,
                  429,
                  "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}");
            })
        .then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(200);
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(
            () ->
                assertThat(fixture.admission.outcomes())
                    .containsExactly(Outcome.RATE_LIMITED, Outcome.SUCCEEDED));
    assertThat(fixture.admission.settled.get(0).signal().retryAfter())
        .isEqualTo(Duration.ofSeconds(1));
    assertThat(fixture.gateway().stats().requeues()).isEqualTo(1);
  }

  @Test
  void shouldPassOnA429ThatWaitingDoesNotHelp() {
    // given
    fixture.upstream.then(
        exchange ->
            FakeUpstream.json(
                exchange,
                429,
                "{\"error\":{\"message\":\"You exceeded your current quota\",\"type\":\"insufficient_quota\",\"param\":null,\"code\":\"insufficient_quota\"}}"));

    // when
    HttpResponse<String> response =
        fixture.post("/v1/chat/completions", "{\"model\":\"gpt-4o\",\"messages\":[]}");

    // then
    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.body()).contains("insufficient_quota");
    assertThat(response.headers().firstValue("x-should-retry")).contains("false");
    assertThat(fixture.admission.onlySettled().signal().kind()).isEqualTo(SignalClass.BILLING);
    assertThat(fixture.upstream.received).hasSize(1);
  }

  @Test
  void shouldRefundACallThatTheProviderDidNotTake() {
    // given
    fixture.upstream.then(
        exchange ->
            FakeUpstream.json(
                exchange,
                400,
                "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}"));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(fixture.admission.onlySettled().usage().inputTokens()).isZero();
  }

  @Test
  void shouldSettleAnOverloadAsSuchAndPassItOn() {
    // given
    fixture.upstream.then(
        exchange ->
            FakeUpstream.json(
                exchange,
                529,
                "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(529);
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.OVERLOADED);
  }

  @Test
  void shouldGiveBackALeaseWhoseUpstreamCannotBeReached() {
    // given
    fixture.gateway();
    fixture.upstream.close();

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(502);
    assertThat(response.body()).contains("\"api_error\"").doesNotContain("sk-ant");
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.NOT_SENT);
  }

  @Test
  void shouldSettleAStreamThatItsUpstreamBreaksOff() {
    // given
    fixture.upstream.then(
        exchange -> {
          exchange.getResponseHeaders().set("content-type", "text/event-stream");
          exchange.sendResponseHeaders(200, 10_000);
          FakeUpstream.write(exchange.getResponseBody(), STREAM);
          throw new IOException("gone");
        });

    // when
    var answer = fixture.postAsync("/v1/messages", GatewayFixture.streamed("hi"));

    // then
    assertThat(answer).failsWithin(Duration.ofSeconds(10));
    FakeAdmission.Settled settled = fixture.admission.onlySettled();
    assertThat(settled.outcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
    assertThat(settled.usage().inputTokens()).isEqualTo(25);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"max_tokens\":100000001",
        "\"max_completion_tokens\":1000000000000000000000000000000",
        "\"max_output_tokens\":1e30"
      })
  void shouldRefuseACallThatMayWriteMoreThanAnyLeaseIsFor(String limit) {
    // when
    HttpResponse<String> response =
        fixture.post(
            "/v1/chat/completions", "{\"model\":\"gpt-4o\",\"messages\":[]," + limit + "}");

    // then: nobody is asked, and nothing is sent
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body())
        .contains("invalid_request_error", limit.split("\"")[1], "at most 100000000");
    assertThat(fixture.admission.asked).isEmpty();
    assertThat(fixture.upstream.received).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "n:3, 300",
    "n:1, 100",
    "n:0, 100",
    "n:-2, 100",
    "n:null, 100",
    "n:2.5, 100",
    "n:3.0, 300",
    "n:2e1, 2000"
  })
  void shouldAskForAsManyAnswersAsACallAsksFor(String n, long outputTokens) {
    // when: each of them may be as long as the limit says
    fixture.post(
        "/v1/chat/completions",
        "{\"model\":\"gpt-4o\",\"messages\":[],\"max_tokens\":100,\"n\":%s}"
            .formatted(n.substring(2)));

    // then
    assertThat(fixture.admission.asked.get(0).call().estimate().maxOutputTokens())
        .isEqualTo(outputTokens);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"n\":2147483648",
        "\"n\":9223372036854775808",
        "\"n\":1e400",
        "\"n\":2147483648,\"max_tokens\":1",
        "\"n\":9223372036854775808,\"max_tokens\":1",
        "\"n\":3000000000.0,\"max_completion_tokens\":100"
      })
  void shouldRefuseMoreAnswersThanANumberHolds(String fields) {
    // when
    HttpResponse<String> response =
        fixture.post(
            "/v1/chat/completions", "{\"model\":\"gpt-4o\",\"messages\":[],%s}".formatted(fields));

    // then
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("\\\"n\\\"");
    assertThat(fixture.admission.asked).isEmpty();
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldRefuseMoreAnswersThanAnyLeaseIsFor() {
    // when
    HttpResponse<String> response =
        fixture.post(
            "/v1/chat/completions",
            "{\"model\":\"gpt-4o\",\"messages\":[],\"max_tokens\":1000000,\"n\":101}");

    // then
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("max_tokens", "times", "at most 100000000");
    assertThat(fixture.admission.asked).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "x-gzip", "zstd", "gzip, identity"})
  void shouldSayThatACompressedBodyCannotBeRead(String encoding) {
    // when
    HttpResponse<String> response =
        fixture.post("/v1/messages", GatewayFixture.message("hi"), "content-encoding", encoding);

    // then
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("not compressed", encoding);
    assertThat(fixture.admission.asked).isEmpty();
  }

  @Test
  void shouldTakeTheMostThatALeaseMayBeFor() {
    // when
    HttpResponse<String> response =
        fixture.post(
            "/v1/chat/completions",
            "{\"model\":\"gpt-4o\",\"messages\":[],\"max_tokens\":100000000}");

    // then
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(fixture.admission.asked).hasSize(1);
  }

  @Test
  void shouldRefuseAModelThatNoRouteIsFor() {
    // when
    HttpResponse<String> response =
        fixture.post("/v1/messages", GatewayFixture.message("hi").replace("claude-", "other-"));

    // then
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body())
        .contains("\"not_found_error\"", "'other-", "models of a quota", "gateway.routes");
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldPassUnknownCallsWhereConfiguredAndSayThatTheyAreNotCounted() throws Exception {
    // given
    fixture.unknown = "openai";
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, "{\"data\":[]}"));

    // when
    HttpResponse<String> response =
        fixture.http.send(
            HttpRequest.newBuilder(fixture.uri("/v1/models")).build(),
            HttpResponse.BodyHandlers.ofString());

    // then
    assertThat(response.body()).isEqualTo("{\"data\":[]}");
    assertThat(response.headers().firstValue("x-fairway-request-id")).contains("uncounted");
    assertThat(fixture.gateway().stats().uncounted()).isEqualTo(1);
    assertThat(fixture.admission.asked).isEmpty();
  }

  @Test
  void shouldKeepACallersOwnCredentialsFromAnUpstreamWithAKey() throws Exception {
    // given
    fixture.unknown = "openai";
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, "{}"));

    // when
    fixture.http.send(
        HttpRequest.newBuilder(fixture.uri("/v1beta/models?a=1&key=MINE&b=2"))
            .header("x-goog-api-key", "MINE")
            .header("x-auth-token", "MINE")
            .header("cookie", "session=MINE")
            .header("idempotency-key", "kept")
            .build(),
        HttpResponse.BodyHandlers.ofString());

    // then
    FakeUpstream.Received sent = fixture.upstream.received.get(0);
    assertThat(sent.path()).isEqualTo("/v1beta/models?a=1&b=2");
    assertThat(sent.headers().toString()).doesNotContain("MINE").contains("kept");
    assertThat(sent.header("authorization")).isEqualTo("Bearer sk-oai-secret");
  }

  @Test
  void shouldRefuseUnknownCallsElsewhere() throws Exception {
    // when
    HttpResponse<String> response =
        fixture.http.send(
            HttpRequest.newBuilder(fixture.uri("/v1/models")).build(),
            HttpResponse.BodyHandlers.ofString());

    // then
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).contains("GET /v1/models").doesNotContain("model_not_found");
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldNotCountTheCountingOfTokens() {
    // given
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, "{\"input_tokens\":5}"));

    // when
    HttpResponse<String> response =
        fixture.post("/v1/messages/count_tokens", GatewayFixture.message("hi"));

    // then
    assertThat(response.body()).isEqualTo("{\"input_tokens\":5}");
    assertThat(fixture.admission.asked).isEmpty();
  }

  @Test
  void shouldRefuseBodiesAboveTheBoundAndBodiesThatAreNoCalls() {
    // given
    fixture.bounds = new GatewayConfig.Bounds(1_000, 1_000, 10, 10, Duration.ofSeconds(5), 9, 3);

    // when
    HttpResponse<String> large =
        fixture.post("/v1/messages", GatewayFixture.message("x".repeat(2_000)));
    HttpResponse<String> noJson = fixture.post("/v1/messages", "{\"model\":");
    HttpResponse<String> noModel = fixture.post("/v1/chat/completions", "{\"messages\":[]}");

    // then
    assertThat(large.statusCode()).isEqualTo(413);
    assertThat(noJson.statusCode()).isEqualTo(400);
    assertThat(noModel.statusCode()).isEqualTo(400);
    assertThat(noModel.body()).contains("\"invalid_request_error\"");
    assertThat(fixture.admission.asked).isEmpty();
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
