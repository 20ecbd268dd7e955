package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that send or read slowly hold neither memory nor a lease for long. */
class SlowClientsTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration IDLE = Duration.ofMillis(400);
  private static final int BODY_BYTES = 100_000;

  /** Far more than sockets and buffers on the way hold. */
  private static final int CHUNKS = 4_000;

  private static final String CHUNK = "data: " + "x".repeat(16 * 1024) + "\n\n";

  private final GatewayFixture fixture = new GatewayFixture();

  @BeforeEach
  void bound() {
    // One body at a time: the next one gets in only if the last one's bytes were given back.
    fixture.bounds = new GatewayConfig.Bounds(BODY_BYTES, BODY_BYTES, 10, 10, IDLE, 9, 3);
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldSendAClientAwayThatDoesNotFinishItsBody() throws Exception {
    // given
    try (Socket socket = connected()) {
      send(socket, BODY_BYTES, "{\"model\":\"claude-sonnet-4-5\",");

      // when / then: the connection ends, and the bytes are there for the next one
      socket.setSoTimeout((int) LONG.toMillis());
      String answer = read(socket);
      assertThat(answer)
          .satisfiesAnyOf(
              text -> assertThat(text).isEmpty(),
              text -> assertThat(text).startsWith("HTTP/1.1 408").contains("did not come"));
    }
    assertThat(fixture.admission.asked).isEmpty();
    String large = GatewayFixture.message("x".repeat(BODY_BYTES - 200));
    await().atMost(LONG).until(() -> fixture.post("/v1/messages", large).statusCode() == 200);
  }

  @Test
  void shouldEndAStreamThatItsClientDoesNotReadAndSettleItOnce() throws Exception {
    // given
    AtomicLong written = new AtomicLong();
    fixture.upstream.then(
        exchange -> {
          OutputStream out = FakeUpstream.events(exchange);
          for (int i = 0; i < CHUNKS; i++) {
            FakeUpstream.write(out, CHUNK);
            written.addAndGet(CHUNK.length());
          }
        });

    // when
    try (Socket socket = connected()) {
      String body = GatewayFixture.streamed("hi");
      send(socket, body.length(), body);

      // then: it is not read into memory meanwhile
      FakeAdmission.Settled settled = fixture.admission.onlySettled();
      assertThat(settled.outcome()).isNotEqualTo(Outcome.NOT_SENT);
      assertThat(settled.usage().exact()).isFalse();
      assertThat(written.get()).isLessThan((long) CHUNKS * CHUNK.length());
    }
    assertThat(fixture.gateway().stats().clientsGone()).isEqualTo(1);
  }

  private Socket connected() throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(8 * 1024);
    socket.connect(new InetSocketAddress("127.0.0.1", fixture.uri("/").getPort()));
    return socket;
  }

  private static void send(Socket socket, int length, String body) throws IOException {
    OutputStream out = socket.getOutputStream();
    String head =
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: "
            + length
            + "\r\n\r\n";
    out.write((head + body).getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private static String read(Socket socket) throws IOException {
    try {
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (SocketException e) {
      return "";
    }
  }
}
