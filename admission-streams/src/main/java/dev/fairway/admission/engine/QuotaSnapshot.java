package dev.fairway.admission.engine;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.Ramp;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.FixedPoint;

/**
 * What holds for a quota at one time, for people and metrics.
 *
 * @param definition as defined
 * @param atMs the time it holds for
 * @param levels usable balance per limited dimension, whole units, negative in debt
 * @param caps highest level per limited dimension at the present margin
 * @param marginBp margin, basis points
 * @param marginMode mode in force, never AUTO
 * @param openLeases leases neither settled nor reaped
 * @param waiting requests in line
 * @param virtualTime virtual time of the fair queue
 * @param reserved sum of what open leases hold, per limited dimension
 * @param holdUntilMs no grants before, or null
 * @param holdReason why, or null if there is no hold; without a time it waits for an operator
 * @param oldestEnqueuedAtMs when the request that waits longest was enqueued, or null
 * @param breaker breaker and ramp
 */
public record QuotaSnapshot(
    QuotaDefinition definition,
    long atMs,
    Amounts levels,
    Amounts caps,
    int marginBp,
    MarginModeName marginMode,
    int openLeases,
    int waiting,
    long virtualTime,
    Amounts reserved,
    Long holdUntilMs,
    HoldReason holdReason,
    Long oldestEnqueuedAtMs,
    BreakerState breaker) {

  /** Pace of grants at that time, basis points of the rate; 10 000 where there is no ramp. */
  public int paceBp() {
    Ramp ramp = breaker.ramp();
    return ramp == null || ramp.endMs() <= atMs ? FixedPoint.ONE_BP : ramp.speedBp(atMs);
  }
}
