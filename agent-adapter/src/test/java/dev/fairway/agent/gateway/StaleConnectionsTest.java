package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that an upstream closes while a request is on its way to it. */
class StaleConnectionsTest {
  private static final String BODY = GatewayFixture.message("hi");

  private final GatewayFixture fixture = new GatewayFixture();

  /** Requests that came, on whichever connection: a pool may open one that it never needs. */
  private final AtomicInteger requests = new AtomicInteger();

  private ServerSocket upstream;

  /** What it says on a connection before it closes it. */
  private volatile String last = "";

  @BeforeEach
  void listen() throws IOException {
    upstream = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    fixture.upstreamUrl = "http://127.0.0.1:" + upstream.getLocalPort();
  }

  @AfterEach
  void close() throws IOException {
    upstream.close();
    fixture.close();
  }

  @Test
  void shouldSendARequestOnceMoreThatWasOnItsWayWhenItsConnectionWasClosed() {
    // given: the first connection ends with its second request
    var unused = CompletableFuture.runAsync(() -> serve(List.of(1, 1)));
    HttpResponse<String> first = fixture.post("/v1/messages", BODY);

    // when
    HttpResponse<String> second = fixture.post("/v1/messages", BODY);

    // then
    assertThat(first.statusCode()).isEqualTo(200);
    assertThat(second.statusCode()).isEqualTo(200);
    assertThat(requests).hasValue(3);
    assertThat(fixture.admission.asked).hasSize(2);
    assertThat(fixture.gateway().stats().upstreamFailures()).isZero();
  }

  @Test
  void shouldNotSendARequestAgainOnWhoseConnectionNoAnswerEverCame() {
    // given: a new connection is closed by an upstream that has the request
    var unused = CompletableFuture.runAsync(() -> serve(List.of(0, 1)));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", BODY);

    // then
    assertThat(response.statusCode()).isEqualTo(502);
    assertThat(requests).hasValue(1);
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
  }

  @Test
  void shouldSendARequestAgainOnceAndNoMore() {
    // given
    var unused = CompletableFuture.runAsync(() -> serve(List.of(1, 0, 1)));
    fixture.post("/v1/messages", BODY);

    // when
    HttpResponse<String> second = fixture.post("/v1/messages", BODY);

    // then
    assertThat(second.statusCode()).isEqualTo(502);
    assertThat(requests).hasValue(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 2",
        "\r\n"
      })
  void shouldNotSendARequestAgainAfterAByteOfWhateverAnswer(String bytes) {
    // given: the provider has the second request, says something, and breaks off
    last = bytes;
    var unused = CompletableFuture.runAsync(() -> serve(List.of(1, 1)));
    fixture.post("/v1/messages", BODY);

    // when
    HttpResponse<String> second = fixture.post("/v1/messages", BODY);

    // then
    assertThat(second.statusCode()).isEqualTo(502);
    assertThat(requests).hasValue(2);
    assertThat(fixture.admission.asked).hasSize(2);
  }

  @Test
  void shouldCountTheSecondSendingInTheBudgetOfTries() {
    // given
    var unused = CompletableFuture.runAsync(() -> serve(List.of(1, 1)));
    fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // when: no repetition is allowed
    HttpResponse<String> second = fixture.post("/v1/messages", BODY, "x-fairway-retry-budget", "0");

    // then
    assertThat(second.statusCode()).isEqualTo(502);
    assertThat(second.headers().firstValue("x-should-retry")).hasValue("false");
    assertThat(requests).hasValue(2);
  }

  /** Answers so many requests on each connection, and closes it when the next one comes. */
  private void serve(List<Integer> answers) {
    for (int most : answers) {
      try (Socket socket = upstream.accept()) {
        InputStream in = socket.getInputStream();
        for (int i = 0; i < most; i++) {
          readRequest(in);
          String answer =
              "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
                  + GatewayFixture.ANSWER.length()
                  + "\r\n\r\n"
                  + GatewayFixture.ANSWER;
          socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
        }
        readRequest(in);
        socket.getOutputStream().write(last.getBytes(StandardCharsets.US_ASCII));
      } catch (IOException e) {
        return; // The test is over.
      }
    }
  }

  private void readRequest(InputStream in) throws IOException {
    StringBuilder read = new StringBuilder();
    while (read.indexOf(BODY) < 0) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("no request");
      }
      read.append((char) next);
    }
    requests.incrementAndGet();
  }
}
