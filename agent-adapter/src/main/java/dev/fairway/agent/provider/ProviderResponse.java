package dev.fairway.agent.provider;

import java.time.Instant;

/**
 * One HTTP answer of a provider.
 *
 * @param status HTTP status, or null if unknown
 * @param headers never null
 * @param body never null; {@link ResponseBody#none()} for the head of a stream
 * @param receivedAt when it arrived, which reset times are measured from; null: by the answer's own
 *     {@code Date} header, if it has one
 */
public record ProviderResponse(
    Integer status, ResponseHeaders headers, ResponseBody body, Instant receivedAt) {
  /** Calendars end somewhere; beyond these years a time is no time that an answer came at. */
  private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

  private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");

  /** Takes an absurd time for an unknown one. */
  public ProviderResponse {
    boolean absurd =
        receivedAt != null && (receivedAt.isBefore(EARLIEST) || receivedAt.isAfter(LATEST));
    receivedAt = absurd ? null : receivedAt;
  }

  /** When the answer was given, as far as anybody knows, or null. */
  Instant at() {
    return receivedAt != null ? receivedAt : HttpDate.parse(headers.get("date"));
  }
}
