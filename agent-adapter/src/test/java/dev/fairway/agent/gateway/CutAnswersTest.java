package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An answer that was cut in the middle must not look whole, whatever HTTP its client speaks. */
class CutAnswersTest {
  private static final String CHUNKED =
      "HTTP/1.1 200 OK\r\ncontent-type: %s\r\ntransfer-encoding: chunked\r\n\r\n";
  private static final String CLOSE = "connection: close\r\n";
  private static final String BEGUN = "{\"id\":\"msg_1\",";

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, '', CLOSED",
    "application/json, 'connection: close', CLOSED",
    "application/json, 'connection: close', RESET",
    "text/event-stream, '', CLOSED",
    "text/event-stream, 'connection: close', CLOSED",
    "text/event-stream, 'connection: close', RESET"
  })
  void shouldEndInTheMiddleOfItsChunks(String type, String connection, RawUpstream.End end)
      throws IOException {
    // given
    try (RawUpstream upstream = RawUpstream.of(CHUNKED.formatted(type) + chunk(BEGUN));
        Socket client = ask(upstream, "1.1", connection.isEmpty() ? "" : CLOSE)) {
      String begun = readUntil(client, BEGUN);

      // when
      upstream.end(end);

      // then
      assertThat(head(begun)).contains("transfer-encoding: chunked");
      assertThat(begun + rest(client)).doesNotEndWith("0\r\n\r\n");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, CLOSED",
    "application/json, RESET",
    "text/event-stream, CLOSED",
    "text/event-stream, RESET"
  })
  void shouldResetTheConnectionWhereItsEndWouldBeThatOfTheAnswer(String type, RawUpstream.End end)
      throws IOException {
    // given
    try (RawUpstream upstream = RawUpstream.of(CHUNKED.formatted(type) + chunk(BEGUN));
        Socket client = ask(upstream, "1.0", "")) {
      readUntil(client, BEGUN);

      // when
      upstream.end(end);

      // then
      assertThatThrownBy(() -> rest(client)).isInstanceOf(SocketException.class);
    }
  }

  @Test
  void shouldCutWhatWasUnpackedAndHasNoLengthAnyMore() throws IOException {
    // given: an answer of a known length, whose second half does not come
    byte[] packed = packed(BEGUN, "x".repeat(1_000));
    String head =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n"
            + "content-length: "
            + (packed.length + 100)
            + "\r\n\r\n";
    try (RawUpstream upstream =
            RawUpstream.of(head + new String(packed, StandardCharsets.ISO_8859_1));
        Socket client = ask(upstream, "1.1", CLOSE)) {
      String begun = readUntil(client, BEGUN);

      // when
      upstream.end(RawUpstream.End.CLOSED);

      // then
      assertThat(head(begun)).contains("transfer-encoding: chunked");
      assertThat(begun + rest(client)).doesNotEndWith("0\r\n\r\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.1", "1.0"})
  void shouldCutOffAClientWhosePlaceAnotherTakes(String version) throws IOException {
    // given: the first one has read a part of the answer
    String key = CLOSE + "idempotency-key: k1\r\n";
    try (RawUpstream upstream =
            RawUpstream.of(CHUNKED.formatted("application/json") + chunk(BEGUN));
        Socket first = ask(upstream, version, key)) {
      String begun = readUntil(first, BEGUN);

      // when
      try (Socket second = send("1.1", key)) {
        // then
        if (version.equals("1.0")) {
          assertThatThrownBy(() -> rest(first)).isInstanceOf(SocketException.class);
        } else {
          assertThat(head(begun)).contains("transfer-encoding: chunked");
          assertThat(rest(first)).doesNotEndWith("0\r\n\r\n");
        }
        assertThat(second.isConnected()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.1", "1.0"})
  void shouldCutAPromisedStreamThatDoesNotComeToItsEnd(String version) throws IOException {
    // given: comments keep it alive until the answer begins
    GatewayConfig.Waits waits = fixture.waits;
    fixture.waits =
        new GatewayConfig.Waits(
            Duration.ofMillis(100),
            waits.patienceMargin(),
            waits.holdMax(),
            waits.keepAlive(),
            waits.upstreamIdle(),
            waits.drain());
    fixture.admission.holds = true;
    try (RawUpstream upstream =
            RawUpstream.of(CHUNKED.formatted("text/event-stream") + chunk("data: {}\n\n"));
        Socket client = ask(upstream, version, CLOSE, GatewayFixture.streamed("hi"))) {
      String begun = readUntil(client, ": ");
      fixture.admission.asked.get(0).grant(fixture.admission);
      begun += readUntil(client, "data: {}");

      // when
      upstream.end(RawUpstream.End.CLOSED);

      // then
      if (version.equals("1.0")) {
        assertThatThrownBy(() -> rest(client)).isInstanceOf(SocketException.class);
      } else {
        assertThat(head(begun)).contains("transfer-encoding: chunked");
        assertThat(rest(client)).doesNotEndWith("0\r\n\r\n");
      }
    }
  }

  @Test
  void shouldCutAnAnswerThatTheGatewayDoesNotWaitForWhenItStops() throws IOException {
    // given
    GatewayConfig.Waits waits = fixture.waits;
    fixture.waits =
        new GatewayConfig.Waits(
            waits.patience(),
            waits.patienceMargin(),
            waits.holdMax(),
            waits.keepAlive(),
            waits.upstreamIdle(),
            Duration.ofMillis(50));
    try (RawUpstream upstream =
            RawUpstream.of(CHUNKED.formatted("application/json") + chunk(BEGUN));
        Socket client = ask(upstream, "1.0", "")) {
      readUntil(client, BEGUN);

      // when
      fixture.gateway().close();

      // then
      assertThatThrownBy(() -> rest(client)).isInstanceOf(SocketException.class);
    }
  }

  @ParameterizedTest
  @CsvSource({"1.1, ''", "1.1, 'connection: close'", "1.0, ''"})
  void shouldEndWholeAnswersAsSuch(String version, String connection) throws IOException {
    // given
    String whole = chunk(BEGUN) + chunk("\"role\":\"assistant\"}") + "0\r\n\r\n";
    try (RawUpstream upstream = RawUpstream.of(CHUNKED.formatted("application/json") + whole);
        Socket client = ask(upstream, version, connection.isEmpty() ? "" : CLOSE)) {
      // when
      String answer = readUntil(client, "assistant\"}");
      boolean ends = version.equals("1.0") || !connection.isEmpty();
      answer += ends ? rest(client) : readUntil(client, "0\r\n\r\n");

      // then
      if (version.equals("1.0")) {
        assertThat(head(answer)).doesNotContain("transfer-encoding");
        assertThat(answer).endsWith("\r\n\r\n" + BEGUN + "\"role\":\"assistant\"}");
      } else {
        assertThat(head(answer)).contains("transfer-encoding: chunked");
        assertThat(answer).endsWith("0\r\n\r\n");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"DELETE, 204 No Content, 1.1", "GET, 304 Not Modified, 1.1", "HEAD, 200 OK, 1.0"})
  void shouldPromiseNoBodyWhereThereIsNone(String method, String status, String version)
      throws IOException {
    // given
    fixture.unknown = "anthropic";
    try (RawUpstream upstream =
        RawUpstream.of("HTTP/1.1 " + status + "\r\nx-upstream: 1\r\n\r\n")) {
      fixture.upstreamUrl = upstream.url();
      try (Socket client = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
        client.setSoTimeout(20_000);

        // when
        write(
            client, method + " /v1/files/f1 HTTP/" + version + "\r\nhost: x\r\n" + CLOSE + "\r\n");
        String answer = rest(client);

        // then
        assertThat(answer).contains(" " + status.substring(0, 3) + " ").endsWith("\r\n\r\n");
        assertThat(head(answer)).contains("x-upstream: 1").doesNotContain("transfer-encoding");
      }
    }
  }

  private Socket ask(RawUpstream upstream, String version, String headers) throws IOException {
    return ask(upstream, version, headers, GatewayFixture.message("hi"));
  }

  private Socket ask(RawUpstream upstream, String version, String headers, String body)
      throws IOException {
    fixture.upstreamUrl = upstream.url();
    return send(version, headers, body);
  }

  private Socket send(String version, String headers) throws IOException {
    return send(version, headers, GatewayFixture.message("hi"));
  }

  private Socket send(String version, String headers, String body) throws IOException {
    Socket client = new Socket("127.0.0.1", fixture.uri("/").getPort());
    client.setSoTimeout(20_000);
    write(
        client,
        "POST /v1/messages HTTP/"
            + version
            + "\r\nhost: x\r\ncontent-type: application/json\r\n"
            + headers
            + "content-length: "
            + body.length()
            + "\r\n\r\n"
            + body);
    return client;
  }

  private static void write(Socket client, String request) throws IOException {
    client.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
  }

  private static String readUntil(Socket client, String end) throws IOException {
    InputStream in = client.getInputStream();
    StringBuilder read = new StringBuilder();
    while (read.indexOf(end) < 0) {
      int next = in.read();
      assertThat(next).as("after %s", read).isNotNegative();
      read.append((char) next);
    }
    return read.toString();
  }

  private static String rest(Socket client) throws IOException {
    return new String(client.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
  }

  private static String head(String answer) {
    return answer.substring(0, answer.indexOf("\r\n\r\n")).toLowerCase(Locale.ROOT);
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
  }

  /** A flushed part, and the beginning of another. */
  private static byte[] packed(String begun, String more) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes, true)) {
      gzip.write(begun.getBytes(StandardCharsets.UTF_8));
      gzip.flush();
      int flushed = bytes.size();
      gzip.write(more.getBytes(StandardCharsets.UTF_8));
      gzip.finish();
      return Arrays.copyOf(bytes.toByteArray(), flushed + 2);
    }
  }
}
