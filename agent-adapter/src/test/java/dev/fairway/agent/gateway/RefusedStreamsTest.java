package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.gateway.FakeAdmission.Settled;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.SignalClass;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A provider that refuses a call inside of its 200, before anything of an answer came. */
class RefusedStreamsTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private static final String MESSAGE =
      "event: message_start\n"
          + "data:"
          + " {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
          + "event: ping\n"
          + "data: {\"type\": \"ping\"}\n\n"
          + "event: content_block_delta\n"
          + "data:"
          + " {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"gr\u00fc\u00df\"}}\n\n"
          + "event: message_delta\n"
          + "data:"
          + " {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":15}}\n\n"
          + "event: message_stop\n"
          + "data: {\"type\":\"message_stop\"}\n\n";
  private static final String CHAT =
      "data:"
          + " {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"
          + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":25,\"completion_tokens\":15}}\n\n"
          + "data: [DONE]\n\n";
  private static final String RESPONSE =
      "event: response.created\n"
          + "data: {\"type\":\"response.created\",\"response\":{\"usage\":null,\"error\":null}}\n\n"
          + "event: response.completed\n"
          + "data:"
          + " {\"type\":\"response.completed\",\"response\":{\"error\":null,\"usage\":{\"input_tokens\":25,\"output_tokens\":15}}}\n\n";

  private static final String LIMITED =
      "event: error\n"
          + "data: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This"
          + " request would exceed the limit\"}}\n\n";
  private static final String OVERLOADED = LIMITED.replace("rate_limit_error", "overloaded_error");

  private enum Api {
    ANTHROPIC("/v1/messages", LIMITED, MESSAGE),
    OPENAI_CHAT(
        "/v1/chat/completions",
        "data: {\"error\":{\"message\":\"Rate limit reached. Please try again in"
            + " 2s.\",\"type\":\"tokens\",\"param\":null,\"code\":\"rate_limit_exceeded\"}}\n\n",
        CHAT),
    OPENROUTER(
        "/v1/chat/completions",
        "data:"
            + " {\"id\":\"x\",\"error\":{\"code\":429,\"message\":\"slow\"},\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n",
        CHAT),
    RESPONSES_FAILED(
        "/v1/responses",
        RESPONSE.substring(0, RESPONSE.indexOf("\n\n") + 2)
            + "event: response.failed\n"
            + "data:"
            + " {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Please"
            + " try again in 2s.\"}}}\n\n",
        RESPONSE),
    RESPONSES_ERROR(
        "/v1/responses",
        "event: error\n"
            + "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"Rate limit"
            + " reached\",\"param\":null}\n\n",
        RESPONSE);

    private final String path;
    private final String refusal;
    private final String answer;

    Api(String path, String refusal, String answer) {
      this.path = path;
      this.refusal = refusal;
      this.answer = answer;
    }

    String call() {
      return path.equals("/v1/messages")
          ? GatewayFixture.streamed("hi")
          : path.equals("/v1/responses")
              ? "{\"model\":\"gpt-4o\",\"stream\":true,\"input\":\"hi\"}"
              : "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"messages\":[]}";
    }
  }

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @EnumSource
  void shouldPutACallBackInLineThatIsRefusedInsideOfItsAnswer(Api api) {
    // given
    fixture.upstream.then(events(api.refusal)).then(events(api.answer));

    // when
    HttpResponse<String> response = fixture.post(api.path, api.call());

    // then: as after a 429, and the client sees nothing of it
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo(api.answer);
    await().atMost(LONG).until(() -> fixture.admission.settled.size() == 2);
    Settled refused = fixture.admission.settled.get(0);
    assertThat(refused.outcome()).isEqualTo(Outcome.RATE_LIMITED);
    assertThat(refused.usage()).isNull();
    assertThat(refused.signal().kind()).isEqualTo(SignalClass.RATE_LIMITED);
    assertThat(fixture.admission.requeued).hasSize(1);
    assertThat(fixture.admission.settled.get(1).outcome()).isEqualTo(Outcome.SUCCEEDED);
    assertThat(fixture.admission.settled.get(1).usage().inputTokens()).isEqualTo(25);
    assertThat(fixture.gateway().stats().requeues()).isEqualTo(1);
  }

  @Test
  void shouldAskAnewForACallThatAnOverloadedProviderRefusesInsideOfItsAnswer() {
    // given
    fixture.upstream.then(events(OVERLOADED)).then(events(MESSAGE));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.streamed("hi"));

    // then: it is no limit of ours, and what comes next is another try
    assertThat(response.body()).isEqualTo(MESSAGE);
    await().atMost(LONG).until(() -> fixture.admission.settled.size() == 2);
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.OVERLOADED, Outcome.SUCCEEDED);
    assertThat(fixture.admission.requeued).isEmpty();
    assertThat(fixture.admission.asked.get(1).call().retryOf()).isEqualTo("r1");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 100})
  void shouldKnowARefusalHoweverItsBytesCome(int size) {
    // given: a part of an event is held, as long as the rest comes soon
    fixture
        .upstream
        .then(
            exchange -> {
              try (OutputStream out = FakeUpstream.events(exchange)) {
                byte[] bytes = LIMITED.getBytes(StandardCharsets.UTF_8);
                for (int from = 0; from < bytes.length; from += size) {
                  out.write(bytes, from, Math.min(size, bytes.length - from));
                  out.flush();
                }
              }
            })
        .then(events(MESSAGE));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.streamed("hi"));

    // then
    assertThat(response.body()).isEqualTo(MESSAGE);
    assertThat(fixture.upstream.received).hasSize(2);
  }

  /** Nothing is held back that a client might wait for. */
  @Test
  void shouldPassOnAtOnceWhatIsNoPartOfAnAnswerAndStillPutTheCallBack() throws Exception {
    // given
    String comment = ": OPENROUTER PROCESSING\n\n";
    String ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    CountDownLatch commentRead = new CountDownLatch(1);
    CountDownLatch pingRead = new CountDownLatch(1);
    fixture
        .upstream
        .then(
            exchange -> {
              try (OutputStream out = FakeUpstream.events(exchange)) {
                FakeUpstream.write(out, comment);
                uninterrupted(commentRead);
                FakeUpstream.write(out, ping);
                uninterrupted(pingRead);
                FakeUpstream.write(out, LIMITED);
              }
            })
        .then(events(comment + MESSAGE));

    // when
    HttpResponse<InputStream> response = begin(GatewayFixture.streamed("hi"));
    try (InputStream body = response.body()) {
      assertThat(read(body, comment.length())).isEqualTo(comment);
      commentRead.countDown();
      assertThat(read(body, ping.length())).isEqualTo(ping);
      pingRead.countDown();

      // then
      assertThat(new String(body.readAllBytes(), StandardCharsets.UTF_8))
          .isEqualTo(comment + MESSAGE);
    }
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().allValues("content-type"))
        .containsExactly("text/event-stream; charset=utf-8");
    assertThat(fixture.admission.requeued).hasSize(1);
  }

  @Test
  void shouldTellWithAnEventWhyACallThatWentBackGetsNoAnswer() throws Exception {
    // given: a comment of the upstream's has promised a stream
    String comment = ": wait\n\n";
    CountDownLatch commentRead = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          try (OutputStream out = FakeUpstream.events(exchange)) {
            FakeUpstream.write(out, comment);
            uninterrupted(commentRead);
            FakeUpstream.write(out, LIMITED);
          }
        });
    fixture.admission.holdsRequeues = true;

    // when
    HttpResponse<InputStream> response = begin(GatewayFixture.streamed("hi"));
    try (InputStream body = response.body()) {
      assertThat(read(body, comment.length())).isEqualTo(comment);
      commentRead.countDown();
      await().atMost(LONG).until(() -> !fixture.admission.requeued.isEmpty());
      fixture.admission.requeued.get(0).refuse(RejectReason.QUEUE_FULL, null);

      // then
      assertThat(new String(body.readAllBytes(), StandardCharsets.UTF_8))
          .startsWith("event: error\ndata: {\"type\":\"error\"")
          .contains("rate_limit_error", "QUEUE_FULL")
          .doesNotContain("would exceed");
    }
    assertThat(response.statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({"0, RATE_LIMITED", "1, OVERLOADED"})
  void shouldPassOnARefusalThatMayNotBeTriedAgain(int overloaded, Outcome outcome) {
    // given
    String refusal = overloaded == 1 ? OVERLOADED : LIMITED;
    fixture.upstream.otherwise(events(refusal));

    // when
    HttpResponse<String> response =
        fixture.post("/v1/messages", GatewayFixture.streamed("hi"), "x-fairway-retry-budget", "1");

    // then: the second time as it came, and charged nothing
    assertThat(response.body()).isEqualTo(refusal);
    await().atMost(LONG).until(() -> fixture.admission.settled.size() == 2);
    assertThat(fixture.upstream.received).hasSize(2);
    assertThat(fixture.admission.outcomes()).containsExactly(outcome, outcome);
    assertThat(fixture.admission.settled.get(1).usage()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "event: error\n"
            + "data:"
            + " {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}\n\n",
        "event: message_start\n"
            + "data:"
            + " {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
            + "event: error\n"
            + "data:"
            + " {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n"
            + "data: {\"error\":{\"code\":429,\"message\":\"slow\"}}\n\n",
        "event: ping\n\n",
        "data: cut",
        ""
      })
  void shouldPassOnAsItCameWhatIsNoRefusal(String body) {
    // given
    fixture.upstream.then(events(body));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.streamed("hi"));

    // then
    assertThat(response.body()).isEqualTo(body);
    await().atMost(LONG).until(() -> fixture.admission.settled.size() == 1);
    assertThat(fixture.upstream.received).hasSize(1);
    assertThat(fixture.admission.outcomes()).doesNotContain(Outcome.SUCCEEDED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"event: message_start\nda", "data: {\"choices\":[", "event: message_start\n"})
  void shouldHoldAPartOfAnEventNoLongerThanAMoment(String part) throws Exception {
    // given
    CountDownLatch partRead = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          try (OutputStream out = FakeUpstream.events(exchange)) {
            FakeUpstream.write(out, part);
            uninterrupted(partRead);
            FakeUpstream.write(out, "\n\n");
          }
        });

    // when
    HttpResponse<InputStream> response = begin(GatewayFixture.streamed("hi"));

    // then
    try (InputStream body = response.body()) {
      assertThat(read(body, part.length())).isEqualTo(part);
      partRead.countDown();
      assertThat(body.readAllBytes()).hasSize(2);
    }
  }

  @Test
  void shouldHoldNoLargeEvent() throws Exception {
    // given
    String large = "data: " + "x".repeat(2 * StreamHead.BYTES_MAX);
    fixture.upstream.then(events(large));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.streamed("hi"));

    // then
    assertThat(response.body()).isEqualTo(large);
  }

  @Test
  void shouldOnlyObserveWhereItObserves() throws Exception {
    // given
    fixture.observe();
    fixture.upstream.then(events(LIMITED));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.streamed("hi"));

    // then
    assertThat(response.body()).isEqualTo(LIMITED);
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.RATE_LIMITED);
  }

  @Test
  void shouldSettleACallOnceWhoseClientGoesBeforeItsAnswerBegins() throws Exception {
    // given
    CountDownLatch gone = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          try (OutputStream out = FakeUpstream.events(exchange)) {
            FakeUpstream.write(out, ": wait\n\n");
            uninterrupted(gone);
            FakeUpstream.write(out, MESSAGE);
          }
        });

    // when
    HttpResponse<InputStream> response = begin(GatewayFixture.streamed("hi"));
    response.body().read();
    response.body().close();
    await().atMost(LONG).until(() -> !fixture.admission.settled.isEmpty());
    gone.countDown();

    // then
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.CANCELLED);
    await().atMost(LONG).until(() -> fixture.gateway().stats().open() == 0);
  }

  private HttpResponse<InputStream> begin(String call) throws IOException, InterruptedException {
    return fixture.http.send(
        fixture.request("/v1/messages", call), HttpResponse.BodyHandlers.ofInputStream());
  }

  private static String read(InputStream body, int bytes) throws IOException {
    return new String(body.readNBytes(bytes), StandardCharsets.UTF_8);
  }

  private static FakeUpstream.Script events(String... texts) {
    return exchange -> {
      try (OutputStream out = FakeUpstream.events(exchange)) {
        for (String text : texts) {
          FakeUpstream.write(out, text);
        }
      }
    };
  }

  private static void uninterrupted(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
