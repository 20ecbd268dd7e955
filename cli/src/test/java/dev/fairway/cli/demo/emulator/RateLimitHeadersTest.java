package dev.fairway.cli.demo.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RateLimitHeadersTest {
  private static final Instant ARRIVED = Instant.parse("2026-08-27T11:10:53Z");
  private static final Instant ANSWERED = Instant.parse("2026-08-27T11:10:55.200Z");

  @Test
  void shouldTellLimitRemainingAndFullReplenishment() {
    // when
    Map<String, String> headers =
        RateLimitHeaders.of(
            new Reading(4000, 3998.7, 0.02),
            new Reading(400_000, 123_456, 41.5),
            ARRIVED,
            new Reading(80_000, 80_000, 0),
            ANSWERED);

    // then
    assertThat(headers)
        .containsExactlyInAnyOrderEntriesOf(
            Map.ofEntries(
                Map.entry("anthropic-ratelimit-requests-limit", "4000"),
                Map.entry("anthropic-ratelimit-requests-remaining", "3998"),
                Map.entry("anthropic-ratelimit-requests-reset", "2026-08-27T11:10:54Z"),
                Map.entry("anthropic-ratelimit-input-tokens-limit", "400000"),
                Map.entry("anthropic-ratelimit-input-tokens-remaining", "123000"),
                Map.entry("anthropic-ratelimit-input-tokens-reset", "2026-08-27T11:11:35Z"),
                Map.entry("anthropic-ratelimit-output-tokens-limit", "80000"),
                Map.entry("anthropic-ratelimit-output-tokens-remaining", "80000"),
                Map.entry("anthropic-ratelimit-output-tokens-reset", "2026-08-27T11:10:56Z"),
                Map.entry("anthropic-ratelimit-tokens-limit", "480000"),
                Map.entry("anthropic-ratelimit-tokens-remaining", "203000"),
                Map.entry("anthropic-ratelimit-tokens-reset", "2026-08-27T11:10:56Z")));
  }

  @Test
  void shouldRoundTokensToTheNearestThousandButNotAboveTheLimit() {
    // when
    Map<String, String> headers =
        RateLimitHeaders.of(
            new Reading(50, 50, 0),
            new Reading(30_600, 30_600, 0),
            ARRIVED,
            new Reading(8_000, 499, 56),
            ANSWERED);

    // then
    assertThat(headers)
        .containsEntry("anthropic-ratelimit-input-tokens-remaining", "30600")
        .containsEntry("anthropic-ratelimit-output-tokens-remaining", "0");
  }
}
