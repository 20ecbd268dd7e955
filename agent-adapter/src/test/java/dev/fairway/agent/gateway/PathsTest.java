package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Paths in other spellings, where calls that the gateway does not know pass uncounted. */
class PathsTest {
  private final GatewayFixture fixture = new GatewayFixture();

  @BeforeEach
  void passUnknownCalls() {
    fixture.unknown = "openai";
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DELETE /v1/files/%E6%97%A5%E6%9C%AC",
        "GET /v1/files/%C3%A9",
        "GET /v1/files/a;b=c",
        "GET /v1/files/a%2Bb+c",
        "GET /v1/files/%7Ea",
        "GET /v1/files/a%20b%22%7C",
        "GET /v1/files/a%3Fb%23c",
        "GET /v1/files/a%25b",
        "GET /v1/files/a%2525b",
        "GET /v1/files/a%5Cb",
        "GET /v1/models/org%2Fname",
        "GET /v1/models/org%2fname?after=%2B&x=a+b",
        "POST /v1//audio/speech/",
        "GET /v1/files/~a-b_c.d!$&'()*,:@"
      })
  void shouldPassAPathOfAnotherCallAsItCame(String call) throws IOException {
    // when
    String answer = send(call);

    // then
    assertThat(answer).startsWith("HTTP/1.1 200");
    assertThat(fixture.upstream.received).hasSize(1);
    assertThat(call).isEqualTo(received());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/%6dessages",
        "/v1%2Fmessages",
        "/v1/messages%2F",
        "/v1/messages;x=1",
        "/v1;x/messages",
        "/v1/./messages",
        "/v1/x/../messages",
        "/v1/x/%2e%2E/messages",
        "http://gateway/v1/messages"
      })
  void shouldCountACallWhoseSpellingMeansTheSame(String path) throws IOException {
    // when
    send("POST " + path + "?beta=true");

    // then
    assertThat(fixture.admission.asked).hasSize(1);
    assertThat(received()).isEqualTo("POST /v1/messages?beta=true");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/messages%E2%82%AC",
        "/v1/messages%E2%82%ACbeta=true",
        "/v1/chat/completions%E2%82%AC",
        "/v1/mess%E2%82%ACages",
        "/v1/messages%C2%A0",
        "/v1/messages%20",
        "/v1/messages%09",
        "/v1/messages%23",
        "/v1/messages%3Fx",
        "/v1/messages%3Bx",
        "/v1/%256dessages",
        "/v1/messages%252F",
        "/v1%5Cmessages",
        "/V1/Messages",
        "/v1/files/../models",
        "/v1/files/%2e%2e/models",
        "/v1/files/%252e%252e/models",
        "/v1/files/..;x/models",
        "/../v1/messages",
        "/v1/%2e%2e/%2e%2e/admin",
        "/v1/m\u00e9",
        "/v1/models?x=\u20ac",
        "*",
        "/v1/messages%00"
      })
  void shouldRefuseWhatAnUpstreamCouldReadAsAnotherPath(String path) throws IOException {
    // when
    String answer = send("POST " + path);

    // then
    assertThat(answer).startsWith("HTTP/1.1 400").contains("\"error\"").doesNotContain("127.0.0.1");
    assertThat(fixture.upstream.received).isEmpty();
    assertThat(fixture.admission.asked).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "OPTIONS *,400",
    "TRACE /v1/files,405",
    "trace /v1/messages,405",
    "TRACK /v1/files,405"
  })
  void shouldPassNothingThatIsForTheConnectionAlone(String call, String status) throws IOException {
    // when
    String answer = send(call);

    // then
    assertThat(answer)
        .startsWith("HTTP/1.1 " + status)
        .doesNotContain(fixture.upstream.url().substring(7), "sk-oai-secret");
    assertThat(fixture.upstream.received).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"post", "Post"})
  void shouldCountACallHoweverItsMethodIsWritten(String method) throws IOException {
    // when
    send(method + " /v1/messages");

    // then
    assertThat(fixture.admission.asked).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "PUT /v1/fairway/modes/ant/sonnet,200",
    "PUT /v1/v1/fairway/modes/ant%2Fsonnet,200",
    "PUT //fairway/modes/ant/sonnet/,200",
    "DELETE /v1/fairway/modes/ant/sonnet,200",
    "GET /v1/fairway/modes,200",
    "GET /fairway/mode,404",
    "PUT /v1/fairway/modex/ant/sonnet,404",
    "GET /v1/healthz,200",
    "GET /v1/metrics/,200"
  })
  void shouldKeepWhatIsItsOwnHoweverItsPathIsMade(String call, String status) throws IOException {
    // when
    String answer = send(call, "{\"mode\":\"OBSERVE\"}");

    // then
    assertThat(answer).startsWith("HTTP/1.1 " + status);
    assertThat(fixture.upstream.received).isEmpty();
  }

  private String received() {
    FakeUpstream.Received call = fixture.upstream.received.get(0);
    return call.method() + " " + call.path();
  }

  private String send(String call) throws IOException {
    return send(call, GatewayFixture.message("hi"));
  }

  private String send(String call, String body) throws IOException {
    URI uri = fixture.uri("/");
    try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
      socket.setSoTimeout(10_000);
      String request =
          call
              + " HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
              + "Connection: close\r\nContent-Length: "
              + body.length()
              + "\r\n\r\n"
              + body;
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
