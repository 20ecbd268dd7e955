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
        "2m30s or 10x, never QUEUE_WAIT_TOO_LONG",
        "meta-llama/llama-4-scout-17b-16e-instruct, mixtral-8x22b and gpt-3.5-turbo-16k-0613",
        "http://10.200.100.50:29092/v1 at 2026-08-06T12:30:00Z, 0.30000000000000004",
        "cache_read_input_tokens, queue_max_per_agent, 500ms, 1h30m"
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
        "AB12C-DE34F-GH56J-KL78M",
        "AB12C.DE34F",
        "ab12-cd34-ef56-gh78",
        "abcd-efgh-ijkl-mnop",
        "key:ABCD-EFGH-IJKL-MNOP",
        "ABCD/EFGH/IJKL/MNOP",
        "tok_live_a1b2c3",
        "4o4o4o-5p5p5p-6q6q6q",
        "1a2b3c-4d5e6f",
        "12345678-1234567890",
        "1234-5678-9012-3456",
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
