package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import dev.fairway.schemas.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Upstreams that compress although they are asked not to. */
class CompressedAnswersTest {
  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldReadAndPassWhatACompressedAnswerSays() throws IOException {
    // given: far more than one buffer
    String answer = GatewayFixture.ANSWER.replace("Hi", "Hi ".repeat(200_000));
    byte[] packed = packed(answer);
    fixture.upstream.then(exchange -> send(exchange, 200, "application/json", packed));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(fixture.upstream.received.get(0).header("accept-encoding")).isEqualTo("identity");
    assertThat(response.body()).isEqualTo(answer);
    assertThat(response.headers().firstValue("content-encoding")).isEmpty();
    assertThat(fixture.admission.onlySettled().usage().inputTokens()).isEqualTo(12);
    assertThat(fixture.admission.onlySettled().usage().exact()).isTrue();
  }

  @Test
  void shouldHideTheUsageOfACompressedStreamThatNobodyAskedFor() throws IOException {
    // given
    String chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    String usage =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"total_tokens\":11}}\n\n";
    byte[] packed = packed(chunk + usage + "data: [DONE]\n\n");
    fixture.upstream.then(exchange -> send(exchange, 200, "text/event-stream", packed));

    // when
    HttpResponse<String> response =
        fixture.post(
            "/v1/chat/completions", "{\"model\":\"gpt-4o\",\"stream\":true,\"messages\":[]}");

    // then
    assertThat(response.body()).isEqualTo(chunk + "data: [DONE]\n\n");
    assertThat(fixture.admission.onlySettled().usage().outputTokens()).isEqualTo(2);
  }

  @Test
  void shouldKnowA429ByItsCompressedBody() throws IOException {
    // given
    byte[] packed = packed("{\"error\":{\"code\":\"insufficient_quota\"}}");
    fixture.upstream.then(exchange -> send(exchange, 429, "application/json", packed));

    // when
    HttpResponse<String> response =
        fixture.post("/v1/chat/completions", "{\"model\":\"gpt-4o\",\"messages\":[]}");

    // then: waiting does not help, so it is passed on
    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.body()).contains("insufficient_quota");
    assertThat(fixture.admission.requeued).isEmpty();
  }

  @Test
  void shouldTakeACompressedAnswerWithoutItsEndForOneThatBrokeOff() throws IOException {
    // given
    byte[] packed = packed(GatewayFixture.ANSWER);
    byte[] begun = Arrays.copyOf(packed, 5);
    fixture.upstream.then(exchange -> send(exchange, 200, "application/json", begun));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(502);
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
  }

  @ParameterizedTest
  @ValueSource(strings = {"x-gzip", "X-GZip", "GZIP"})
  void shouldKnowTheEncodingByItsOtherName(String encoding) throws IOException {
    // given
    byte[] packed = packed(GatewayFixture.ANSWER);
    fixture.upstream.then(exchange -> send(exchange, 200, "application/json", encoding, packed));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.body()).isEqualTo(GatewayFixture.ANSWER);
    assertThat(response.headers().firstValue("content-encoding")).isEmpty();
    assertThat(fixture.admission.onlySettled().usage().inputTokens()).isEqualTo(12);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 512, 100_000})
  void shouldPassOverZerosBehindTheEnd(int zeros) throws IOException {
    // given: as gunzip and curl do
    byte[] packed = packed(GatewayFixture.ANSWER);
    byte[] padded = Arrays.copyOf(packed, packed.length + zeros);
    fixture.upstream.then(exchange -> send(exchange, 200, "application/json", padded));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.body()).isEqualTo(GatewayFixture.ANSWER);
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.SUCCEEDED);
  }

  @Test
  void shouldUnpackSeveralPartsWithZerosBetweenThem() throws IOException {
    // given
    String half = GatewayFixture.ANSWER.substring(0, 50);
    ByteArrayOutputStream parts = new ByteArrayOutputStream();
    parts.write(packed(half));
    parts.write(new byte[100]);
    parts.write(packed(GatewayFixture.ANSWER.substring(50)));
    fixture.upstream.then(exchange -> send(exchange, 200, "application/json", parts.toByteArray()));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.body()).isEqualTo(GatewayFixture.ANSWER);
  }

  @Test
  void shouldNotTakeZerosAloneForPadding() {
    // given
    fixture.upstream.then(exchange -> send(exchange, 200, "application/json", new byte[20]));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(502);
  }

  @Test
  void shouldSayThatAnAnswerIsNotCompressedAsItSays() {
    // given
    byte[] plain = GatewayFixture.ANSWER.getBytes(StandardCharsets.UTF_8);
    fixture.upstream.then(exchange -> send(exchange, 200, "application/json", plain));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(502);
    assertThat(response.body())
        .contains("says that it is compressed with gzip, but is not")
        .doesNotContain("Zip");
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
  }

  private static void send(HttpExchange exchange, int status, String contentType, byte[] packed)
      throws IOException {
    send(exchange, status, contentType, "gzip", packed);
  }

  private static void send(
      HttpExchange exchange, int status, String contentType, String encoding, byte[] packed)
      throws IOException {
    exchange.getResponseHeaders().set("content-type", contentType);
    exchange.getResponseHeaders().set("content-encoding", encoding);
    exchange.sendResponseHeaders(status, packed.length);
    exchange.getResponseBody().write(packed);
  }

  private static byte[] packed(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }
}
