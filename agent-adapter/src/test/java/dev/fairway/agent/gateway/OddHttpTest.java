package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
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
    try (RawUpstream upstream = RawUpstream.of("SSH-2.0-none\r\n\r\n")) {
      fixture.upstreamUrl = upstream.url();

      // when
      HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

      // then
      assertThat(response.statusCode()).isEqualTo(502);
      assertThat(response.body()).contains("no HTTP answer").doesNotContain("127.0.0.1", "oej");
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
