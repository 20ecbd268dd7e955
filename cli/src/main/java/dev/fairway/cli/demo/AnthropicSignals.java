package dev.fairway.cli.demo;

import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.cli.demo.fleet.ProviderAnswer;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;

/** Reads what the emulated provider's headers say. What is absent or unreadable stays unknown. */
final class AnthropicSignals {
  private static final Map<Dimension, String> NAMES =
      Map.of(
          Dimension.REQUESTS, "requests",
          Dimension.INPUT_TOKENS, "input-tokens",
          Dimension.OUTPUT_TOKENS, "output-tokens");

  private AnthropicSignals() {}

  /**
   * The signal of an answer.
   *
   * @param now when it arrived
   */
  static ProviderSignal of(ProviderAnswer answer, Instant now) {
    ProviderSignal.Builder signal = ProviderSignal.builder();
    if (answer.status() != 0) {
      signal.status(answer.status());
    }
    // Anthropic sends a retry-after on success too, where it means nothing.
    if (answer.refused() && answer.retryAfterMs() > 0) {
      signal.retryAfter(Duration.ofMillis(answer.retryAfterMs()));
    }
    NAMES.forEach(
        (dimension, name) -> {
          String prefix = "anthropic-ratelimit-" + name;
          Long limit = number(answer.headers().get(prefix + "-limit"));
          Long remaining = number(answer.headers().get(prefix + "-remaining"));
          if (limit != null || remaining != null) {
            signal.limit(
                dimension, limit, remaining, until(answer.headers().get(prefix + "-reset"), now));
          }
        });
    return signal.build();
  }

  private static Long number(String text) {
    if (text == null) {
      return null;
    }
    try {
      long number = Long.parseLong(text);
      return number < 0 ? null : number;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static Duration until(String text, Instant now) {
    if (text == null) {
      return null;
    }
    try {
      Duration until = Duration.between(now, Instant.parse(text));
      return until.isNegative() ? Duration.ZERO : until;
    } catch (DateTimeParseException e) {
      return null;
    }
  }
}
