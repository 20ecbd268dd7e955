package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.gateway.FakeAdmission.Asked;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that comes back with its idempotency key: one call upstream in all. */
class ComingBackTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final String BODY = GatewayFixture.message("hi");
  private static final String STREAM =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n";
  private static final String STREAM_END =
      "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":15}}\n\n"
          + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

  private static final CallPlan.Asked ASKED = new CallPlan.Asked("POST", "/v1/messages", "hash");

  private final GatewayFixture fixture = new GatewayFixture();

  @BeforeEach
  void hold() {
    fixture.admission.holds = true;
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldGiveAClientItsPlaceBack() throws Exception {
    // given: a client that is killed while its call waits
    killed(BODY);

    // when
    CompletableFuture<HttpResponse<String>> back = post(BODY);
    asked(0).grant(fixture.admission);

    // then
    assertThat(join(back).body()).isEqualTo(GatewayFixture.ANSWER);
    assertThat(fixture.admission.asked).hasSize(1);
    assertThat(fixture.upstream.received).hasSize(1);
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.SUCCEEDED);
  }

  @Test
  void shouldKeepAGrantForAClientThatIsAboutToComeBack() throws Exception {
    // given
    killed(BODY);
    asked(0).grant(fixture.admission);

    // when
    HttpResponse<String> back = join(post(BODY));

    // then
    assertThat(back.statusCode()).isEqualTo(200);
    assertThat(fixture.admission.asked).hasSize(1);
    assertThat(fixture.upstream.received).hasSize(1);
  }

  /** Taken for none, a client would think itself safe from a second call, and is not. */
  @ParameterizedTest
  @ValueSource(ints = {0, 256, 4_000})
  void shouldRefuseWhatIsNoKey(int length) throws Exception {
    // when
    HttpResponse<String> answer =
        fixture.post("/v1/messages", BODY, "idempotency-key", "k".repeat(length));

    // then
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("invalid_request_error", "1 to 255", "found " + length);
    assertThat(fixture.admission.asked).isEmpty();
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldStopNobodyWithoutAKeyWhileItObserves() throws Exception {
    // given
    fixture.observe();

    // when
    HttpResponse<String> answer =
        fixture.post("/v1/messages", BODY, "idempotency-key", "k".repeat(256));

    // then
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(fixture.upstream.received).hasSize(1);
  }

  @Test
  void shouldGiveBackAGrantThatNobodyComesFor() throws Exception {
    // given
    fixture.admission.ttl = Duration.ofMillis(200);
    killed(BODY);

    // when
    asked(0).grant(fixture.admission);

    // then
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.NOT_SENT);
    assertThat(fixture.upstream.received).isEmpty();
  }

  /** Others wait for it, however long the lease lives. */
  @Test
  void shouldGiveBackAGrantThatNobodyComesForWithinSeconds() throws Exception {
    // given
    fixture.admission.ttl = Duration.ofMinutes(10);
    killed(BODY);
    long before = System.nanoTime();

    // when
    asked(0).grant(fixture.admission);

    // then
    await().atMost(LONG).until(() -> !fixture.admission.settled.isEmpty());
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.NOT_SENT);
    assertThat(Duration.ofNanos(System.nanoTime() - before))
        .isGreaterThan(Duration.ofMillis(ProxiedCall.GRANT_KEPT_MS / 2));
  }

  @Test
  void shouldGiveAClientTheAnswerThatItMissed() throws Exception {
    // given: the client is gone before its stream ends
    fixture.admission.holds = false;
    CountDownLatch goOn = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          OutputStream out = FakeUpstream.events(exchange);
          FakeUpstream.write(out, STREAM);
          awaitLatch(goOn);
          FakeUpstream.write(out, STREAM_END);
        });
    String body = GatewayFixture.streamed("hi");
    try (Socket socket = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
      send(socket, body);
      socket.setSoTimeout((int) LONG.toMillis());
      assertThat(socket.getInputStream().read()).isEqualTo('H');
    }
    await().atMost(LONG).until(() -> fixture.gateway().stats().clientsGone() == 1);

    // when: it comes back while the answer still comes, and once more when it is there
    CompletableFuture<HttpResponse<String>> back = post(body);
    await().atMost(LONG).until(() -> fixture.gateway().stats().open() == 1);
    goOn.countDown();
    HttpResponse<String> first = join(back);
    HttpResponse<String> again = join(post(body));

    // then
    assertThat(first.body()).isEqualTo(STREAM + STREAM_END);
    assertThat(again.body()).isEqualTo(STREAM + STREAM_END);
    assertThat(again.headers().firstValue("content-type").orElse(""))
        .startsWith("text/event-stream");
    assertThat(fixture.upstream.received).hasSize(1);
    assertThat(fixture.admission.onlySettled().usage().outputTokens()).isEqualTo(15);
    assertThat(fixture.admission.onlySettled().usage().exact()).isTrue();
  }

  @Test
  void shouldKeepThePlaceOfAClientWhosePatienceEnds() {
    // given
    HttpResponse<String> impatient = join(post(BODY, "x-stainless-timeout", "1"));

    // when
    CompletableFuture<HttpResponse<String>> back = post(BODY);
    asked(0).grant(fixture.admission);

    // then
    assertThat(impatient.statusCode()).isEqualTo(429);
    assertThat(impatient.headers().firstValue("x-should-retry")).contains("false");
    assertThat(impatient.headers().firstValue("retry-after")).isPresent();
    assertThat(join(back).statusCode()).isEqualTo(200);
    assertThat(fixture.admission.asked).hasSize(1);
  }

  /** Until a little after it was told to come back, and no longer than the call is held. */
  @ParameterizedTest
  @CsvSource({"600, 30, 60, 60", "600, 92, 99, 102", "100, 92, 90, 99"})
  void shouldKeepAPlaceUntilItsClientWasToldToComeBack(int holdS, int etaS, int leastS, int mostS) {
    // given
    fixture.waits =
        new GatewayConfig.Waits(
            Duration.ofSeconds(55),
            Duration.ZERO,
            Duration.ofSeconds(holdS),
            Duration.ofMillis(50),
            Duration.ofSeconds(60),
            Duration.ofMillis(500));
    CompletableFuture<HttpResponse<String>> impatient = post(BODY, "x-stainless-timeout", "2");

    // when
    asked(0)
        .call()
        .onQueued()
        .accept(new QueueUpdate(9, Duration.ofSeconds(etaS), Optional.empty(), Optional.empty()));

    // then
    String told = GatewayFixture.json(join(impatient)).at("/error/message").asText();
    assertThat(told).matches(".* within [0-9]+ s\\.");
    assertThat(Integer.parseInt(told.replaceAll("\\D", ""))).isBetween(leastS, mostS);
  }

  @Test
  void shouldHandTheCallToTheClientThatCameLast() {
    // given
    CompletableFuture<HttpResponse<String>> first = post(BODY);
    asked(0);

    // when
    CompletableFuture<HttpResponse<String>> second = post(BODY);
    HttpResponse<String> superseded = join(first);
    asked(0).grant(fixture.admission);

    // then
    assertThat(superseded.statusCode()).isEqualTo(409);
    assertThat(join(second).statusCode()).isEqualTo(200);
    assertThat(fixture.upstream.received).hasSize(1);
  }

  @Test
  void shouldBreakOffAnAnswerThatPassesWhenTheCallIsHandedOver() throws Exception {
    // given: the first client has read half an event
    fixture.admission.holds = false;
    CountDownLatch goOn = new CountDownLatch(1);
    String half = STREAM.substring(0, STREAM.length() / 2);
    fixture.upstream.then(
        exchange -> {
          OutputStream out = FakeUpstream.events(exchange);
          FakeUpstream.write(out, half);
          awaitLatch(goOn);
          FakeUpstream.write(out, STREAM.substring(half.length()) + STREAM_END);
        });
    String body = GatewayFixture.streamed("hi");
    try (Socket first = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
      first.setSoTimeout((int) LONG.toMillis());
      send(first, body);
      StringBuilder read = new StringBuilder();
      while (read.indexOf(half) < 0) {
        read.append((char) first.getInputStream().read());
      }

      // when
      CompletableFuture<HttpResponse<String>> second = post(body);
      String rest = new String(first.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      goOn.countDown();

      // then: what the first one has is no whole answer, and nothing of it is ours
      assertThat(rest.strip()).isEmpty();
      assertThat(join(second).body()).isEqualTo(STREAM + STREAM_END);
      assertThat(fixture.upstream.received).hasSize(1);
    }
  }

  @Test
  void shouldTellAClientOfTheHandoverWhileNoByteOfTheAnswerHasPassed() {
    // given: the head is there, the body is not
    fixture.admission.holds = false;
    CountDownLatch goOn = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          exchange.getResponseHeaders().set("x-upstream", "1");
          exchange.sendResponseHeaders(200, GatewayFixture.ANSWER.length());
          awaitLatch(goOn);
          FakeUpstream.write(exchange.getResponseBody(), GatewayFixture.ANSWER);
        });
    CompletableFuture<HttpResponse<String>> first = post(BODY);
    await().atMost(LONG).until(() -> fixture.admission.answered.get() == 1);

    // when
    CompletableFuture<HttpResponse<String>> second = post(BODY);
    HttpResponse<String> superseded = join(first);
    goOn.countDown();

    // then
    assertThat(superseded.statusCode()).isEqualTo(409);
    assertThat(superseded.body()).contains("Another client");
    assertThat(superseded.headers().firstValue("x-upstream")).isEmpty();
    assertThat(superseded.headers().firstValue("x-fairway-request-id")).contains("r1");
    assertThat(join(second).body()).isEqualTo(GatewayFixture.ANSWER);
    assertThat(join(second).headers().firstValue("x-fairway-request-id")).contains("r1");
    assertThat(fixture.upstream.received).hasSize(1);
  }

  @Test
  void shouldNotTakeAKeyForAnotherCallWithTheSameBody() {
    // given
    fixture.admission.holds = false;
    String body = "{\"model\":\"gpt-4o\",\"messages\":[],\"input\":\"x\"}";
    HttpResponse<String> chat =
        fixture.post("/v1/chat/completions", body, "idempotency-key", "key-1");

    // when
    HttpResponse<String> path = fixture.post("/v1/responses", body, "idempotency-key", "key-1");
    HttpResponse<String> query =
        fixture.post("/v1/chat/completions?beta=true", body, "idempotency-key", "key-1");

    // then
    assertThat(chat.statusCode()).isEqualTo(200);
    assertThat(path.statusCode()).isEqualTo(409);
    assertThat(path.body()).contains("/v1/chat/completions");
    assertThat(query.statusCode()).isEqualTo(409);
    assertThat(fixture.upstream.received).hasSize(1);
  }

  @Test
  void shouldNotTakeAKeyForAnotherBody() {
    // given
    CompletableFuture<HttpResponse<String>> first = post(BODY);
    asked(0);

    // when
    HttpResponse<String> other = join(post(GatewayFixture.message("something else")));

    // then
    assertThat(other.statusCode()).isEqualTo(409);
    asked(0).grant(fixture.admission);
    assertThat(join(first).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldMakeANewCallAfterOneThatFailed() {
    // given
    fixture.admission.holds = false;
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 500, "{\"error\":{}}"));
    HttpResponse<String> failed = join(post(BODY));

    // when
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
    HttpResponse<String> again = join(post(BODY));

    // then
    assertThat(failed.statusCode()).isEqualTo(500);
    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(fixture.admission.asked.get(1).call().retryOf()).isEqualTo("r1");
  }

  @Test
  void shouldNotKeepMoreThanItMay() {
    // given
    PlaceBook places = new PlaceBook(100);
    Recording recording = new Recording(places);

    // when
    recording.add(ByteBuffer.allocate(60), false);
    recording.add(ByteBuffer.allocate(60), true);

    // then
    assertThat(recording.lost()).contains("no room");
    assertThat(recording.isComplete()).isTrue();
    assertThat(places.keptBytes()).isZero();
  }

  @Test
  void shouldMakeRoomOfTheOldestAnswersAndStillKnowTheirCalls() {
    // given: three answers that went well, and room for two
    PlaceBook places = new PlaceBook(100);
    List<Recording> recordings = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Recording recording = new Recording(places);
      recordings.add(recording);
      PlaceBook.Key key = new PlaceBook.Key("caller", "key-" + i);
      PlaceBook.Place call = (request, response, callback, again) -> {};
      assertThat(places.findOrKeep(key, call)).isSameAs(call);

      // when
      recording.add(ByteBuffer.allocate(50), true);
      places.ended(key, call, new EndedCall(ASKED, "r" + i, recording));
    }

    // then
    assertThat(recordings.get(0).lost()).contains("make room");
    assertThat(recordings.get(1).lost()).isNull();
    assertThat(recordings.get(2).lost()).isNull();
    assertThat(places.keptBytes()).isEqualTo(100);
  }

  @Test
  void shouldRefuseANewKeyWhereAsManyCallsAreUnderWayAsMayBe() {
    // given
    PlaceBook places = new PlaceBook();
    PlaceBook.Place call = (request, response, callback, again) -> {};
    for (int i = 0; i < PlaceBook.CALLS_MAX; i++) {
      places.findOrKeep(new PlaceBook.Key("caller", "key-" + i), call);
    }

    // when / then: those that are there are found, a new one is not taken
    assertThat(places.findOrKeep(new PlaceBook.Key("caller", "key-0"), call)).isSameAs(call);
    assertThat(places.findOrKeep(new PlaceBook.Key("caller", "new"), call)).isNull();

    // when / then
    places.remove(new PlaceBook.Key("caller", "key-0"), call);
    assertThat(places.findOrKeep(new PlaceBook.Key("caller", "new"), call)).isSameAs(call);
  }

  @Test
  void shouldNotMakeASecondCallForAnAnswerThatIsTooLargeToKeep() {
    // given
    fixture.admission.holds = false;
    String answer = GatewayFixture.ANSWER.replace("Hi", "x".repeat(Recording.BYTES_MAX));
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 200, answer));
    HttpResponse<String> first = join(post(BODY));
    fixture.admission.onlySettled();

    // when
    HttpResponse<String> back = join(post(BODY));

    // then
    assertThat(first.body()).isEqualTo(answer);
    assertThat(back.statusCode()).isEqualTo(409);
    assertThat(back.body()).contains("charged", "new key");
    assertThat(back.headers().firstValue("x-should-retry")).hasValue("false");
    assertThat(back.headers().firstValue("x-fairway-request-id")).hasValue("r1");
    assertThat(fixture.upstream.received).hasSize(1);
  }

  @Test
  void shouldNotMakeASecondCallWhileAnAnswerPassesThatIsTooLargeToKeep() {
    // given: half of it has passed, and is more than is kept
    fixture.admission.holds = false;
    CountDownLatch goOn = new CountDownLatch(1);
    String large = GatewayFixture.ANSWER.replace("Hi", "x".repeat(Recording.BYTES_MAX));
    fixture.upstream.otherwise(
        exchange -> {
          exchange.sendResponseHeaders(200, large.length());
          FakeUpstream.write(exchange.getResponseBody(), large.substring(0, large.length() - 9));
          awaitLatch(goOn);
          FakeUpstream.write(exchange.getResponseBody(), large.substring(large.length() - 9));
        });
    CompletableFuture<HttpResponse<InputStream>> first =
        fixture.http.sendAsync(
            fixture.request("/v1/messages", BODY, "idempotency-key", "key-1", "x-session-id", "s"),
            HttpResponse.BodyHandlers.ofInputStream());
    InputStream reading = first.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join().body();
    String read = read(reading, large.length() - 9);

    // when
    HttpResponse<String> back = join(post(BODY));
    goOn.countDown();

    // then: who was there first has all of it
    assertThat(back.statusCode()).isEqualTo(409);
    assertThat(back.body()).contains("charged");
    assertThat(read + read(reading, 9)).isEqualTo(large);
    assertThat(fixture.upstream.received).hasSize(1);
  }

  private static String read(InputStream in, int bytes) {
    try {
      return new String(in.readNBytes(bytes), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void killed(String body) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
      send(socket, body);
      asked(0);
    }
    await().atMost(LONG).until(() -> fixture.gateway().stats().clientsGone() == 1);
    assertThat(asked(0).answer()).isNotDone();
  }

  private CompletableFuture<HttpResponse<String>> post(String body, String... more) {
    String[] headers = new String[4 + more.length];
    headers[0] = "idempotency-key";
    headers[1] = "key-1";
    headers[2] = "x-session-id";
    headers[3] = "s";
    System.arraycopy(more, 0, headers, 4, more.length);
    return fixture.postAsync("/v1/messages", body, headers);
  }

  private static void send(Socket socket, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "POST /v1/messages HTTP/1.1\r\nhost: gateway\r\nx-session-id: s\r\nidempotency-key: key-1\r\n"
            + "content-type: application/json\r\ncontent-length: "
            + bytes.length
            + "\r\n\r\n";
    OutputStream out = socket.getOutputStream();
    out.write(head.getBytes(StandardCharsets.US_ASCII));
    out.write(bytes);
    out.flush();
  }

  private Asked asked(int index) {
    await().atMost(LONG).until(() -> fixture.admission.asked.size() > index);
    return fixture.admission.asked.get(index);
  }

  private static HttpResponse<String> join(CompletableFuture<HttpResponse<String>> answer) {
    return answer.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join();
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
