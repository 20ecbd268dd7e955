package dev.fairway.cli.demo.emulator;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The {@code anthropic-ratelimit-*} headers: tokens remaining are rounded to the nearest thousand,
 * resets are RFC 3339 in whole seconds and tell when the bucket is full again. {@code tokens} is
 * input and output together, its reset the earlier of the two.
 */
final class RateLimitHeaders {
  private static final String PREFIX = "anthropic-ratelimit-";

  private RateLimitHeaders() {}

  /**
   * @param requests as measured at {@code arrivedAt}
   * @param input as measured at {@code arrivedAt}
   * @param arrivedAt when the call arrived
   * @param output as measured at {@code answeredAt}
   * @param answeredAt when the headers are written
   */
  static Map<String, String> of(
      Reading requests, Reading input, Instant arrivedAt, Reading output, Instant answeredAt) {
    Instant inputReset = resetOf(input, arrivedAt);
    Instant outputReset = resetOf(output, answeredAt);
    long inputRemaining = thousands(input);
    long outputRemaining = thousands(output);
    Map<String, String> headers = new LinkedHashMap<>();
    put(
        headers,
        "requests",
        requests.limit(),
        (long) requests.remaining(),
        resetOf(requests, arrivedAt));
    put(headers, "input-tokens", input.limit(), inputRemaining, inputReset);
    put(headers, "output-tokens", output.limit(), outputRemaining, outputReset);
    put(
        headers,
        "tokens",
        input.limit() + output.limit(),
        inputRemaining + outputRemaining,
        inputReset.isBefore(outputReset) ? inputReset : outputReset);
    return headers;
  }

  private static void put(
      Map<String, String> headers, String what, long limit, long remaining, Instant reset) {
    headers.put(PREFIX + what + "-limit", Long.toString(limit));
    headers.put(PREFIX + what + "-remaining", Long.toString(remaining));
    headers.put(PREFIX + what + "-reset", reset.toString());
  }

  private static long thousands(Reading reading) {
    return Math.min(reading.limit(), Math.round(reading.remaining() / 1000) * 1000);
  }

  private static Instant resetOf(Reading reading, Instant measuredAt) {
    Instant reset = measuredAt.plusNanos((long) (reading.secondsToFull() * 1e9));
    Instant second = reset.truncatedTo(ChronoUnit.SECONDS);
    return second.equals(reset) ? second : second.plusSeconds(1);
  }
}
