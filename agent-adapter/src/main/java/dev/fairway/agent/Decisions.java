package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.Queued;
import dev.fairway.schemas.RejectReason;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a decision means: whether it is news, for which of the calls that wait, and what becomes of
 * that call. Guarded by the {@link CallBook}, under whose monitor everything here runs.
 */
final class Decisions {
  private static final Logger log = LoggerFactory.getLogger(Decisions.class);

  /** How often one call loses a grant that expired before it was read, until it fails. */
  static final int EXPIRED_GRANTS_MAX = 3;

  /** What is done with calls, by who holds them. */
  interface Calls {
    /** The call that waits under this id, or null. */
    PendingCall waiting(String requestId);

    /** A call may go. */
    void granted(PendingCall call, Grant grant, long expiresAtMs);

    /** A call is over. */
    void rejected(PendingCall call, AdmissionException why);

    /**
     * A call stands in line.
     *
     * @param silentForMs how long it may hear nothing more
     */
    void queued(PendingCall call, QueueUpdate update, long silentForMs);

    /** Asks for a call by a request of its own. */
    void askAgain(PendingCall call);
  }

  private final ClientContext context;
  private final String ownRequests;
  private final SilentSettlements silent;
  private final SafeCapacities safeCapacities;
  private final SilentKeys silentKeys;
  private final Handover handover;
  private final Calls calls;
  private final DecisionMemory memory = new DecisionMemory();

  /**
   * Nothing came in yet.
   *
   * @param ownRequests how the ids begin that this client gives to requests
   */
  Decisions(
      ClientContext context,
      String ownRequests,
      SilentSettlements silent,
      SafeCapacities safeCapacities,
      SilentKeys silentKeys,
      Handover handover,
      Calls calls) {
    this.context = context;
    this.ownRequests = ownRequests;
    this.silent = silent;
    this.safeCapacities = safeCapacities;
    this.silentKeys = silentKeys;
    this.handover = handover;
    this.calls = calls;
  }

  /** Whether that request was rejected: coming back for it repeats nothing that was sent. */
  boolean isRejected(String requestId) {
    return memory.isRejected(requestId);
  }

  /** Nobody waits for this call any more: its grant, should it still come, is given back. */
  void gaveUp(PendingCall call) {
    memory.giveUp(call);
  }

  /** A decision came in. */
  void handle(Decision decision, long receivedAtMs) {
    if (!context.config().speaksFor(decision.getAgentId())) {
      context.counters().foreignReplies.increment();
      return;
    }
    CoordinatorClock clock = memory.observe(decision, receivedAtMs);
    safeCapacities.note(decision, isOwn(decision), clock, receivedAtMs);
    if (silentKeys.heard(decision.getQuota())) {
      context.timers().execute(context.reports()::sendKept);
    }
    if (memory.isSeen(decision)) {
      context.counters().duplicateReplies.increment();
      return;
    }
    PendingCall waiting = calls.waiting(decision.getRequestId());
    if (waiting == null || !waiting.agentId().equals(decision.getAgentId())) {
      onUnexpected(decision);
      return;
    }
    memory.see(decision);
    if (!waiting.advance(decision.getEpoch(), decision.getSequence())) {
      context.counters().duplicateReplies.increment();
      return;
    }
    DecisionStatus status = decision.getStatus();
    if (status == DecisionStatus.GRANTED && decision.getGranted() != null) {
      onGrant(waiting, decision.getGranted(), clock, receivedAtMs);
    } else if (status == DecisionStatus.QUEUED && decision.getQueued() != null) {
      onQueued(waiting, decision.getQueued());
    } else if (status == DecisionStatus.REJECTED && decision.getRejected() != null) {
      onReject(waiting, decision);
    } else {
      context.counters().unreadableReplies.increment();
    }
  }

  /** Whether it is on a request that this client made, or one before it with its handover file. */
  private boolean isOwn(Decision decision) {
    String requestId = decision.getRequestId();
    return requestId.startsWith(ownRequests)
        || handover.isInherited(requestId)
        || calls.waiting(requestId) != null
        || memory.isSeen(decision)
        || memory.isGivenUp(decision);
  }

  /** A decision that the client before this one would have read, had it not been killed. */
  void missed(Decision decision) {
    if (context.config().speaksFor(decision.getAgentId()) && !memory.isSeen(decision)) {
      onUnexpected(decision);
    }
  }

  private void onUnexpected(Decision decision) {
    boolean inherited = handover.isInherited(decision.getRequestId());
    if (!inherited && !memory.isGivenUp(decision)) {
      context.counters().foreignReplies.increment();
      return;
    }
    memory.see(decision);
    if (inherited && decision.getQueued() != null) {
      silent.cancel(decision.getAgentId(), decision.getQuota(), decision.getRequestId());
    }
    if (decision.getGranted() != null) {
      context.counters().returnedGrants.increment();
      silent.giveBack(
          decision.getAgentId(),
          decision.getQuota(),
          decision.getRequestId(),
          decision.getGranted());
    }
  }

  private void onGrant(
      PendingCall waiting, Grant grant, CoordinatorClock clock, long receivedAtMs) {
    if (grant.getAttempt() < waiting.attemptMin) {
      context.counters().duplicateReplies.increment();
      return;
    }
    long expiresAtMs =
        clock.localExpiryMs(
            grant.getExpiresAtMs(), grant.getTtlMs(), waiting.sentAtMs, receivedAtMs);
    if (expiresAtMs <= context.timers().nowMs()) {
      context.counters().lateGrants.increment();
      silent.giveBack(waiting.agentId(), waiting.call.quota(), waiting.requestId(), grant);
      onExpiredGrant(waiting);
      return;
    }
    calls.granted(waiting, grant, expiresAtMs);
  }

  /**
   * A grant that expired before it was read must not be used. The call asks again as a request of
   * its own for as long as its timeout and {@link #EXPIRED_GRANTS_MAX} allow: nothing was sent, so
   * it is no retry; after a 429 it is, and says so.
   */
  private void onExpiredGrant(PendingCall waiting) {
    waiting.expiredGrants++;
    if (waiting.expiredGrants >= EXPIRED_GRANTS_MAX) {
      calls.rejected(waiting, Failures.expired(waiting));
      return;
    }
    log.warn(
        "Expected to read the grant of request {} before it expired, but did not; the call asks"
            + " again.",
        waiting.requestId());
    calls.askAgain(waiting);
  }

  private void onQueued(PendingCall waiting, Queued queued) {
    QueueUpdate update =
        new QueueUpdate(
            queued.getPosition(),
            Duration.ofMillis(queued.getEtaMs()),
            Optional.ofNullable(queued.getEtaP90Ms()).map(Duration::ofMillis),
            Optional.ofNullable(queued.getWaitsFor()));
    long etaMs = Math.max(queued.getEtaMs(), update.etaP90().map(Duration::toMillis).orElse(0L));
    calls.queued(waiting, update, Math.min(etaMs, Integer.MAX_VALUE));
  }

  private void onReject(PendingCall waiting, Decision decision) {
    if (decision.getRejected().getReason() == RejectReason.LEASE_EXPIRED) {
      // The grant got lost on its way, and this answers a later copy of the request.
      onExpiredGrant(waiting);
      return;
    }
    memory.reject(decision.getRequestId());
    calls.rejected(waiting, Failures.rejected(waiting, decision));
  }
}
