package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP that is rare, from clients and from upstreams. */
class OddHttpTest {
  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"tag=a|b", "tag=%zz", "tag=%", "tag={x}", "tag=^", "tag=\\"})
  void shouldRefuseAQueryThatIsNoneBeforeALeaseIsAskedFor(String query) throws IOException {
    // when
    String answer = raw("POST /v1/messages?" + query, GatewayFixture.message("hi"));

    // then
    assertThat(answer).startsWith("HTTP/1.1 400").contains("invalid_request_error");
    assertThat(fixture.admission.asked).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"103 Early Hints", "102 Processing", "100 Continue"})
  void shouldWaitForTheAnswerBehindWhatComesBeforeIt(String interim) throws Exception {
    // given
    try (ServerSocket upstream = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      var unused = CompletableFuture.runAsync(() -> answerBehind(upstream, interim));
      fixture.upstreamUrl = "http://127.0.0.1:" + upstream.getLocalPort();

      // when
      HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

      // then
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.body()).isEqualTo(GatewayFixture.ANSWER);
      await()
          .atMost(Duration.ofSeconds(10))
          .untilAsserted(
              () -> assertThat(fixture.admission.outcomes()).containsExactly(Outcome.SUCCEEDED));
    }
  }

  @Test
  void shouldAnswerWhatIsNoHttpInTheFormOfAnApi() throws IOException {
    // when
    String answer = raw("POST /v1/messages", "Content-Length: 3\r\nContent-Length: 4\r\n", "{}");

    // then
    assertThat(answer).startsWith("HTTP/1.1 400").contains("\"error\"").doesNotContain("<html");
  }

  @Test
  void shouldTellNothingOfItsInsidesWhereAnUpstreamSpeaksNoHttp() throws Exception {
    // given
    try (ServerSocket upstream = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      var unused = CompletableFuture.runAsync(() -> answer(upstream, "SSH-2.0-none\r\n\r\n"));
      fixture.upstreamUrl = "http://127.0.0.1:" + upstream.getLocalPort();

      // when
      HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

      // then
      assertThat(response.statusCode()).isEqualTo(502);
      assertThat(response.body()).contains("no HTTP answer").doesNotContain("127.0.0.1", "oej");
    }
  }

  private static void answerBehind(ServerSocket upstream, String interim) {
    String head =
        "HTTP/1.1 "
            + interim
            + "\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
            + "content-length: "
            + GatewayFixture.ANSWER.length()
            + "\r\n\r\n";
    answer(upstream, head + GatewayFixture.ANSWER);
  }

  private static void answer(ServerSocket upstream, String answer) {
    try (Socket socket = upstream.accept()) {
      InputStream in = socket.getInputStream();
      byte[] request = new byte[64 * 1024];
      if (in.read(request) < 0) {
        return;
      }
      OutputStream out = socket.getOutputStream();
      out.write(answer.getBytes(StandardCharsets.US_ASCII));
      out.flush();
      while (in.read(request) >= 0) {
        // Until the gateway has no more use for the connection.
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private String raw(String line, String body) throws IOException {
    return raw(line, "Content-Length: " + body.length() + "\r\n", body);
  }

  private String raw(String line, String headers, String body) throws IOException {
    URI uri = fixture.uri("/");
    try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
      socket.setSoTimeout(10_000);
      String request =
          line
              + " HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
              + "Connection: close\r\n"
              + headers
              + "\r\n"
              + body;
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
