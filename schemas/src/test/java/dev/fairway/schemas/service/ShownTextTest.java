package dev.fairway.schemas.service;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShownTextTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "expected one of [requests_per_minute, inputTokens], but found \"request_per_minute\"",
        "gateway.upstreams.anthropic.url: https://api.anthropic.com:8443/openai/v1",
        "claude-3-5-sonnet-20241022, gpt-4o-2024-08-06 and llama3-70b-8192",
        "us.anthropic.claude-opus-4-20250514-v1:0",
        "expected 1 to 9223372036854775807, but found -1.5E10",
        "environment variable ANTHROPIC_API_KEY, file /etc/fairway/anthropic.key",
        "org.apache.kafka.common.serialization.StringSerializer",
        "2m30s or 10x, never QUEUE_WAIT_TOO_LONG"
      })
  void shouldShowWordsAndNumbers(String text) {
    // when / then
    assertThat(ShownText.of(text)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sk-ant-api03-x7Kp2QmZr9",
        "AKIAIOSFODNN7EXAMPLE",
        "JBSWY3DPEHPK3PXP",
        "jbswy3dpehpk3pxpa",
        "550e8400-e29b-41d4-a716-446655440000",
        "q1W/e2R+t3Y4u5I6o7==",
        "hunter2",
        "https://user:x7Kp2QmZr9@host:abc/v1"
      })
  void shouldLeaveOutTheWholeOfWhatMayBeASecret(String secret) {
    // when
    String shown = ShownText.of("expected a url, but found '" + secret + "' [" + secret + "].");

    // then
    assertThat(shown).isEqualTo("expected a url, but found '(not shown)' [(not shown)].");
  }

  @Test
  void shouldLeaveNothingAlone() {
    // when / then
    assertThat(ShownText.of(null)).isNull();
    assertThat(ShownText.of("")).isEmpty();
  }
}
