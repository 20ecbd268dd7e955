package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.gateway.GatewayConfig.Waits;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an upstream sends before its answer. */
class InterimAnswersTest {
  private static final String NEXT = "\r\nlink: </x>\r\n\r\nHTTP/1.1 ";

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "100 Continue",
        "102 Processing",
        "103 Early Hints",
        "104 Upload Resumption Supported",
        "110 Nobody Knows",
        "199 Last",
        "100 Continue" + NEXT + "100 Continue",
        "102 Processing" + NEXT + "104 Some" + NEXT + "103 Early Hints" + NEXT + "104 Some"
      })
  void shouldWaitForTheAnswerBehindIt(String interim) throws IOException {
    // given
    try (RawUpstream upstream =
        RawUpstream.of("HTTP/1.1 " + interim + NEXT + answer("200 OK", GatewayFixture.ANSWER))) {
      fixture.upstreamUrl = upstream.url();

      // when
      HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

      // then
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.body()).isEqualTo(GatewayFixture.ANSWER);
      awaitOutcomes(Outcome.SUCCEEDED);
    }
  }

  @Test
  void shouldPutThe429BehindItBackInLine() throws IOException {
    // given
    String limited =
        answer(
            "429 Too Many Requests\r\nconnection: close",
            "{\"error\":{\"type\":\"rate_limit_error\"}}");
    try (RawUpstream upstream =
        RawUpstream.of(
            "HTTP/1.1 104 Some" + NEXT + limited,
            "HTTP/1.1 " + answer("200 OK", GatewayFixture.ANSWER))) {
      fixture.upstreamUrl = upstream.url();

      // when
      HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

      // then
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(fixture.admission.requeued).hasSize(1);
      awaitOutcomes(Outcome.RATE_LIMITED, Outcome.SUCCEEDED);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', 'HTTP/1.1 102 Processing\r\n\r\n'",
    "'', 'HTTP/1.1 104 Some\r\n\r\n'",
    "'HTTP/1.1 200 OK\r\n', 'x-a: 1\r\n'"
  })
  void shouldNotWaitLongerThanItMayForAnAnswerBeforeWhichMuchComes(String said, String endless)
      throws IOException {
    // given: an upstream that is never silent, and never says anything
    Waits waits = fixture.waits;
    fixture.waits =
        new Waits(
            waits.patience(),
            waits.patienceMargin(),
            waits.holdMax(),
            waits.keepAlive(),
            Duration.ofSeconds(1),
            waits.drain());
    try (RawUpstream upstream = RawUpstream.of(said)) {
      upstream.endless = endless;
      fixture.upstreamUrl = upstream.url();

      // when
      HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

      // then
      assertThat(response.statusCode()).isEqualTo(502);
      assertThat(response.body()).contains("no answer in time");
      awaitOutcomes(Outcome.FAILED_AFTER_SEND);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"101 Switching Protocols", "099 None", "000 None", "20 None", "1000 Many"})
  void shouldTakeWhatIsNoAnswerForABrokenOne(String status) throws IOException {
    // given
    try (RawUpstream upstream =
        RawUpstream.of("HTTP/1.1 " + status + NEXT + answer("200 OK", GatewayFixture.ANSWER))) {
      fixture.upstreamUrl = upstream.url();

      // when
      HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

      // then
      assertThat(response.statusCode()).isEqualTo(502);
      awaitOutcomes(Outcome.FAILED_AFTER_SEND);
    }
  }

  private void awaitOutcomes(Outcome... outcomes) {
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(fixture.admission.outcomes()).containsExactly(outcomes));
  }

  private static String answer(String status, String body) {
    return status
        + "\r\ncontent-type: application/json\r\ncontent-length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }
}
