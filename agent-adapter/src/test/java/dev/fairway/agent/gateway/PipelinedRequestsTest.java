package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.gateway.GatewayConfig.Bounds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that a client sends on one connection before it has the answers to those before. */
class PipelinedRequestsTest {
  private static final int CALLS = 3;

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

  @ParameterizedTest
  @CsvSource({
    "100, 0",
    "3000, 2000",
    "5000, 0",
    "5000, 2500",
    "5000, 4000",
    "9000, 1000",
    "20000, 0",
    "20000, 7000"
  })
  void shouldReadEachAsItWasSent(int bytes, int early) throws IOException {
    // given: the first request, and so many bytes of what comes behind it
    byte[] all = requests(bytes);
    int first = request(0, bytes).length + early;
    try (Socket socket = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
      socket.setSoTimeout(20_000);
      OutputStream out = socket.getOutputStream();
      out.write(all, 0, first);
      awaitAsked(1);

      // when: the rest comes while the first call waits
      out.write(all, first, all.length - first);
      out.flush();
      await().pollDelay(Duration.ofMillis(200)).until(() -> true);
      for (int i = 0; i < CALLS; i++) {
        awaitAsked(i + 1);
        fixture.admission.asked.get(i).grant(fixture.admission);
      }
      String answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      // then
      assertThat(answers.split("HTTP/1.1 200 OK", -1)).hasSize(CALLS + 1);
      assertThat(fixture.upstream.received).hasSize(CALLS);
      for (int i = 0; i < CALLS; i++) {
        assertThat(fixture.upstream.received.get(i).text()).isEqualTo(body(i, bytes));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 8_000, 20_000, 300_000})
  void shouldNoticeThatAClientLeftWhoHasSentMoreBefore(int bytes) throws IOException {
    // given: more requests behind the one that waits
    try (Socket socket = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
      socket.getOutputStream().write(requests(bytes));
      awaitAsked(1);

      // when
      socket.shutdownOutput();

      // then
      await()
          .atMost(Duration.ofSeconds(10))
          .until(() -> fixture.gateway().stats().clientsGone() >= 1);
    }
    assertThat(fixture.admission.asked.get(0).answer()).isCancelled();
  }

  @Test
  void shouldNoticeWhoLeavesAlsoWhereTheBudgetOfBodiesIsUsedUp() throws IOException {
    // given: room for what one of two has sent behind its request
    Bounds all = fixture.bounds;
    fixture.bounds =
        new Bounds(
            16 * 1024,
            64 * 1024,
            all.connections(),
            all.openCalls(),
            all.clientIdle(),
            all.retries(),
            all.requeues());
    try (Socket much = waiting(1, behindASmallOne(requests(16_000)));
        Socket more = waiting(2, behindASmallOne(requests(6_500)));
        Socket only = waiting(3, request(0, 100))) {
      // when: who has sent nothing more
      only.close();

      // then
      awaitGone(2);

      // when: the room of one is the other's
      more.close();
      much.close();

      // then
      awaitGone(0);
      awaitGone(1);
    }
  }

  private static byte[] behindASmallOne(byte[] more) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(request(0, 100));
    all.write(more);
    return all.toByteArray();
  }

  private Socket waiting(int asked, byte[] sent) throws IOException {
    Socket socket = new Socket("127.0.0.1", fixture.uri("/").getPort());
    socket.getOutputStream().write(sent);
    awaitAsked(asked);
    return socket;
  }

  private void awaitGone(int index) {
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(fixture.admission.asked.get(index).answer()).isCancelled());
  }

  private void awaitAsked(int calls) {
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(fixture.admission.asked).hasSize(calls));
  }

  private static byte[] requests(int bytes) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < CALLS; i++) {
      all.write(request(i, bytes));
    }
    return all.toByteArray();
  }

  private static byte[] request(int index, int bytes) {
    String body = body(index, bytes);
    return ("POST /v1/messages HTTP/1.1\r\nhost: gateway\r\n"
            + (index == CALLS - 1 ? "connection: close\r\n" : "")
            + "content-length: "
            + body.length()
            + "\r\n\r\n"
            + body)
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** With what would be a request of its own if it were read from somewhere within. */
  private static String body(int index, int bytes) {
    String inner = "GET /healthz HTTP/1.1 host: evil ";
    return GatewayFixture.message(index + inner.repeat(bytes / inner.length() + 1));
  }
}
