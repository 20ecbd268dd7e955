package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What happens where as many connections are open as may be. */
class ConnectionsTest {
  private static final int CONNECTIONS = 3;
  private static final int LONG_MS = 20_000;
  private static final int SHORT_MS = 300;
  private static final String ASK = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

  private final GatewayFixture fixture = new GatewayFixture();
  private final List<Socket> open = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (Socket socket : open) {
      socket.close();
    }
    fixture.close();
  }

  @Test
  void shouldHaveAConnectionBeyondTheBoundWaitUntilAnotherOneCloses() throws IOException {
    // given: all there may be, and they are served
    bound(Duration.ofMinutes(1));
    for (int i = 0; i < CONNECTIONS; i++) {
      assertThat(answer(connected(), LONG_MS)).startsWith("HTTP/1.1 200");
    }

    // when: one more, which the system takes, and the gateway does not
    Socket oneMore = connected();
    assertThatThrownBy(() -> answer(oneMore, SHORT_MS)).isInstanceOf(SocketTimeoutException.class);
    assertThat(answer(open.get(0), LONG_MS)).startsWith("HTTP/1.1 200");
    open.get(1).close();

    // then: its call was not lost
    oneMore.setSoTimeout(LONG_MS);
    assertThat(read(oneMore)).startsWith("HTTP/1.1 200");
  }

  @Test
  void shouldNotLetIdleConnectionsKeepOthersOutForLong() throws IOException {
    // given
    bound(Duration.ofMillis(SHORT_MS));
    for (int i = 0; i < CONNECTIONS; i++) {
      assertThat(answer(connected(), LONG_MS)).startsWith("HTTP/1.1 200");
    }

    // when / then
    assertThat(answer(connected(), LONG_MS)).startsWith("HTTP/1.1 200");
  }

  private void bound(Duration idle) {
    fixture.bounds = new GatewayConfig.Bounds(1_000, 1_000, CONNECTIONS, 100, idle, 9, 3);
  }

  private Socket connected() throws IOException {
    Socket socket = new Socket();
    open.add(socket);
    socket.connect(new InetSocketAddress("127.0.0.1", fixture.uri("/").getPort()), LONG_MS);
    return socket;
  }

  private static String answer(Socket socket, int timeoutMs) throws IOException {
    socket.setSoTimeout(timeoutMs);
    socket.getOutputStream().write(ASK.getBytes(StandardCharsets.UTF_8));
    return read(socket);
  }

  /** One answer, which is shorter than any buffer on the way. */
  private static String read(Socket socket) throws IOException {
    byte[] bytes = new byte[4_096];
    int read = socket.getInputStream().read(bytes);
    return read < 0 ? "" : new String(bytes, 0, read, StandardCharsets.UTF_8);
  }
}
