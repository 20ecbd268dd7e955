package dev.fairway.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.agent.ProviderSignal.Reading;
import dev.fairway.cli.demo.fleet.ProviderAnswer;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AnthropicSignalsTest {
  private static final Instant NOW = Instant.parse("2026-08-27T11:10:53Z");

  private static ProviderSignal read(int status, Map<String, String> headers) {
    return AnthropicSignals.of(new ProviderAnswer(status, headers, 0, 0, 5), NOW);
  }

  @Test
  void shouldReadLimitsByDimension() {
    // when
    ProviderSignal signal =
        read(
            200,
            Map.of(
                "anthropic-ratelimit-input-tokens-limit", "400000",
                "anthropic-ratelimit-input-tokens-remaining", "123000",
                "anthropic-ratelimit-input-tokens-reset", "2026-08-27T11:11:35Z",
                "anthropic-ratelimit-output-tokens-remaining", "8000",
                "anthropic-ratelimit-output-tokens-reset", "2026-08-27T11:10:00Z"));

    // then
    assertThat(signal.status()).isEqualTo(200);
    assertThat(signal.limits())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                Dimension.INPUT_TOKENS, new Reading(400_000L, 123_000L, Duration.ofSeconds(42)),
                Dimension.OUTPUT_TOKENS, new Reading(null, 8_000L, Duration.ZERO)));
  }

  @Test
  void shouldTakeRetryAfterOnRefusalsOnly() {
    assertThat(read(429, Map.of("retry-after", "7")).retryAfter()).isEqualTo(Duration.ofSeconds(7));
    assertThat(read(200, Map.of("retry-after", "7")).retryAfter()).isNull();
    assertThat(read(429, Map.of("retry-after", "soon")).retryAfter()).isNull();
    assertThat(read(429, Map.of()).retryAfter()).isNull();
  }

  @Test
  void shouldLeaveTheUnreadableUnknown() {
    // when
    ProviderSignal signal =
        read(
            200,
            Map.of(
                "anthropic-ratelimit-requests-limit", "many",
                "anthropic-ratelimit-requests-remaining", "-1",
                "anthropic-ratelimit-input-tokens-limit", "5",
                "anthropic-ratelimit-input-tokens-reset", "tomorrow"));

    // then
    assertThat(signal.limits())
        .containsExactlyEntriesOf(Map.of(Dimension.INPUT_TOKENS, new Reading(5L, null, null)));
  }

  @Test
  void shouldKnowNothingOfALostCall() {
    // when
    ProviderSignal signal = read(0, Map.of());

    // then
    assertThat(signal.status()).isNull();
    assertThat(signal.limits()).isEmpty();
  }
}
