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

  /** When the answer was given, as far as anybody knows, or null. */
  Instant at() {
    return receivedAt != null ? receivedAt : HttpDate.parse(headers.get("date"));
  }
}
