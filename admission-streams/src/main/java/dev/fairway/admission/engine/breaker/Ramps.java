package dev.fairway.admission.engine.breaker;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.RampEnded;
import dev.fairway.admission.engine.Event.RampStarted;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * When a quota ramps: after the breaker, after an overload, and after a hold of 30 s or more. A
 * single 429 with a shorter hold does not slow anybody down.
 */
public final class Ramps {
  /** Holds from this length on are followed by a ramp. */
  static final long LONG_HOLD_MS = 30_000;

  private Ramps() {}

  /** When the ramp lets somebody be granted if nothing else happens. */
  public static long grantDueMs(QuotaState quota, long atMs) {
    Ramp ramp = quota.breaker().ramp();
    return ramp == null ? atMs : atMs + ramp.msUntil(atMs, 0);
  }

  /**
   * Milliseconds until whoever is behind those charges may be granted, as far as the breaker and
   * the ramp go. An open breaker is taken to close as soon as its probe goes, one whose probe is
   * out at its timeout, for nobody knows when it is answered; the ramp that follows is in the
   * number. So is a trickle taken to end with its next call.
   *
   * @param phase what those charges take of the ramp
   * @param startMs when the hold ends, or now if there is none
   */
  public static long waitMs(QuotaState quota, long phase, long startMs, long atMs) {
    BreakerState breaker = quota.breaker();
    if (breaker.isOpen()) {
      return afterwardsMs(quota, phase, Math.max(startMs, breaker.untilMs()), atMs);
    }
    if (breaker.trickles()) {
      long nextMs = atMs + breaker.ramp().msUntil(atMs, 0);
      return afterwardsMs(quota, phase, Math.max(startMs, nextMs), atMs);
    }
    return breaker.ramp() == null ? 0 : breaker.ramp().msUntil(atMs, phase);
  }

  private static long afterwardsMs(QuotaState quota, long phase, long fromMs, long atMs) {
    return quota.policy().rules().has(Rule.RAMP)
        ? Ramp.startingAt(fromMs).msUntil(atMs, phase)
        : Math.max(0, fromMs - atMs);
  }

  /**
   * Phase that a call takes of the ramp of its own quota: until its charge is refilled there, and
   * in those that it takes from too. The slowest of them is the rate that the quota is served at.
   *
   * @param also charges by id of the quotas that it takes from too
   * @param quotas the quotas by id; null for one that is not defined any more
   */
  public static long phase(
      QuotaState quota,
      Amounts charge,
      Map<String, Amounts> also,
      Function<String, QuotaState> quotas) {
    long phase = phase(quota, charge);
    for (Map.Entry<String, Amounts> taken : also.entrySet()) {
      QuotaState other = quotas.apply(taken.getKey());
      phase = other == null ? phase : Math.max(phase, phase(other, taken.getValue()));
    }
    return phase;
  }

  /** The same of what calls take of every dimension. */
  public static long phase(QuotaState quota, List<QuotaState> also, Amounts demand) {
    long phase = phase(quota, demand);
    for (QuotaState other : also) {
      phase = Math.max(phase, phase(other, demand));
    }
    return phase;
  }

  /** Phase in which a charge refills at the rate of its slowest dimension in this quota alone. */
  public static long phase(QuotaState quota, Amounts charge) {
    long phase = 0;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && quota.limits(d) && charge.get(d) > 0) {
        long unitsPerMs =
            Math.max(1, FixedPoint.unitsPerMs(quota.limit(d), Math.max(1, quota.marginBp())));
        phase = Math.max(phase, FixedPoint.msOf(charge.get(d), unitsPerMs, Ramp.PHASE_PER_MS));
      }
    }
    return phase;
  }

  /** A hold began or grew: what follows it, if anything does. */
  public static void afterHold(Transaction tx, QuotaState quota) {
    HoldReason reason = quota.holdReason(tx.nowMs());
    if (!quota.policy().rules().has(Rule.RAMP) || quota.breaker().isUnproven() || reason == null) {
      return;
    }
    Long untilMs = quota.holdUntilMs();
    boolean follows =
        untilMs != null
            && (reason == HoldReason.OVERLOADED || untilMs - tx.nowMs() >= LONG_HOLD_MS);
    Ramp ramp = quota.breaker().ramp();
    if (follows && (ramp == null || ramp.fromMs() < untilMs)) {
      tx.emit(new RampStarted(quota.id(), untilMs));
    }
  }

  /** The breaker closed or was switched off, or an operator ended a hold. */
  public static void afterBreaker(Transaction tx, QuotaState quota) {
    if (quota.policy().rules().has(Rule.RAMP)) {
      tx.emit(new RampStarted(quota.id(), afterHoldMs(tx, quota)));
    }
  }

  /** When the hold ends, or now if there is none, or none that time ends. */
  static long afterHoldMs(Transaction tx, QuotaState quota) {
    boolean held = quota.holdReason(tx.nowMs()) != null && quota.holdUntilMs() != null;
    return held ? quota.holdUntilMs() : tx.nowMs();
  }

  /** An operator cleared the quota: the breaker closes, and traffic comes back slowly. */
  public static void cleared(Transaction tx, QuotaState quota) {
    Breaker.cleared(tx, quota);
    afterBreaker(tx, quota);
  }

  /** Ends a ramp that is over. */
  public static void end(Transaction tx, QuotaState quota) {
    if (endDueMs(quota) <= tx.nowMs()) {
      tx.emit(new RampEnded(quota.id()));
    }
  }

  /** When {@link #end} is due, or {@link Long#MAX_VALUE}. */
  public static long endDueMs(QuotaState quota) {
    Ramp ramp = quota.breaker().ramp();
    return ramp == null ? Long.MAX_VALUE : ramp.endMs();
  }
}
