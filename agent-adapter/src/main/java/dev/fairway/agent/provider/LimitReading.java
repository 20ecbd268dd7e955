package dev.fairway.agent.provider;

import java.time.Duration;

/**
 * What a provider said about one limit. Null is unknown, never zero.
 *
 * @param limit the limit in its window, 0 or more, or null
 * @param remaining what remained when the provider answered, 0 or more, or null
 * @param resetMs milliseconds until the provider says it is reset, from 0 (or past) to 366 days, or
 *     null
 * @param window the time that the limit is for, or null where neither the answer nor the provider's
 *     documentation says it
 */
public record LimitReading(Long limit, Long remaining, Long resetMs, Duration window) {}
