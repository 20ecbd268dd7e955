package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers that do not come to their end, and clients that close their side. */
class BrokenAnswersTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final String RATE_LIMITED =
      "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}";

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldSayWhatHappenedWhereAnUpstreamGoesBeforeTheFirstByteOfItsBody() {
    // given
    fixture.upstream.then(
        exchange -> breakOff(exchange, 200, "application/json", "", GatewayFixture.ANSWER));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(502);
    assertThat(response.body()).contains("upstream anthropic, but it broke off", "\"api_error\"");
    assertThat(response.headers().allValues("content-type")).containsExactly("application/json");
    assertThat(response.headers().firstValue("x-upstream")).isEmpty();
    assertThat(response.headers().firstValue("x-should-retry")).contains("true");
    assertThat(response.headers().firstValue("x-fairway-request-id")).contains("r1");
    assertThat(response.headers().firstValue("x-fairway-retry-budget")).contains("12");
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
  }

  @Test
  void shouldEndAPromisedStreamWithAnErrorWhereItsUpstreamGoesBeforeTheFirstByte() {
    // given: the client would give up before the body begins
    CountDownLatch promised = new CountDownLatch(1);
    fixture.upstream.then(
        exchange -> {
          awaitLatch(promised);
          breakOff(exchange, 200, "text/event-stream", "", "event: ping\n\n");
        });
    var answer =
        fixture.postAsync(
            "/v1/messages", GatewayFixture.streamed("hi"), "x-stainless-timeout", "1");
    await()
        .atMost(LONG)
        .untilAsserted(() -> assertThat(fixture.gateway().stats().keptAlive()).isEqualTo(1));

    // when
    promised.countDown();

    // then
    HttpResponse<String> response = answer.orTimeout(20, TimeUnit.SECONDS).join();
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).startsWith(": ").contains("event: error", "it broke off");
    assertThat(response.body()).endsWith("\n\n");
  }

  @Test
  void shouldTellAClientThatClosesItsSideWhyItGetsNoAnswer() throws IOException {
    // given
    fixture.admission.holds = true;
    try (Socket socket = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
      socket.setSoTimeout((int) LONG.toMillis());
      byte[] body = GatewayFixture.message("hi").getBytes(StandardCharsets.UTF_8);
      String head =
          "POST /v1/messages HTTP/1.1\r\nhost: gateway\r\ncontent-length: "
              + body.length
              + "\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().write(body);

      // when
      socket.shutdownOutput();

      // then
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(answer).startsWith("HTTP/1.1 400").contains("keeps its side of the connection");
      assertThat(answer).containsIgnoringCase("x-should-retry: false");
      assertThat(fixture.upstream.received).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 20, 2 << 20})
  void shouldPutA429BackInLineHoweverItsBodyEnds(int bytes) {
    // given: nothing of it, a part of it, more than is read
    String begun = bytes > RATE_LIMITED.length() ? large(bytes) : RATE_LIMITED.substring(0, bytes);
    fixture
        .upstream
        .then(
            exchange -> {
              exchange.getResponseHeaders().set("retry-after", "7");
              breakOff(exchange, 429, "application/json", begun, "and more");
            })
        .then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(fixture.admission.requeued).hasSize(1);
    assertThat(fixture.admission.settled.get(0).outcome()).isEqualTo(Outcome.RATE_LIMITED);
    assertThat(fixture.admission.settled.get(0).signal().retryAfter()).hasSeconds(7);
  }

  @Test
  void shouldPassTheStatusOfAnErrorWhoseBodyIsTooLargeToKeep() {
    // given
    fixture.upstream.then(
        exchange -> {
          exchange.getResponseHeaders().set("request-id", "req_1");
          breakOff(exchange, 529, "text/html", large(2 << 20), "");
        });

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(529);
    assertThat(response.headers().firstValue("request-id")).contains("req_1");
    assertThat(response.headers().allValues("content-type")).containsExactly("application/json");
    assertThat(response.body())
        .contains("The upstream answered 529", "is longer than 1048576 bytes", "\"error\"");
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.OVERLOADED);
  }

  private static String large(int bytes) {
    return "{\"error\":\"" + "x".repeat(bytes);
  }

  /** Sends the head and a part of the body, and closes the connection. */
  private static void breakOff(
      HttpExchange exchange, int status, String contentType, String sent, String missing)
      throws IOException {
    exchange.getResponseHeaders().set("content-type", contentType);
    exchange.getResponseHeaders().set("x-upstream", "1");
    exchange.sendResponseHeaders(status, sent.length() + missing.length());
    OutputStream out = exchange.getResponseBody();
    FakeUpstream.write(out, sent);
    if (!missing.isEmpty()) {
      throw new IOException("gone");
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
