package dev.fairway.admission.engine.oracle;

import java.util.Map;

/**
 * What the provider said with an answer.
 *
 * @param retryAfterMs how long to wait, or null
 * @param limits limits by dimension
 * @param remaining what remained by dimension; negative is a sentinel for unknown
 */
record SeedSignal(Long retryAfterMs, Map<String, Long> limits, Map<String, Long> remaining) {}
