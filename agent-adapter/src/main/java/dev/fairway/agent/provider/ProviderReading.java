package dev.fairway.agent.provider;

import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What one answer of a provider says. Null is unknown, never zero.
 *
 * @param kind what the answer means; never null
 * @param retry whether the same call may be sent again, after the wait
 * @param waitMs how long to wait first, from the answer on: 1 to 366 days in milliseconds, a floor;
 *     null where the provider does not say, or where waiting does not help. Whoever retries without
 *     it uses a backoff of its own, never 0
 * @param resetAt the wait's end, where the provider gave a point in time or one follows from its
 *     rules; else null
 * @param binding the limit that refused the call, or null
 * @param limits readings by dimension; never null, immutable; a dimension that the answer does not
 *     mention is absent
 * @param usage tokens of the call, or null
 */
public record ProviderReading(
    AnswerClass kind,
    boolean retry,
    Long waitMs,
    Instant resetAt,
    Dimension binding,
    Map<Dimension, LimitReading> limits,
    ProviderUsage usage) {

  /** Copies the limits, in the order of the dimensions. */
  public ProviderReading {
    EnumMap<Dimension, LimitReading> copy = new EnumMap<>(Dimension.class);
    copy.putAll(limits);
    limits = Collections.unmodifiableMap(copy);
  }

  ProviderReading withUsage(ProviderUsage usage) {
    return new ProviderReading(kind, retry, waitMs, resetAt, binding, limits, usage);
  }

  ProviderReading notToBeRetried() {
    return new ProviderReading(kind, false, waitMs, resetAt, binding, limits, usage);
  }
}
