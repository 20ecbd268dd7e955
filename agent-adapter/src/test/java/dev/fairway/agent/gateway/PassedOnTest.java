package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.ProviderSignal;
import java.io.OutputStream;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is said once: to the gateway by its clients, and to the coordinator by the gateway. */
class PassedOnTest {
  private static final String STREAM =
      """
      event: message_start
      data: {"type":"message_start","message":{"usage":{"input_tokens":12,"output_tokens":1}}}

      event: message_delta
      data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}

      event: message_stop
      data: {"type":"message_stop"}

      """;

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldKeepWhatIsForTheGatewayFromTheProvider() {
    // when
    fixture.post(
        "/v1/messages",
        GatewayFixture.message("hi"),
        "x-fairway-agent",
        "a",
        "X-Fairway-Task",
        "t",
        "x-fairway-retry-budget",
        "2",
        "x-fairway-nobody-knows",
        "1",
        "x-other",
        "2");

    // then
    FakeUpstream.Received sent = fixture.upstream.received.get(0);
    assertThat(sent.headers().keySet())
        .noneMatch(name -> name.toLowerCase(Locale.ROOT).startsWith("x-fairway"));
    assertThat(sent.header("x-other")).isEqualTo("2");
  }

  @Test
  void shouldReportTheLimitsOfAStreamWhenItBeginsAndNotOnceMoreWhenItEnds() {
    // given
    fixture.upstream.then(
        exchange -> {
          limits(exchange.getResponseHeaders()::set);
          OutputStream out = FakeUpstream.events(exchange);
          FakeUpstream.write(out, STREAM);
        });

    // when
    fixture.post("/v1/messages", GatewayFixture.streamed("hi"));

    // then: by the end they are old, and others have been told since
    ProviderSignal atEnd = fixture.admission.onlySettled().signal();
    assertThat(fixture.admission.inProgress).hasSize(1);
    assertThat(fixture.admission.inProgress.get(0).signal().limits()).isNotEmpty();
    assertThat(atEnd.status()).isEqualTo(200);
    assertThat(atEnd.limits()).isEmpty();
  }

  @Test
  void shouldReportTheLimitsOfAnAnswerThatIsNoStreamAtItsEnd() {
    // given
    fixture.upstream.then(
        exchange -> {
          limits(exchange.getResponseHeaders()::set);
          FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER);
        });

    // when
    fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then
    assertThat(fixture.admission.onlySettled().signal().limits()).isNotEmpty();
    assertThat(fixture.admission.inProgress).isEmpty();
  }

  private interface Setting {
    void set(String name, String value);
  }

  private static void limits(Setting headers) {
    headers.set("anthropic-ratelimit-input-tokens-limit", "1000");
    headers.set("anthropic-ratelimit-input-tokens-remaining", "900");
  }
}
