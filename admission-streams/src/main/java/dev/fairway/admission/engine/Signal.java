package dev.fairway.admission.engine;

import dev.fairway.admission.engine.bucket.Dimension;
import java.util.Map;

/**
 * What the provider said about its limits. Ages are durations that the agent measured: no wall
 * clock is ever compared with another's. Null is unknown, never zero.
 *
 * @param status HTTP status
 * @param kind what the answer means
 * @param binding dimension that refused the call
 * @param retryAfterMs the provider's retry-after, counted from its answer
 * @param ageMs since the agent received the headers
 * @param msSinceSend since the agent sent the call
 * @param limits readings by dimension; never null, empty if there were none
 */
public record Signal(
    Integer status,
    Kind kind,
    Dimension binding,
    Long retryAfterMs,
    Long ageMs,
    Long msSinceSend,
    Map<Dimension, Reading> limits) {

  /** What a provider's answer means. */
  public enum Kind {
    OK,
    RATE_LIMITED,
    OVERLOADED,
    NEVER_FITS,
    QUOTA_EXHAUSTED,
    DAILY_QUOTA,
    BILLING,
    ERROR
  }

  /**
   * The headers of one dimension.
   *
   * @param limit the limit per minute, or null
   * @param remaining what remained when the provider answered, or null
   * @param resetMs until reset, counted from the answer, or null
   */
  public record Reading(Long limit, Long remaining, Long resetMs) {}
}
