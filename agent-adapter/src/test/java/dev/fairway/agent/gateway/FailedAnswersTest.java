package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.schemas.Outcome;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that failed inside a 200: their keys are free, and their leases say so. */
class FailedAnswersTest {
  private static final String CHAT =
      "{\"model\":\"gpt-4o\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final String START =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
          + "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n";
  private static final String END =
      "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":15}}\n\n"
          + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
  private static final String DELTA =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n";
  private static final String RESPONSE =
      "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n";

  private enum Failing {
    ERROR_EVENT(
        "/v1/messages",
        true,
        START
            + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n"),
    ERROR_JSON(
        "/v1/messages",
        false,
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}"),
    CHAT_ERROR_JSON(
        "/v1/chat/completions", false, "{\"error\":{\"code\":502,\"message\":\"provider\"}}"),
    CHAT_ERROR_DATA(
        "/v1/chat/completions",
        true,
        DELTA + "data: {\"error\":{\"code\":502,\"message\":\"provider\"}}\n\ndata: [DONE]\n\n"),
    RESPONSE_FAILED(
        "/v1/responses",
        true,
        RESPONSE
            + "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"x\"}}}\n\n"),
    CUT_STREAM("/v1/messages", true, START),
    CUT_CHAT("/v1/chat/completions", true, DELTA),
    CUT_RESPONSE("/v1/responses", true, RESPONSE),
    EMPTY_STREAM("/v1/messages", true, "");

    private final String path;
    private final boolean stream;
    private final String answer;

    Failing(String path, boolean stream, String answer) {
      this.path = path;
      this.stream = stream;
      this.answer = answer;
    }

    String call() {
      String call =
          path.equals("/v1/messages")
              ? GatewayFixture.streamed("hi")
              : path.equals("/v1/responses")
                  ? "{\"model\":\"gpt-4o\",\"stream\":true,\"input\":\"hi\"}"
                  : CHAT;
      return stream ? call : call.replace("\"stream\":true,", "");
    }
  }

  private enum Whole {
    MESSAGE("/v1/messages", GatewayFixture.streamed("hi"), START + END),
    CHAT_DONE("/v1/chat/completions", CHAT, DELTA + "data: [DONE]\n\n"),
    CHAT_FINISHED("/v1/chat/completions", CHAT, DELTA.replace(":null", ":\"stop\"")),
    RESPONSE_INCOMPLETE(
        "/v1/responses",
        "{\"model\":\"gpt-4o\",\"stream\":true,\"input\":\"hi\"}",
        RESPONSE
            + "event: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\"}}\n\n");

    private final String path;
    private final String call;
    private final String answer;

    Whole(String path, String call, String answer) {
      this.path = path;
      this.call = call;
      this.answer = answer;
    }
  }

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @EnumSource
  void shouldLeaveTheKeyOfACallFreeThatFailedInsideA200(Failing failing) {
    // given
    answer(failing.stream, failing.answer);

    // when
    HttpResponse<String> first = fixture.post(failing.path, failing.call(), "idempotency-key", "k");
    settled(1);
    HttpResponse<String> second =
        fixture.post(failing.path, failing.call(), "idempotency-key", "k");
    settled(2);

    // then
    assertThat(List.of(first.statusCode(), second.statusCode())).containsExactly(200, 200);
    assertThat(List.of(first.body(), second.body())).containsOnly(failing.answer);
    assertThat(fixture.upstream.received).hasSize(2);
    assertThat(fixture.admission.outcomes()).doesNotContain(Outcome.SUCCEEDED);
  }

  @ParameterizedTest
  @EnumSource
  void shouldKeepAStreamThatSaidItsEnd(Whole whole) {
    // given
    answer(true, whole.answer);

    // when
    HttpResponse<String> first = fixture.post(whole.path, whole.call, "idempotency-key", "k");
    settled(1);
    HttpResponse<String> second = fixture.post(whole.path, whole.call, "idempotency-key", "k");

    // then
    assertThat(second.body()).isEqualTo(first.body()).isEqualTo(whole.answer);
    assertThat(fixture.upstream.received).hasSize(1);
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.SUCCEEDED);
  }

  @Test
  void shouldTellWhoCameBackMeanwhileThatTheCallFailed() throws Exception {
    // given: a client whose place another one has taken while the answer passed
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch cameBack = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          try (OutputStream out = FakeUpstream.events(exchange)) {
            FakeUpstream.write(out, START);
            begun.countDown();
            uninterrupted(cameBack);
          }
        });
    CompletableFuture<HttpResponse<String>> first =
        fixture.postAsync("/v1/messages", GatewayFixture.streamed("hi"), "idempotency-key", "k");
    uninterrupted(begun);
    CompletableFuture<HttpResponse<String>> second =
        fixture.postAsync("/v1/messages", GatewayFixture.streamed("hi"), "idempotency-key", "k");
    // The second one has its place; the first is told so, or cut off in its answer.
    await().atMost(Duration.ofSeconds(10)).until(first::isDone);

    // when
    cameBack.countDown();

    // then
    HttpResponse<String> told = second.get(10, TimeUnit.SECONDS);
    assertThat(told.statusCode()).isEqualTo(409);
    assertThat(told.body()).contains("has just failed");
    assertThat(told.headers().firstValue("x-should-retry")).contains("true");
  }

  private static void uninterrupted(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void answer(boolean stream, String text) {
    fixture.upstream.otherwise(
        exchange -> {
          if (!stream) {
            FakeUpstream.json(exchange, 200, text);
            return;
          }
          try (OutputStream out = FakeUpstream.events(exchange)) {
            FakeUpstream.write(out, text);
          }
        });
  }

  /** The place of a call is left after its lease is settled, and before its answer has its end. */
  private void settled(int calls) {
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(fixture.admission.outcomes()).hasSize(calls));
  }
}
