package dev.fairway.admission.engine;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.Ramp;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.lease.Charges;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Row.AlertRow;
import java.util.List;

/**
 * What holds for a quota at one time, for people and metrics.
 *
 * @param definition as defined
 * @param atMs the time it holds for
 * @param levels usable balance per limited dimension, whole units, negative in debt
 * @param caps highest level per limited dimension at the present margin
 * @param marginBp margin, basis points; in ADAPTIVE 1 less the part of the depth that is kept free
 *     beside a usual call
 * @param marginMode mode in force, never AUTO: that of the first limited of input, tokens, output,
 *     requests
 * @param openLeases leases neither settled nor reaped
 * @param waiting requests in line
 * @param virtualTime virtual time of the fair queue
 * @param reserved sum of what open leases hold, per limited dimension
 * @param outsideRate what others take, per minute; absent where nothing was sampled for two minutes
 * @param holdUntilMs no grants before, or null
 * @param holdReason why, or null if there is no hold; without a time it waits for an operator
 * @param oldestEnqueuedAtMs when the request that waits longest was enqueued, or null
 * @param alerts alerts that are raised, by kind and subject
 * @param breaker breaker and ramp
 * @param removed whether it was removed, and lives on only for its leases, and for a while for what
 *     may still be settled late
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
    Amounts outsideRate,
    Long holdUntilMs,
    HoldReason holdReason,
    Long oldestEnqueuedAtMs,
    List<AlertRow> alerts,
    BreakerState breaker,
    boolean removed) {

  /** Whether nothing of it is left that anybody could do something about. */
  public boolean gone() {
    return removed && openLeases == 0 && waiting == 0;
  }

  static QuotaSnapshot of(QuotaState quota, long nowMs) {
    Amounts levels = Amounts.NONE;
    Amounts reserved = quota.reserved();
    Amounts caps = Amounts.NONE;
    Amounts outside = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      if (quota.limits(d)) {
        levels = levels.with(d, quota.usable(d, nowMs));
        caps = caps.with(d, quota.highestUsable(d));
        reserved = reserved.has(d) ? reserved : reserved.with(d, 0);
        if (quota.outside(d).isFresh(nowMs)) {
          outside = outside.with(d, quota.outside(d).perMinuteMilli() / 1000);
        }
      }
    }
    HoldReason hold = quota.holdReason(nowMs);
    Dimension reference = Charges.reference(quota.policy().limits());
    MarginModeName mode =
        reference == null ? MarginModeName.RATE : quota.marginMode(reference).name();
    return new QuotaSnapshot(
        quota.definition(),
        nowMs,
        levels,
        caps,
        mode == MarginModeName.ADAPTIVE ? adaptiveBp(quota, reference) : quota.marginBp(),
        mode,
        quota.openLeases(),
        quota.order().size(),
        quota.virtualTime(),
        reserved,
        outside,
        hold == null ? null : quota.holdUntilMs(),
        hold,
        quota.oldestEnqueuedAtMs(),
        List.copyOf(quota.alerts().raised()),
        quota.breaker(),
        quota.removed());
  }

  private static int adaptiveBp(QuotaState quota, Dimension d) {
    long used = Math.max(0, quota.depth(d) - quota.keptFree(d));
    return (int) FixedPoint.mulDiv(used, FixedPoint.ONE_BP, quota.depth(d));
  }

  /** Pace of grants at that time, basis points of the rate; 10 000 where there is no ramp. */
  public int paceBp() {
    Ramp ramp = breaker.ramp();
    return ramp == null || ramp.endMs() <= atMs ? FixedPoint.ONE_BP : ramp.speedBp(atMs);
  }
}
