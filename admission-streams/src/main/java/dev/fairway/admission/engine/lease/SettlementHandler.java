package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.DuplicateIgnored;
import dev.fairway.admission.engine.Event.LeaseCancelled;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.SettlementIgnored;
import dev.fairway.admission.engine.Event.Shift;
import dev.fairway.admission.engine.InvalidCommandException;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.alert.Alerts;
import dev.fairway.admission.engine.breaker.Breaker;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.queue.Drain;
import dev.fairway.admission.engine.queue.Eta;
import dev.fairway.admission.engine.queue.RetryAt;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.queue.Weights;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Lease.Status;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Row.Ending;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import dev.fairway.admission.engine.state.Standing;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;
import java.util.Objects;

/**
 * Settles, renews and cancels: each lease changes each bucket once, net, whatever comes how often.
 */
public final class SettlementHandler {
  private final Transaction tx;
  private final Settlement settlement;
  private final long appendedAtMs;

  /** A settlement whose ids are sound; {@code appendedAtMs} is the broker's append time. */
  public SettlementHandler(Transaction tx, Settlement settlement, long appendedAtMs) {
    this.tx = tx;
    QuotaState quota = tx.state().quota(settlement.quotaId());
    this.settlement =
        RefusedCalls.counted(quota, UsageBound.within(quota, SettlementRules.readable(settlement)));
    this.appendedAtMs = appendedAtMs;
  }

  /**
   * Throws if the settlement breaks a rule.
   *
   * @throws InvalidCommandException with what is wrong
   */
  public static void check(Settlement settlement) {
    String violation = SettlementRules.violation(settlement);
    if (violation != null) {
      throw new InvalidCommandException(violation);
    }
  }

  /** Handles it. */
  public void handle() {
    QuotaState quota = tx.state().quota(settlement.quotaId());
    if (quota == null) {
      ignore("UNKNOWN_QUOTA");
    } else if (settlement.outcome() == Outcome.UNLEASED) {
      unleased(quota);
    } else if (settlement.outcome() == Outcome.CANCELLED) {
      cancel(quota);
    } else {
      byLease(quota);
    }
  }

  private void byLease(QuotaState quota) {
    Lease lease = quota.lease(settlement.leaseId());
    if (lease == null) {
      unknownLease();
    } else if (!lease.request().agentId().equals(settlement.agentId())) {
      ignore("NOT_AUTHORISED");
    } else if (lease.status() == Status.SETTLED) {
      duplicate(lease.request().requestId());
    } else if (lease.status() == Status.EXPIRED) {
      late(quota, lease);
    } else if (settlement.outcome() == Outcome.IN_PROGRESS) {
      renew(quota, lease);
    } else {
      settle(quota, lease, false);
    }
  }

  private void unknownLease() {
    RememberedRow past = tx.state().rememberedByLease(settlement.leaseId());
    if (past != null && past.ending() == Ending.SETTLED) {
      duplicate(settlement.requestId());
    } else {
      ignore(past != null ? "LEASE_EXPIRED" : "UNKNOWN_LEASE");
    }
  }

  private void late(QuotaState quota, Lease lease) {
    if (mayBeLate(quota, lease) && settlement.outcome() != Outcome.IN_PROGRESS) {
      settle(quota, lease, true);
    } else {
      ignore("LEASE_EXPIRED");
    }
  }

  private boolean mayBeLate(QuotaState quota, Lease lease) {
    return tx.nowMs() - lease.endedAtMs() <= quota.policy().lateSettlementWindowMs()
        && quota.policy().lateSettlementWindowMs() > 0;
  }

  // ---- a lease lives on

  private void renew(QuotaState quota, Lease lease) {
    Told told = lease.told().and(quota.policy(), settlement, tx.nowMs());
    boolean news = !Objects.equals(told.input(), lease.told().input());
    Amounts adjusted = Amounts.NONE;
    if (news) {
      long output = lease.forecast().outputTokens();
      Amounts actual = Charges.of(quota.policy(), told.input(), output);
      adjusted = ActualUse.adjustment(quota, lease, actual);
    }
    Long cost = ActualUse.costSoFar(quota, lease, told);
    Shift shift = Shifts.atRenewal(tx.state(), quota, lease, told, cost);
    tx.emit(
        new LeaseRenewed(
            quota.id(),
            lease.request().requestId(),
            lease.request().agentId(),
            lease.leaseId(),
            adjusted,
            told,
            Math.max(lease.expiresAtMs(), tx.nowMs() + quota.policy().leaseTtlMs()),
            SettlementRules.sendDelayMs(settlement.signal(), lease.grantedAtMs(), tx.nowMs()),
            shift,
            ActualUse.tagShift(lease, cost),
            cost));
    CacheClaims.check(tx, quota, quota.lease(lease.leaseId()), settlement);
    Heed.headers(tx, quota, lease.leaseId(), settlement);
    Kind kind = SettlementRules.kind(quota.policy(), settlement);
    Long waitMs = SettlementRules.waitMs(settlement.signal());
    Breaker.told(tx, quota, lease, settlement, kind, waitMs);
    Drain.run(tx, quota);
    Alerts.review(tx, quota);
  }

  // ---- a lease ends

  private void settle(QuotaState quota, Lease lease, boolean late) {
    Settlement heard = lease.told().heardAtEnd(quota.policy(), settlement, tx.nowMs());
    Settlement end = SettlementRules.asItCounts(quota.policy(), lease, heard);
    // Whoever calls without a lease retries by itself.
    boolean unleased = settlement.outcome() == Outcome.UNLEASED;
    Moves moves = Moves.atEnd(tx.state(), quota, lease, end);
    tx.emit(
        new LeaseSettled(
            quota.id(),
            lease.request().requestId(),
            lease.request().agentId(),
            lease.leaseId(),
            unleased ? Outcome.UNLEASED : end.outcome(),
            moves.actual(),
            moves.adjusted(),
            moves.tagShift(),
            late,
            SettlementRules.sendDelayMs(end.signal(), lease.grantedAtMs(), tx.nowMs()),
            ActualUse.learnedEstimate(quota.policy(), end),
            ActualUse.learnedOutput(end),
            moves.shift()));
    CacheClaims.check(tx, quota, quota.lease(lease.leaseId()), end);
    Heed.settled(tx, quota, lease, end, late);
    boolean requeued = end.outcome() == Outcome.RATE_LIMITED && settlement.requeue() && !unleased;
    if (requeued) {
      requeue(quota, lease, SettlementRules.kind(quota.policy(), end));
    }
    Drain.run(tx, quota);
    tellRequeued(quota, lease);
    Alerts.review(tx, quota);
  }

  // ---- the same call again

  private void requeue(QuotaState quota, Lease lease, Kind kind) {
    String identity = Identity.ofRequest(lease.request().agentId(), lease.request().requestId());
    if (tx.state().waiter(identity) != null || tx.state().openLeaseOf(identity) != null) {
      return; // The id was forgotten and came again: what it stands for now goes on.
    }
    if (kind == Kind.NEVER_FITS) {
      refuse(
          lease,
          RejectReason.NEVER_FITS,
          "The provider says that the call is larger than its limit; make it smaller",
          null);
      return;
    }
    int attempt = lease.attempt() + 1;
    CallBudgets.Spent spent =
        CallBudgets.spent(
            tx.state(),
            quota,
            lease.request().agentId(),
            lease.request().taskId(),
            new Attempts(attempt, lease.standing().budgetTask(), null, null));
    if (spent != null) {
      refuse(
          lease,
          RejectReason.BUDGET_SPENT,
          spent.detail(),
          RetryAt.floored(spent.retryAtMs(), tx.nowMs()));
      return;
    }
    boolean cold = Charges.coldCache(quota.policy(), lease.request(), tx.nowMs());
    Amounts demand = Charges.demand(lease.request(), lease.forecast(), quota.policy(), cold);
    Standing standing =
        lease.standing().under(Claims.of(quota.policy().order(), lease.request()), demand).again();
    boolean moved = !standing.tenant().equals(lease.standing().tenant());
    boolean anew = moved || lease.startTag() == Lease.NO_PLACE;
    long startTag =
        anew ? quota.startTag(standing.tenant(), lease.request().agentId()) : lease.startTag();
    int weight =
        quota.policy().rules().changesWeights()
            ? Weights.milli(tx.state(), quota, lease.request(), standing, attempt)
            : lease.weightMilli();
    Amounts charge = Charges.estimated(lease.request(), lease.forecast(), quota.policy(), cold);
    tx.emit(
        new LeaseEnqueued(
            new Waiter(
                lease.request(),
                lease.contentHash(),
                lease.appendedAtMs(),
                attempt,
                quota.nextArrival(),
                tx.nowMs(),
                lease.deadlineMs(),
                charge,
                lease.cost(),
                weight,
                startTag,
                Tags.finish(startTag, lease.cost(), weight),
                null,
                null,
                null,
                lease.forecast(),
                standing,
                0),
            null));
  }

  private void refuse(Lease lease, RejectReason reason, String detail, Long retryAtMs) {
    tx.emit(
        new LeaseRejected(
            lease.request().quotaId(),
            lease.request().requestId(),
            lease.request().agentId(),
            reason,
            detail,
            retryAtMs,
            null,
            lease.contentHash(),
            lease.request().correlation(),
            lease.attempt() + 1,
            lease.standing().budgetTask(),
            null));
  }

  private void tellRequeued(QuotaState quota, Lease lease) {
    String identity = Identity.ofRequest(lease.request().agentId(), lease.request().requestId());
    Waiter waiter = tx.state().waiter(identity);
    if (settlement.requeue() && waiter != null) {
      tx.emit(Eta.told(tx.state(), quota, waiter, tx.nowMs(), waiter.request().correlation()));
    }
  }

  // ---- without a lease

  private void cancel(QuotaState quota) {
    String identity = Identity.ofRequest(settlement.agentId(), settlement.requestId());
    Waiter waiter = tx.state().waiter(identity);
    String leaseId = tx.state().openLeaseOf(identity);
    if (waiter != null && waiter.request().quotaId().equals(quota.id())) {
      tx.emit(cancelled(quota, true));
      Drain.run(tx, quota);
    } else if (leaseId != null && quota.lease(leaseId) != null) {
      new SettlementHandler(tx, ended(quota, leaseId), appendedAtMs).byLease(quota);
    } else if (waiter != null || leaseId != null || tx.state().remembered(identity) != null) {
      duplicate(settlement.requestId());
    } else if (tx.nowMs() - appendedAtMs > KeyState.REMEMBER_MS) {
      ignore("STALE"); // It cannot overtake a request that would still be taken.
    } else {
      tx.emit(cancelled(quota, false));
    }
  }

  private LeaseCancelled cancelled(QuotaState quota, boolean wasWaiting) {
    return new LeaseCancelled(quota.id(), settlement.requestId(), settlement.agentId(), wasWaiting);
  }

  /**
   * The grant overtook the cancel. Whoever gives up before reading it has not sent; a call that is
   * known to have been sent was cancelled on its way, which is no failure to be retried.
   */
  private Settlement ended(QuotaState quota, String leaseId) {
    Settlement notSent =
        new Settlement(
            leaseId,
            settlement.requestId(),
            settlement.agentId(),
            settlement.quotaId(),
            Outcome.NOT_SENT,
            settlement.usage(),
            false,
            quota.policy().rules().has(Rule.STRICT_REPORTS) ? settlement.signal() : null);
    return SettlementRules.givesBackWhatWasSent(quota.policy(), quota.lease(leaseId), notSent)
        ? SettlementRules.as(Outcome.CANCELLED, notSent)
        : notSent;
  }

  private void unleased(QuotaState quota) {
    String identity = Unleased.identity(quota, settlement.agentId(), settlement.requestId());
    KeyState state = tx.state();
    boolean known =
        state.waiter(identity) != null
            || state.openLeaseOf(identity) != null
            || state.remembered(identity) != null;
    if (known) {
      duplicate(settlement.requestId());
    } else if (tx.nowMs() - appendedAtMs > KeyState.REMEMBER_MS) {
      ignore("STALE");
    } else if (unsettledLease(quota) != null) {
      Lease lease = unsettledLease(quota);
      Settlement report = SettlementRules.of(lease.leaseId(), settlement);
      new SettlementHandler(tx, report, appendedAtMs)
          .settle(quota, lease, lease.status() == Status.EXPIRED);
    } else {
      withdraw(quota);
      tx.emit(Unleased.charged(quota, settlement, tx.nowMs()));
      if (quota.policy().rules().has(Rule.STRICT_REPORTS)) {
        Heed.unleased(tx, quota, settlement);
        Drain.run(tx, quota);
        Alerts.review(tx, quota);
      }
    }
  }

  /**
   * The lease of its own request, where one was granted all the same and nobody has told how that
   * ended: it is the same call, and what the lease holds for it is settled by what it used.
   */
  private Lease unsettledLease(QuotaState quota) {
    String request = Identity.ofRequest(settlement.agentId(), settlement.requestId());
    RememberedRow past = tx.state().remembered(request);
    String leaseId = tx.state().openLeaseOf(request);
    if (leaseId == null && past != null && past.ending() == Ending.EXPIRED) {
      leaseId = past.leaseId();
    }
    Lease lease = leaseId == null ? null : quota.lease(leaseId);
    boolean unsettled =
        lease != null
            && (lease.status() == Status.OPEN
                || (lease.status() == Status.EXPIRED && mayBeLate(quota, lease)));
    return unsettled ? lease : null;
  }

  /** Its own request, where it still waits, is not another call. Nobody goes before it counts. */
  private void withdraw(QuotaState quota) {
    String request = Identity.ofRequest(settlement.agentId(), settlement.requestId());
    Waiter waiter = tx.state().waiter(request);
    if (waiter != null && waiter.request().quotaId().equals(quota.id())) {
      tx.emit(cancelled(quota, true));
    }
  }

  /** A call that is over holds no slot. */
  static Amounts withoutSlot(Amounts charge) {
    return charge.has(Dimension.CONCURRENT_REQUESTS)
        ? charge.with(Dimension.CONCURRENT_REQUESTS, 0)
        : charge;
  }

  // ---- what changes nothing

  private void duplicate(String requestId) {
    tx.emit(
        new DuplicateIgnored(
            settlement.quotaId(), requestId, settlement.agentId(), settlement.leaseId()));
  }

  private void ignore(String reason) {
    tx.emit(
        new SettlementIgnored(
            settlement.quotaId(),
            settlement.requestId(),
            settlement.agentId(),
            settlement.leaseId(),
            reason));
  }
}
