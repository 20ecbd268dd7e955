package dev.fairway.agent.gateway;

import static dev.fairway.agent.gateway.GatewayFixture.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Base URLs as people write them, and the paths that come of it. */
class BaseUrlsTest {
  private static final String CHAT = "{\"model\":\"gpt-4o\",\"messages\":[]}";

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/messages",
        "/messages",
        "/v1/v1/messages",
        "//v1/messages",
        "/v1//messages",
        "/v1/messages/",
        "//v1//messages//"
      })
  void shouldCountACallOfAnthropicsHoweverItsPathIsMade(String path) {
    // given: calls that the gateway does not know would pass uncounted
    fixture.unknown = "openai";
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));

    // when
    HttpResponse<String> response = fixture.post(path + "?beta=true", GatewayFixture.message("hi"));

    // then
    assertThat(response.body()).isEqualTo(GatewayFixture.ANSWER);
    assertThat(fixture.admission.asked).hasSize(1);
    assertThat(fixture.upstream.received.get(0).path()).isEqualTo("/v1/messages?beta=true");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/chat/completions",
        "/chat/completions",
        "/v1/v1/chat/completions",
        "//chat/completions",
        "/v1/chat/completions/"
      })
  void shouldCountACallOfOpenAisHoweverItsPathIsMade(String path) {
    // given
    fixture.unknown = "openai";

    // when
    fixture.post(path, CHAT);

    // then
    assertThat(fixture.admission.asked).hasSize(1);
    assertThat(fixture.upstream.received.get(0).path()).isEqualTo("/v1/chat/completions");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/leases", "/leases", "/v1/v1/leases", "//v1/leases", "/v1/leases/"})
  void shouldGrantALeaseHoweverItsPathIsMade(String path) {
    // when
    HttpResponse<String> granted = fixture.post(path, "{\"quota\":\"ant/sonnet\",\"agent\":\"a\"}");
    HttpResponse<String> settled =
        fixture.post(
            path + "/" + json(granted).path("id").asText() + "/settle",
            "{\"outcome\":\"NOT_SENT\"}");

    // then
    assertThat(json(granted).path("status").asText()).isEqualTo("GRANTED");
    assertThat(settled.statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v2/messages", "/v1", "/", "//", "/v1/messages/x", "/api/v1/messages"})
  void shouldSayWhichPathsThereAre(String path) {
    // when
    HttpResponse<String> response = fixture.post(path, GatewayFixture.message("hi"));

    // then
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).contains("POST /v1/messages", "Check the base URL");
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldPassAPathOfNoCallOfItsOwnAsItCame() {
    // given
    fixture.unknown = "openai";

    // when
    fixture.post("/v1/audio//speech/", "{}");

    // then
    assertThat(fixture.upstream.received.get(0).path()).isEqualTo("/v1/audio//speech/");
  }
}
