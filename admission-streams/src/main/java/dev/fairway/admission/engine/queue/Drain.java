package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.breaker.Breaker;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Charges;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;

/**
 * Grants in order of virtual finish time while the next one fits. The head of the line blocks:
 * whoever is behind it would otherwise starve a large request for ever.
 */
public final class Drain {

  private Drain() {}

  /** Grants to whoever may go now, in every quota that may grant. */
  public static void run(Transaction tx, QuotaState quota) {
    Departures.whileExhausted(tx, quota);
    while (tx.hasRoom() && mayGrant(quota, tx.nowMs())) {
      Waiter head = quota.order().head();
      if (head == null) {
        return;
      }
      if (head.deadlineMs() < tx.nowMs()) {
        Departures.atDeadline(tx, quota, head);
        continue;
      }
      boolean cold = Charges.coldCache(head.request(), tx.nowMs());
      Amounts charge = Charges.estimated(head.request(), head.forecast(), quota.policy(), cold);
      Dimension never = neverFits(quota, charge);
      if (never != null) {
        Departures.forGood(tx, quota, head, neverFitsDetail(quota, never, charge));
      } else if (fits(quota, head.request().role(), charge, tx.nowMs())) {
        grant(tx, quota, head, charge, cold);
      } else {
        return;
      }
    }
  }

  /** Whether the quota's state, holds, breaker and ramp let anything be granted at that time. */
  public static boolean mayGrant(QuotaState quota, long atMs) {
    return !quota.removed()
        && quota.definition().state() != State.PAUSED
        && quota.holdReason(atMs) == null
        && Breaker.mayGrant(quota, atMs)
        && Ramps.mayGrant(quota, atMs);
  }

  /**
   * Whether all dimensions have room for a charge of a call of that role. A bucket in debt refuses
   * even a zero.
   */
  public static boolean fits(QuotaState quota, String role, Amounts charge, long atMs) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.limits(d)) {
        long usable = quota.usable(d, atMs);
        if (usable < 0 || usable < quota.need(d, role, charge)) {
          return false;
        }
      }
    }
    return true;
  }

  /** The dimension whose limit a charge exceeds for good, or null. */
  public static Dimension neverFits(QuotaState quota, Amounts charge) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.limits(d) && charge.get(d) > quota.largest(d)) {
        return d;
      }
    }
    return null;
  }

  /** Why a charge never fits, for people. */
  public static String neverFitsDetail(QuotaState quota, Dimension d, Amounts charge) {
    return "Expected at most "
        + quota.largest(d)
        + " "
        + d.wireName()
        + ", all that the limit can ever hold, but the call needs "
        + charge.get(d)
        + "; make it smaller";
  }

  /**
   * When the head can go if nothing else happens; {@link Long#MAX_VALUE} if time alone does not
   * help.
   */
  public static long headDueMs(QuotaState quota, long atMs) {
    Waiter head = quota.order().head();
    if (head != null && quota.isExhausted(atMs)) {
      return atMs; // Who is still in line leaves it.
    }
    if (head == null || quota.removed() || quota.definition().state() == State.PAUSED) {
      return Long.MAX_VALUE;
    }
    boolean held = quota.holdReason(atMs) != null;
    long due = held ? quota.holdUntilMs() : atMs;
    due = Math.max(due, Breaker.grantDueMs(quota, atMs));
    due = Math.max(due, Ramps.grantDueMs(quota, atMs));
    Amounts charge =
        Charges.estimated(
            head.request(),
            head.forecast(),
            quota.policy(),
            Charges.coldCache(head.request(), atMs));
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (!quota.limits(d)) {
        continue;
      }
      long need = Math.max(0, quota.need(d, head.request().role(), charge));
      if (d.refills()) {
        due = Math.max(due, Amounts.saturatedAdd(atMs, quota.msUntil(d, need, atMs)));
      } else if (quota.usable(d, atMs) < need) {
        return Long.MAX_VALUE;
      }
    }
    return due;
  }

  private static void grant(
      Transaction tx, QuotaState quota, Waiter head, Amounts charge, boolean cold) {
    String agent = head.request().agentId();
    String request = head.request().requestId();
    int attempt = head.attempt();
    String leaseId = Identity.leaseId(tx.state().salt(), agent, request, attempt);
    while (quota.lease(leaseId) != null) {
      // An id that was forgotten and came again, while its old lease may still be settled late.
      attempt++;
      leaseId = Identity.leaseId(tx.state().salt(), agent, request, attempt);
    }
    tx.emit(
        new LeaseGranted(
            quota.id(),
            request,
            agent,
            leaseId,
            attempt,
            charge,
            cold,
            tx.nowMs(),
            tx.nowMs() + quota.policy().leaseTtlMs(),
            Math.max(quota.virtualTime(), head.finishTag()),
            head.request().correlation()));
    Breaker.granted(tx, quota, leaseId);
  }
}
