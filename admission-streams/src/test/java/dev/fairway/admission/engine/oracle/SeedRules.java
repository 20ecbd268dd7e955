package dev.fairway.admission.engine.oracle;

import java.util.Map;

/**
 * The knobs of one quota under the published rules.
 *
 * @param limits per minute by dimension; {@code concurrent_requests} at a time
 * @param depths bucket depth by dimension that refills
 * @param levels opening level by dimension; a full bucket where absent
 * @param roles base weight by role
 */
record SeedRules(
    Map<String, Long> limits,
    Map<String, Long> depths,
    Map<String, Long> levels,
    Map<String, Long> roles,
    long leaseTtlMs,
    long maxQueueWaitMs,
    long defaultEstimate,
    int queueMax,
    int queueMaxPerAgent,
    int callsPerTask,
    long cleanIntervalMs) {
  static final String CONCURRENCY = "concurrent_requests";
  static final Rational START = Rational.of(85, 100);
  static final Rational FLOOR = Rational.of(60, 100);
  static final Rational CUT = Rational.of(5, 100);
  static final Rational CREEP = Rational.of(1, 100);
}
