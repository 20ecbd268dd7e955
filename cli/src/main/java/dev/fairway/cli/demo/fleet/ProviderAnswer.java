package dev.fairway.cli.demo.fleet;

import java.util.Map;

/**
 * What the provider answered.
 *
 * @param status HTTP status, or 0 if the connection failed
 * @param headers headers by lower-case name, the first value of each
 * @param inputTokens input used, 0 unless it succeeded
 * @param outputTokens output used, 0 unless it succeeded
 * @param tookMs from sending to the end of the answer
 */
public record ProviderAnswer(
    int status, Map<String, String> headers, long inputTokens, long outputTokens, long tookMs) {

  public ProviderAnswer {
    headers = Map.copyOf(headers);
  }

  /** A call that got no answer. */
  static ProviderAnswer lost(long tookMs) {
    return new ProviderAnswer(0, Map.of(), 0, 0, tookMs);
  }

  /** Whether the call succeeded. */
  public boolean ok() {
    return status == 200;
  }

  /** Whether the provider refused it for its rate. */
  public boolean refused() {
    return status == 429;
  }

  /** The {@code retry-after} in milliseconds, or 0 if there is none that can be read. */
  public long retryAfterMs() {
    String text = headers.get("retry-after");
    if (text == null) {
      return 0;
    }
    try {
      return Math.max(0, Math.multiplyExact(Long.parseLong(text), 1000L));
    } catch (NumberFormatException | ArithmeticException e) {
      return 0;
    }
  }
}
