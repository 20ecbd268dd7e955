package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.Decision;
import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.RequestIgnored;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.queue.Departures;
import dev.fairway.admission.engine.queue.Drain;
import dev.fairway.admission.engine.queue.Eta;
import dev.fairway.admission.engine.queue.Limits;
import dev.fairway.admission.engine.queue.RetryAt;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.queue.Weights;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Row.Ending;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import dev.fairway.admission.engine.state.Standing;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers a lease request: GRANT, QUEUED or REJECT. A grant out of hand and one out of the queue
 * are the same code: push, then drain.
 */
public final class RequestHandler {
  private final Transaction tx;
  private final LeaseRequest request;
  private final long appendedAtMs;
  private final String contentHash;
  private Attempts attempts;

  /**
   * A request whose ids are sound.
   *
   * @param appendedAtMs broker's append time
   */
  public RequestHandler(Transaction tx, LeaseRequest request, long appendedAtMs) {
    this.tx = tx;
    this.request = request;
    this.appendedAtMs = appendedAtMs;
    this.contentHash = Identity.contentOf(request);
    this.attempts = Attempts.first(request);
  }

  /** Rejects a request that breaks a rule; nothing is remembered of it. */
  public void invalid(String violation) {
    tell(RejectReason.INVALID, violation, null);
  }

  /** Decides. */
  public void handle() {
    if (!repeat() && !stale()) {
      QuotaState quota = tx.state().quota(request.quotaId());
      if (quota == null || quota.removed()) {
        tell(
            RejectReason.UNKNOWN_QUOTA,
            "Expected a quota that is defined, but there is no '"
                + request.quotaId()
                + "'; define it, or correct the request",
            null);
      } else if (quota.also() == null) {
        tell(
            RejectReason.UNKNOWN_QUOTA,
            "Expected every quota that '"
                + quota.id()
                + "' takes from too to be defined, but of "
                + quota.policy().order().also()
                + " one is not; define it, or take it out of also",
            null);
      } else {
        attempts = Attempts.of(tx.state(), quota.policy(), request);
        if (!refused(quota)) {
          admit(quota);
        }
      }
    }
  }

  // ---- the same request again

  private boolean repeat() {
    KeyState state = tx.state();
    String identity = Identity.ofRequest(request.agentId(), request.requestId());
    Waiter waiter = state.waiter(identity);
    if (waiter != null) {
      return repeated(waiter.contentHash(), queued(waiter));
    }
    String leaseId = state.openLeaseOf(identity);
    if (leaseId != null) {
      Lease lease = openLease(state, leaseId);
      return repeated(lease.contentHash(), granted(lease));
    }
    RememberedRow past = state.remembered(identity);
    if (past == null) {
      return false;
    }
    if (past.ending() == Ending.CANCELLED && past.contentHash() == null) {
      // Its cancel came first, and nobody waits for an answer.
      tx.emit(new RequestIgnored(request.quotaId(), request.requestId(), request.agentId()));
      return true;
    }
    return repeated(past.contentHash(), ended(past));
  }

  private boolean repeated(String knownContent, Decision current) {
    if (knownContent != null && !knownContent.equals(contentHash)) {
      tell(
          RejectReason.INVALID,
          "Expected the same content under request id '"
              + request.requestId()
              + "' as before, but it differs; a new call needs a new id",
          null);
    } else {
      tx.emit(new DecisionRepeated(current));
    }
    return true;
  }

  private static Lease openLease(KeyState state, String leaseId) {
    for (QuotaState quota : state.quotas()) {
      Lease lease = quota.lease(leaseId);
      if (lease != null) {
        return lease;
      }
    }
    throw new IllegalStateException("Expected lease " + leaseId + " in a quota of its key");
  }

  private LeaseQueued queued(Waiter waiter) {
    QuotaState quota = tx.state().quota(waiter.request().quotaId());
    return Eta.told(tx.state(), quota, waiter, tx.nowMs(), request.correlation());
  }

  private LeaseGranted granted(Lease lease) {
    QuotaState quota = tx.state().quota(lease.request().quotaId());
    return new LeaseGranted(
        quota.id(),
        lease.request().requestId(),
        lease.request().agentId(),
        lease.leaseId(),
        lease.attempt(),
        lease.charged(),
        lease.coldCache(),
        lease.grantedAtMs(),
        lease.expiresAtMs(),
        quota.virtualTime(),
        request.correlation(),
        new Event.Order(
            Event.Lane.IN_ORDER,
            lease.standing().tenant(),
            lease.standing().leaseClass(),
            null,
            null,
            quota.virtualTime(),
            0),
        lease.taken());
  }

  private LeaseRejected ended(RememberedRow past) {
    RejectReason reason = past.reason();
    String detail =
        "The same request was rejected before, for this reason; to ask again, use a new id";
    if (past.ending() == Ending.EXPIRED) {
      reason = RejectReason.LEASE_EXPIRED;
      detail = "The lease of this request expired; a new call needs a new id";
    } else if (past.ending() != Ending.REJECTED) {
      reason = RejectReason.ALREADY_SETTLED;
      detail =
          past.ending() == Ending.CANCELLED
              ? "This request was cancelled while it waited; a new call needs a new id"
              : "The call of this request is settled; a new call needs a new id";
    }
    // That time may be over by now.
    Long retryAtMs = RetryAt.floored(past.retryAtMs(), tx.nowMs());
    return rejection(reason, detail, retryAtMs, null, null, null);
  }

  // ---- refusals that need no place in the queue

  private boolean stale() {
    if (tx.nowMs() - appendedAtMs <= KeyState.REMEMBER_MS) {
      return false;
    }
    tell(
        RejectReason.STALE,
        "Expected a request at most "
            + KeyState.REMEMBER_MS
            + " ms old, but it was appended "
            + (tx.nowMs() - appendedAtMs)
            + " ms ago; ask again with a new id",
        null);
    return true;
  }

  private boolean refused(QuotaState quota) {
    CallBudgets.Spent spent =
        CallBudgets.spent(tx.state(), quota, request.agentId(), request.taskId(), attempts);
    List<QuotaState> all = new ArrayList<>(quota.also());
    all.add(0, quota);
    for (QuotaState each : all) {
      if (each.definition().state() == State.DRAINING) {
        reject(
            RejectReason.QUOTA_DRAINING,
            "Quota '" + each.id() + "' is draining and takes no new requests",
            null);
        return true;
      }
    }
    if (spent != null) {
      reject(
          RejectReason.BUDGET_SPENT,
          spent.detail(),
          RetryAt.floored(spent.retryAtMs(), tx.nowMs()));
      return true;
    }
    for (QuotaState each : all) {
      if (each.isExhausted(tx.nowMs())) {
        reject(
            RejectReason.QUOTA_EXHAUSTED,
            Departures.exhaustedDetail(each, tx.nowMs()),
            RetryAt.floored(each.holdUntilMs(), tx.nowMs()));
        return true;
      }
    }
    return false;
  }

  // ---- into the queue, and out of it if nobody is ahead

  private void admit(QuotaState quota) {
    Claims claims = Claims.of(quota.policy().order(), request);
    Forecast forecast = Charges.forecast(request, claims, quota);
    Takes takes = Takes.of(quota, request, forecast, tx.nowMs());
    Limits.Never never = Limits.neverFits(quota, claims.tenant(), takes);
    if (never != null) {
      reject(never.reason(), never.detail(), RetryAt.floored(never.retryAtMs(), tx.nowMs()));
      return;
    }
    Waiter waiter = waiter(quota, takes, claims, forecast);
    if (waiter.deadlineMs() < tx.nowMs()) {
      reject(
          RejectReason.DEADLINE_PASSED,
          "The deadline passed " + (tx.nowMs() - waiter.deadlineMs()) + " ms ago",
          null);
      return;
    }
    if (Drain.wouldGo(tx, quota, waiter, takes) || !rejectedFromQueue(quota, waiter)) {
      push(quota, waiter);
    }
  }

  private Waiter waiter(QuotaState quota, Takes takes, Claims claims, Forecast forecast) {
    QuotaPolicy policy = quota.policy();
    Amounts demand = Charges.demand(request, forecast, policy, takes.cold());
    Standing standing = Standing.of(claims, attempts.budgetTask(), demand);
    int weight = Weights.milli(tx.state(), quota, request, standing, attempts.attempt());
    long cost = Charges.estimatedCost(request, forecast, quota, takes.cold());
    long startTag = startTag(quota, claims.tenant());
    Long deadline = request.deadlineMs();
    Amounts charge = takes.own();
    return new Waiter(
        request,
        contentHash,
        appendedAtMs,
        attempts.attempt(),
        quota.nextArrival(),
        tx.nowMs(),
        deadline != null
            ? deadline
            : Math.min(appendedAtMs, tx.nowMs())
                + 2 * Eta.effectiveMaxWaitMs(quota, claims.tenant(), charge, demand),
        charge,
        cost,
        weight,
        startTag,
        Tags.finish(startTag, cost, weight),
        null,
        null,
        null,
        forecast,
        standing,
        0);
  }

  /**
   * Who comes back after a REJECT to the same tenant starts where it would have started then, but
   * behind what its agent was served or has in line since. In another tenant it comes anew.
   */
  private long startTag(QuotaState quota, String tenant) {
    if (request.retryOf() != null) {
      RememberedRow past =
          tx.state().remembered(Identity.ofRequest(request.agentId(), request.retryOf()));
      if (past != null
          && past.quotaId().equals(quota.id())
          && tenant.equals(past.tenant())
          && Attempts.keeps(past, tx.nowMs())) {
        return quota.policy().rules().has(Rule.STRICT_PLACES)
            ? quota.tenant(tenant).startTag(request.agentId(), past.keptTag())
            : past.keptTag();
      }
    }
    return quota.startTag(tenant, request.agentId());
  }

  private boolean rejectedFromQueue(QuotaState quota, Waiter waiter) {
    long eta = Eta.leastMs(tx.state(), quota, waiter, tx.nowMs());
    Long whenFull = RetryAt.floored(tx.nowMs() + eta, tx.nowMs());
    int longest = quota.policy().queueMax();
    int longestOfAgent = quota.policy().queueMaxPerAgent();
    if (quota.order().size() >= longest) {
      reject(
          quota,
          RejectReason.QUEUE_FULL,
          "The quota's queue is full (" + longest + ")",
          whenFull,
          waiter);
      return true;
    }
    if (quota.waitingOf(request.agentId()) >= longestOfAgent) {
      reject(
          quota,
          RejectReason.QUEUE_FULL,
          "The agent has its " + longestOfAgent + " requests in the queue",
          whenFull,
          waiter);
      return true;
    }
    long longestWait = Eta.effectiveMaxWaitMs(quota, waiter);
    if (eta > longestWait) {
      boolean ceiling = Eta.atCeiling(quota, waiter, eta, tx.nowMs());
      reject(
          quota,
          ceiling ? RejectReason.TENANT_CEILING : RejectReason.QUEUE_WAIT_TOO_LONG,
          "The wait would be "
              + eta
              + " ms"
              + (ceiling ? " for the share of tenant '" + waiter.standing().tenant() + "'" : "")
              + ", the longest promised is "
              + longestWait
              + " ms",
          tx.nowMs() + eta,
          waiter);
      return true;
    }
    return false;
  }

  private void push(QuotaState quota, Waiter waiter) {
    tx.emit(new LeaseEnqueued(waiter, attempts.retries()));
    Drain.run(tx, quota);
    String identity = Identity.ofRequest(request.agentId(), request.requestId());
    Waiter waiting = tx.state().waiter(identity);
    if (waiting != null) {
      tx.emit(queued(waiting));
    }
  }

  // ---- rejections

  /** Told and remembered: the same request again gets the same answer. */
  private void reject(RejectReason reason, String detail, Long retryAtMs) {
    tx.emit(rejection(reason, detail, retryAtMs, null, contentHash, null));
  }

  private void reject(
      QuotaState quota, RejectReason reason, String detail, Long retryAtMs, Waiter waiter) {
    String tenant = waiter.standing().tenant();
    long keptTag = quota.keptTag(tenant, waiter.startTag());
    tx.emit(rejection(reason, detail, retryAtMs, keptTag, contentHash, tenant));
  }

  /** Told and not remembered. */
  private void tell(RejectReason reason, String detail, Long retryAtMs) {
    tx.emit(rejection(reason, detail, retryAtMs, null, null, null));
  }

  private LeaseRejected rejection(
      RejectReason reason,
      String detail,
      Long retryAtMs,
      Long keptTag,
      String content,
      String tenant) {
    return new LeaseRejected(
        request.quotaId(),
        request.requestId(),
        request.agentId(),
        reason,
        detail,
        retryAtMs,
        keptTag,
        content,
        request.correlation(),
        attempts.attempt(),
        attempts.budgetTask(),
        tenant);
  }
}
