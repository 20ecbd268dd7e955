package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.ScriptedCoordinator;
import dev.fairway.agent.gateway.FakeAdmission.Asked;
import dev.fairway.agent.gateway.GatewayConfig.Waits;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaitsFor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a client sees while its call waits. */
class WaitingTest {
  private static final Duration LONG = Duration.ofSeconds(20);

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
  void shouldHoldACallWithoutAStatusUntilItIsGranted() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));
    Asked asked = asked(0);

    // when
    assertThat(answer).isNotDone();
    assertThat(fixture.upstream.received).isEmpty();
    asked.grant(fixture.admission);

    // then
    assertThat(answer).succeedsWithin(LONG).extracting(HttpResponse::statusCode).isEqualTo(200);
  }

  @Test
  void shouldAnswerARefusalHonestly() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));

    // when: longer than anybody here waits
    asked(0).refuse(RejectReason.QUEUE_WAIT_TOO_LONG, Duration.ofMillis(90_500));

    // then
    HttpResponse<String> refused = join(answer);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("retry-after")).contains("91");
    assertThat(refused.headers().firstValue("x-fairway-request-id")).contains("r1");
    assertThat(refused.headers().firstValue("x-should-retry")).contains("false");
    assertThat(refused.body()).contains("\"rate_limit_error\"", "QUEUE_WAIT_TOO_LONG");
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldNameNoTimeToComeBackWhereNobodyKnowsOne() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));

    // when: an operator has to clear it
    asked(0).refuse(RejectReason.QUOTA_EXHAUSTED, null);

    // then
    HttpResponse<String> refused = join(answer);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("retry-after")).isEmpty();
    assertThat(refused.headers().firstValue("x-should-retry")).contains("false");
  }

  @Test
  void shouldAnswerARequestThatCannotBeWith400() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));

    // when
    asked(0).refuse(RejectReason.INVALID, null);

    // then
    assertThat(join(answer).statusCode()).isEqualTo(400);
    assertThat(join(answer).body()).contains("invalid_request_error", "INVALID");
  }

  @Test
  void shouldWordRefusalsAsTheApiOfTheClientDoes() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/chat/completions", "{\"model\":\"gpt-4o\",\"messages\":[]}");

    // when
    asked(0).refuse(RejectReason.NEVER_FITS, null);

    // then
    HttpResponse<String> refused = join(answer);
    assertThat(refused.statusCode()).isEqualTo(413);
    assertThat(refused.body()).startsWith("{\"error\":{\"message\":");
    assertThat(refused.headers().firstValue("x-should-retry")).contains("false");
  }

  @Test
  void shouldComeBackByItselfWhereTheWaitIsShortEnough() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));

    // when
    asked(0).refuse(RejectReason.QUEUE_WAIT_TOO_LONG, Duration.ofMillis(50));
    Asked again = asked(1);
    again.grant(fixture.admission);

    // then
    assertThat(again.call().retryOf()).isEqualTo("r1");
    assertThat(join(answer).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldComeBackWhenABudgetThatIsSpentIsThereAgain() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));

    // when
    asked(0).refuse(RejectReason.BUDGET_SPENT, Duration.ofMillis(50));
    Asked again = asked(1);
    again.grant(fixture.admission);

    // then
    assertThat(again.call().retryOf()).isEqualTo("r1");
    assertThat(join(answer).statusCode()).isEqualTo(200);
  }

  /** For good, or for longer than the call is held. */
  @ParameterizedTest
  @CsvSource({",", "PT10M,600"})
  void shouldNotComeBackWhenABudgetIsSpentForLonger(Duration wait, String told) {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));

    // when
    asked(0).refuse(RejectReason.BUDGET_SPENT, wait);

    // then
    assertThat(join(answer).statusCode()).isEqualTo(429);
    assertThat(join(answer).headers().firstValue("x-should-retry")).contains("false");
    assertThat(join(answer).headers().firstValue("retry-after").orElse(null)).isEqualTo(told);
    assertThat(fixture.admission.asked).hasSize(1);
  }

  @Test
  void shouldKeepAStreamAliveWithCommentsOnceItsClientWouldGiveUp() throws Exception {
    // given: a client that waits for a second, and hears of its place
    HttpResponse<InputStream> response =
        fixture.http.send(
            fixture.request(
                "/v1/messages", GatewayFixture.streamed("hi"), "x-stainless-timeout", "1"),
            HttpResponse.BodyHandlers.ofInputStream());

    // when: the head is there though nobody has granted anything
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type").orElse(""))
        .startsWith("text/event-stream");
    String comment = ": waiting\n\n";
    assertThat(text(response.body().readNBytes(comment.length()))).isEqualTo(comment);
    asked(0).call().onQueued().accept(waitingForInput(3));
    String queued = ": queued, position 3, about 12 s for input_tokens of quota 'k/org'\n\n";
    String seen = "";
    while (!seen.endsWith(queued)) {
      seen += text(response.body().readNBytes(1));
    }
    String events = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    fixture.upstream.then(exchange -> FakeUpstream.write(FakeUpstream.events(exchange), events));
    asked(0).grant(fixture.admission);

    // then
    assertThat(text(response.body().readAllBytes())).endsWith(events);
    assertThat(fixture.gateway().stats().keptAlive()).isEqualTo(1);
  }

  @Test
  void shouldEndAStreamThatHasBegunWithTheProvidersOwnErrorEvent() {
    // given
    CompletableFuture<HttpResponse<String>> messages =
        fixture.postAsync(
            "/v1/messages", GatewayFixture.streamed("hi"), "x-stainless-timeout", "1");
    CompletableFuture<HttpResponse<String>> chat =
        fixture.postAsync(
            "/v1/chat/completions",
            "{\"model\":\"gpt-4o\",\"stream\":true,\"messages\":[]}",
            "x-stainless-timeout",
            "1");

    // when
    await().atMost(LONG).until(() -> fixture.gateway().stats().keptAlive() == 2);
    asked(0).refuse(RejectReason.QUEUE_WAIT_TOO_LONG, Duration.ofHours(1));
    asked(1).refuse(RejectReason.QUEUE_WAIT_TOO_LONG, Duration.ofHours(1));

    // then
    assertThat(join(messages).statusCode()).isEqualTo(200);
    assertThat(join(messages).body())
        .startsWith(": waiting\n\n")
        .contains(
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"");
    assertThat(join(chat).body()).contains("data: {\"error\":{\"message\":");
  }

  @Test
  void shouldEndAStreamOfResponsesWithTheErrorEventOfThatApi() {
    // given
    fixture.upstream.then(
        exchange ->
            FakeUpstream.json(
                exchange,
                400,
                """
                {"error": {"message": "No such tool", "type": "invalid_request_error",
                           "param": "tools", "code": null}}"""));
    List<CompletableFuture<HttpResponse<String>>> answers =
        Stream.of("one", "two")
            .map(text -> "{\"model\":\"gpt-4o\",\"stream\":true,\"input\":\"" + text + "\"}")
            .map(body -> fixture.postAsync("/v1/responses", body, "x-stainless-timeout", "1"))
            .toList();

    // when: one is refused here, one by the upstream
    await().atMost(LONG).until(() -> fixture.gateway().stats().keptAlive() == 2);
    asked(0).refuse(RejectReason.QUEUE_WAIT_TOO_LONG, Duration.ofHours(1));
    asked(1).grant(fixture.admission);

    // then
    assertThat(answers)
        .extracting(answer -> join(answer).body().replaceAll("(?m)^: .*\n\n", ""))
        .containsExactlyInAnyOrder(
            "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\","
                + "\"message\":\"because of QUEUE_WAIT_TOO_LONG\",\"param\":null,\"sequence_number\":0}\n\n",
            "event: error\ndata: {\"type\":\"error\",\"code\":\"invalid_request_error\","
                + "\"message\":\"No such tool\",\"param\":\"tools\",\"sequence_number\":0}\n\n");
  }

  @Test
  void shouldPassAnUpstreamsErrorIntoAStreamThatHasBegun() {
    // given
    fixture.upstream.then(
        exchange ->
            FakeUpstream.json(
                exchange,
                529,
                "{\"type\":\"error\",\n \"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"));
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync(
            "/v1/messages", GatewayFixture.streamed("hi"), "x-stainless-timeout", "1");

    // when
    await().atMost(LONG).until(() -> fixture.gateway().stats().keptAlive() == 1);
    asked(0).grant(fixture.admission);

    // then
    assertThat(join(answer).body())
        .endsWith(
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.OVERLOADED);
  }

  @Test
  void shouldNotPutSomethingElseIntoAStreamThatHasBegun() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync(
            "/v1/messages", GatewayFixture.streamed("hi"), "x-stainless-timeout", "1");

    // when: the upstream answers without a stream
    await().atMost(LONG).until(() -> fixture.gateway().stats().keptAlive() == 1);
    asked(0).grant(fixture.admission);

    // then
    assertThat(join(answer).body())
        .contains("event: error\ndata: {\"type\":\"error\"")
        .doesNotContain("msg_1");
    assertThat(fixture.admission.onlySettled().usage().inputTokens()).isEqualTo(12);
  }

  @Test
  void shouldAskForACallNoLongerThanItsClientWaits() {
    // when
    HttpResponse<String> answer =
        fixture.post("/v1/messages", GatewayFixture.message("hi"), "x-stainless-timeout", "1");

    // then: should the gateway not end the wait, the client below does, a little later
    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(asked(0).answer()).isCancelled();
    assertThat(asked(0).call().timeout().minusMillis(Line.HOLD_SLACK_MS))
        .isBetween(Duration.ofMillis(500), Duration.ofSeconds(1));
  }

  @ParameterizedTest
  @CsvSource({
    "'', 60.0, 60",
    "60, '', 60",
    "600, 20, 20",
    "20, 600, 20",
    "soon, 30, 30",
    "'', 1e3, 55"
  })
  void shouldReadPatienceAsSdksSayIt(String wholeS, String readS, long patienceS) {
    // given
    fixture.admission.holds = false;

    // when
    fixture.post(
        "/v1/messages",
        GatewayFixture.message("hi"),
        "x-stainless-timeout",
        wholeS,
        "x-stainless-read-timeout",
        readS);

    // then
    assertThat(asked(0).call().timeout().minusMillis(Line.HOLD_SLACK_MS))
        .isBetween(Duration.ofSeconds(patienceS - 1), Duration.ofSeconds(patienceS));
  }

  @Test
  void shouldTellAClientWhosePatienceEndsWhenToComeBack() {
    // given: the real client, which gives waits up by itself as well
    try (ScriptedCoordinator coordinator =
        new ScriptedCoordinator((by, request) -> by.queue(request, 3, Duration.ofSeconds(90)))) {
      fixture.otherAdmission = new KafkaAdmission(coordinator.client());

      // when
      HttpResponse<String> answer =
          fixture.post("/v1/messages", GatewayFixture.message("hi"), "x-stainless-timeout", "3");

      // then
      String requestId = coordinator.requests.get(0).getRequestId();
      assertThat(answer.statusCode()).isEqualTo(429);
      assertThat(Integer.parseInt(answer.headers().firstValue("retry-after").orElse("0")))
          .isBetween(85, 90);
      assertThat(answer.headers().firstValue("x-should-retry")).contains("false");
      assertThat(answer.headers().firstValue("x-fairway-request-id")).contains(requestId);
      assertThat(answer.body()).contains("within", "fairway why " + requestId);
      await()
          .atMost(LONG)
          .untilAsserted(
              () ->
                  assertThat(coordinator.settlements)
                      .extracting(Settlement::getRequestId, Settlement::getOutcome)
                      .containsExactly(tuple(requestId, Outcome.CANCELLED)));
    }
  }

  @Test
  void shouldWithdrawACallWhoseClientHangsUpWhileItWaits() throws Exception {
    // given
    try (Socket socket = connected()) {
      send(socket, GatewayFixture.message("hi"));
      asked(0);
    }

    // when / then: the socket is closed
    await().atMost(LONG).until(() -> asked(0).answer().isCancelled());
    assertThat(fixture.gateway().stats().clientsGone()).isEqualTo(1);
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldTakeTheNextRequestOfAConnectionThatSendsItEarly() throws Exception {
    // given: two requests behind each other, the second while the first still waits
    try (Socket socket = connected()) {
      send(socket, GatewayFixture.message("one"));
      Asked first = asked(0);
      send(socket, GatewayFixture.message("two"));

      // when
      first.grant(fixture.admission);
      asked(1).grant(fixture.admission);

      // then
      socket.setSoTimeout((int) LONG.toMillis());
      byte[] both = socket.getInputStream().readNBytes(GatewayFixture.ANSWER.length());
      assertThat(text(both)).startsWith("HTTP/1.1 200");
    }
    await().atMost(LONG).until(() -> fixture.upstream.received.size() == 2);
  }

  @Test
  void shouldSendWaitingCallsAwayWhenItStopsAndFinishThoseUnderWay() {
    // given
    CompletableFuture<HttpResponse<String>> waiting =
        fixture.postAsync("/v1/messages", GatewayFixture.message("one"));
    asked(0);
    CompletableFuture<Void> goOn = new CompletableFuture<>();
    fixture.upstream.then(
        exchange -> {
          goOn.orTimeout(20, TimeUnit.SECONDS).join();
          FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER);
        });
    CompletableFuture<HttpResponse<String>> underWay =
        fixture.postAsync("/v1/messages", GatewayFixture.message("two"));
    asked(1).grant(fixture.admission);
    await().atMost(LONG).until(() -> fixture.upstream.received.size() == 1);

    // when
    CompletableFuture<Void> closing = CompletableFuture.runAsync(fixture.gateway()::close);

    // then
    HttpResponse<String> sentAway = join(waiting);
    assertThat(sentAway.statusCode()).isEqualTo(503);
    assertThat(sentAway.headers().firstValue("x-should-retry")).contains("true");
    assertThat(asked(0).answer().isCancelled()).isTrue();
    assertThat(closing).isNotDone();
    goOn.complete(null);
    assertThat(join(underWay).statusCode()).isEqualTo(200);
    assertThat(closing).succeedsWithin(LONG);
  }

  @Test
  void shouldTakeNoMoreCallsThanItMay() {
    // given
    fixture.bounds =
        new GatewayConfig.Bounds(1 << 20, 1 << 20, 10, 1, Duration.ofSeconds(20), 9, 3);
    CompletableFuture<HttpResponse<String>> first =
        fixture.postAsync("/v1/messages", GatewayFixture.message("one"));
    asked(0);

    // when
    HttpResponse<String> second = fixture.post("/v1/messages", GatewayFixture.message("two"));

    // then
    assertThat(second.statusCode()).isEqualTo(503);
    assertThat(second.headers().firstValue("retry-after")).contains("1");
    asked(0).grant(fixture.admission);
    assertThat(join(first).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldGiveUpAStreamAfterTheLongestHold() {
    // given
    fixture.waits =
        new Waits(
            Duration.ofSeconds(1),
            Duration.ZERO,
            Duration.ofSeconds(3),
            Duration.ofSeconds(1),
            Duration.ofSeconds(60),
            Duration.ofSeconds(5));

    // when
    final long beganNanos = System.nanoTime();
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.streamed("hi"));

    // then: nobody grants it, and it is kept alive until the hold is over
    assertThat(asked(0).call().timeout().minusMillis(Line.HOLD_SLACK_MS))
        .isBetween(Duration.ofSeconds(2), Duration.ofSeconds(3));
    HttpResponse<String> given = join(answer);
    assertThat(Duration.ofNanos(System.nanoTime() - beganNanos))
        .isBetween(Duration.ofMillis(2_900), LONG);
    assertThat(given.statusCode()).isEqualTo(200);
    assertThat(given.body())
        .startsWith(": ")
        .contains("event: error\n", "rate_limit_error")
        .containsPattern("within (2[0-9]{3}|3000) ms");
    assertThat(asked(0).answer()).isCancelled();
    assertThat(fixture.admission.granted).hasValue(0);
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldWaitOnWhereOnlyTheTimeOfTheRequestIsOver() {
    // given
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));

    // when: twice, as nobody knows when a slot comes free
    asked(0).refuse(RejectReason.DEADLINE_PASSED, Duration.ofMillis(50));
    asked(1).refuse(RejectReason.DEADLINE_PASSED, Duration.ofMillis(50));
    asked(2).grant(fixture.admission);

    // then
    assertThat(asked(1).call().retryOf()).isEqualTo("r1");
    assertThat(asked(2).call().retryOf()).isEqualTo("r2");
    assertThat(join(answer).statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({"DEADLINE_PASSED, r1", "STALE,"})
  void shouldAskAnewWhereTheRequestWasTooOldWhenItWasRead(RejectReason tooOld, String repeats) {
    // given: the coordinator was silent for longer than a request is good for
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.streamed("hi"));

    // when: it has no place, so nobody says when to come back
    asked(0).refuse(tooOld, null);
    asked(1).grant(fixture.admission);

    // then: nobody remembers a stale one, and who named it would be taken for a retry
    assertThat(asked(1).call().retryOf()).isEqualTo(repeats);
    assertThat(join(answer).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldWaitOnWhereTheTimeOfARequestIsOverThatWentBackInLine() {
    // given
    fixture
        .upstream
        .then(
            exchange ->
                FakeUpstream.json(exchange, 429, "{\"error\":{\"type\":\"rate_limit_error\"}}"))
        .then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));
    asked(0).grant(fixture.admission);
    await().atMost(LONG).until(() -> !fixture.admission.requeued.isEmpty());

    // when
    fixture.admission.requeued.get(0).refuse(RejectReason.DEADLINE_PASSED, Duration.ofMillis(50));
    asked(1).grant(fixture.admission);

    // then
    assertThat(asked(1).call().retryOf()).isEqualTo("r1");
    assertThat(join(answer).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldNameNoTimeToComeBackWhereTheWaitForASlotEndsWithItsRequest() {
    // given
    fixture.waits = holds(Duration.ofSeconds(2));
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"), "x-stainless-timeout", "3");
    asked(0)
        .call()
        .onQueued()
        .accept(new QueueUpdate(1, Duration.ZERO, Optional.empty(), Optional.empty()));

    // when: the soonest time that anybody is told, and the hold is over by then
    asked(0).refuse(RejectReason.DEADLINE_PASSED, Duration.ofSeconds(5));

    // then
    HttpResponse<String> refused = join(answer);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("retry-after")).isEmpty();
    assertThat(refused.headers().firstValue("x-should-retry")).contains("false");
  }

  @Test
  void shouldSayWhatACallWaitedForWhenItsHoldEnds() {
    // given
    fixture.waits = holds(Duration.ofSeconds(2));
    CompletableFuture<HttpResponse<String>> answer =
        fixture.postAsync("/v1/messages", GatewayFixture.message("hi"));

    // when
    asked(0).call().onQueued().accept(waitingForInput(3));

    // then
    HttpResponse<String> refused = join(answer);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.body())
        .contains(
            "It was at position 3, waiting for input_tokens of quota 'k/org'.", "fairway why");
  }

  private static QueueUpdate waitingForInput(int position) {
    return new QueueUpdate(
        position,
        Duration.ofSeconds(12),
        Optional.empty(),
        Optional.of(new WaitsFor(WaitReason.LIMIT, "k/org", "input_tokens")));
  }

  private static Waits holds(Duration holdMax) {
    return new Waits(
        Duration.ofSeconds(1),
        Duration.ZERO,
        holdMax,
        Duration.ofSeconds(1),
        Duration.ofSeconds(60),
        Duration.ofSeconds(5));
  }

  private Asked asked(int index) {
    await().atMost(LONG).until(() -> fixture.admission.asked.size() > index);
    return fixture.admission.asked.get(index);
  }

  private Socket connected() throws IOException {
    return new Socket("127.0.0.1", fixture.uri("/").getPort());
  }

  private static void send(Socket socket, String body) throws IOException {
    OutputStream out = socket.getOutputStream();
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "POST /v1/messages HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\ncontent-length: "
            + bytes.length
            + "\r\n\r\n";
    out.write(head.getBytes(StandardCharsets.US_ASCII));
    out.write(bytes);
    out.flush();
  }

  private static HttpResponse<String> join(CompletableFuture<HttpResponse<String>> answer) {
    return answer.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
