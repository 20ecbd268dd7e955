package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.Order;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.breaker.Breaker;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.queue.Turns.Turn;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import dev.fairway.admission.engine.state.Taken;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;

/** Grants to whose turn it is, as long as it is somebody's. */
public final class Drain {

  private Drain() {}

  /** Grants in a quota, and in those that are drained together with it. */
  public static void run(Transaction tx, QuotaState quota) {
    for (QuotaState each : tx.state().sharing(quota)) {
      Departures.whileExhausted(tx, each);
    }
    Turn turn = next(tx, quota);
    while (turn != null) {
      Waiter waiter = turn.waiter();
      Limits.Never never =
          turn.takes() == null ? null : Limits.neverFits(turn.quota(), waiter, turn.takes());
      if (turn.takes() == null) {
        Departures.alsoUndefined(tx, turn.quota(), waiter);
      } else if (waiter.deadlineMs() < tx.nowMs()) {
        Departures.atDeadline(tx, turn.quota(), waiter);
      } else if (never != null) {
        Departures.tooLarge(tx, turn.quota(), waiter, never);
      } else {
        grant(tx, turn);
      }
      turn = next(tx, quota);
    }
  }

  /**
   * Whether a request that is not in line yet would go at once, so that the length of the line is
   * no reason to send it away.
   */
  public static boolean wouldGo(Transaction tx, QuotaState quota, Waiter waiter, Takes takes) {
    return new Turns(tx.state(), quota, tx.nowMs()).wouldGo(quota, waiter, takes);
  }

  private static Turn next(Transaction tx, QuotaState quota) {
    return tx.hasRoom() ? new Turns(tx.state(), quota, tx.nowMs()).next() : null;
  }

  /**
   * When somebody can go if nothing else happens; {@link Long#MAX_VALUE} if time alone does not
   * help.
   */
  public static long dueMs(KeyState key, QuotaState quota, long atMs) {
    for (QuotaState each : key.sharing(quota)) {
      if (each.order().size() > 0 && Departures.exhausted(each, atMs) != null) {
        return atMs; // Who is still in line leaves it.
      }
    }
    Turns turns = new Turns(key, quota, atMs);
    return turns.next() != null ? atMs : turns.dueMs();
  }

  private static void grant(Transaction tx, Turn turn) {
    QuotaState quota = turn.quota();
    Waiter waiter = turn.waiter();
    String agent = waiter.request().agentId();
    String request = waiter.request().requestId();
    int attempt = waiter.attempt();
    // Else a report of a request that was forgotten may settle another of the same id.
    boolean apart = quota.policy().rules().has(Rule.STRICT_REPORTS);
    Long appendedAtMs = apart ? (Long) waiter.appendedAtMs() : null;
    String leaseId = Identity.leaseId(tx.state().salt(), agent, request, attempt, appendedAtMs);
    while (quota.lease(leaseId) != null) {
      // The same record, forgotten and read again, while its old lease may still be settled late.
      attempt++;
      leaseId = Identity.leaseId(tx.state().salt(), agent, request, attempt, appendedAtMs);
    }
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    boolean inOrder = turn.lane() == Lane.IN_ORDER;
    tx.emit(
        new LeaseGranted(
            quota.id(),
            request,
            agent,
            leaseId,
            attempt,
            turn.takes().own(),
            turn.takes().cold(),
            tx.nowMs(),
            tx.nowMs() + quota.policy().leaseTtlMs(),
            inOrder ? Math.max(tenant.virtualTime(), waiter.finishTag()) : tenant.virtualTime(),
            waiter.request().correlation(),
            order(turn, tenant),
            taken(turn, tenant, tx.nowMs())));
    Breaker.granted(tx, quota, leaseId);
    for (Takes.Share share : turn.takes().also()) {
      Breaker.granted(tx, share.quota(), leaseId);
    }
  }

  /**
   * Who passes moves no virtual time: those that it passed come later, and at no smaller tag. What
   * it takes counts in its tenant's share all the same: the tenant goes on from where it stands,
   * and not from the virtual time, which may be ahead of those that wait by what others' heads
   * take. One that waited for a ceiling of its own was no part of that order meanwhile.
   */
  private static Order order(Turn turn, TenantState tenant) {
    QuotaState quota = turn.quota();
    Waiter passed = turn.passed();
    boolean levels = quota.policy().order().hasTenants();
    boolean inOrder = turn.lane() == Lane.IN_ORDER;
    long end =
        levels
            ? Amounts.saturatedAdd(tenant.tag(), tenant.length(turn.waiter().cost()))
            : turn.waiter().finishTag();
    long time = inOrder ? Math.max(quota.virtualTime(), end) : quota.virtualTime();
    return new Order(
        turn.lane(),
        tenant.name(),
        turn.waiter().standing().leaseClass(),
        passed == null ? null : passed.request().agentId(),
        passed == null ? null : passed.request().requestId(),
        time,
        !levels ? 0 : inOrder && tenant.ceiling() != null ? time : end);
  }

  private static Taken taken(Turn turn, TenantState tenant, long atMs) {
    QuotaState quota = turn.quota();
    boolean outOfReserve = turn.lane() == Lane.RESERVE;
    Amounts reserve = Amounts.NONE;
    String reserveClass = Fit.reserveClass(quota, turn.waiter());
    if (reserveClass != null) {
      ShareBuckets bucket = quota.reserves().of(reserveClass);
      for (Dimension d : Dimension.values()) {
        if (bucket.has(d) && turn.takes().own().has(d)) {
          long charge = turn.takes().own().get(d);
          long there = Math.max(0, bucket.usable(quota, d, atMs));
          reserve = reserve.with(d, outOfReserve ? charge : Math.min(charge, there));
        }
      }
    }
    Amounts ceiling = tenant.ceiling() == null ? Amounts.NONE : turn.takes().own();
    Waiter passed = turn.passed();
    return new Taken(
        turn.takes().alsoById(),
        reserve,
        ceiling,
        outOfReserve,
        passed == null
            ? null
            : Identity.ofRequest(passed.request().agentId(), passed.request().requestId()),
        turn.lane() == Lane.BACKFILL_SMALL);
  }
}
