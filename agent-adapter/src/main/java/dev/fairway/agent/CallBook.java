package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Queued;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Rejected;
import dev.fairway.schemas.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that wait, and what each decision means for them. One monitor guards everything, and
 * nothing under it blocks or runs the user's code, so the poll thread may call in.
 *
 * <p>A call leaves the book exactly once: by grant, reject, timeout, cancellation, or a send that
 * can never succeed. Whoever removes it also completes it.
 */
final class CallBook {
  private static final Logger log = LoggerFactory.getLogger(CallBook.class);

  /** Decision ids remembered; far more than one poll can deliver twice. */
  static final int SEEN_DECISIONS_MAX = 100_000;

  /** Requests given up whose grant, should it still come, is returned. */
  static final int GIVEN_UP_MAX = 50_000;

  /** Keys whose coordinator's clock is followed. */
  private static final int CLOCKS_MAX = 1_000;

  /** How often one call asks again after a grant that came too late to be used. */
  static final int LATE_GRANTS_MAX = 3;

  private final ClientContext context;
  private final LeaseBook leases;
  private final RequestIds requestIds;

  private final Map<String, PendingCall> pending = new HashMap<>();
  private final Map<String, Boolean> seenDecisions = new BoundedMap<>(SEEN_DECISIONS_MAX);
  private final Map<String, Boolean> givenUp = new BoundedMap<>(GIVEN_UP_MAX);
  private final Map<String, CoordinatorClock> clocks = new BoundedMap<>(CLOCKS_MAX);
  private boolean closed;

  CallBook(ClientContext context, LeaseBook leases, RequestIds requestIds) {
    this.context = context;
    this.leases = leases;
    this.requestIds = requestIds;
  }

  synchronized int pendingCalls() {
    return pending.size();
  }

  /** Sends a request for a call. */
  CompletableFuture<Lease> acquire(LeaseCall call) {
    PendingCall waiting = new PendingCall(call, timeoutOf(call), 1);
    synchronized (this) {
      AdmissionException refusal = refusal();
      if (refusal != null) {
        return CompletableFuture.failedFuture(refusal);
      }
      waiting.request =
          Records.request(context.config().agentId(), requestIds.next(), call, call.retryOf());
      begin(waiting);
      send(waiting);
    }
    return watched(waiting);
  }

  /**
   * Waits for the next attempt of a call that a settlement puts back in line.
   *
   * @param settle sends that settlement, with requeue or, if the call cannot wait here, without
   */
  CompletableFuture<Lease> requeue(PendingCall previous, int attempt, Requeue settle) {
    PendingCall waiting = previous.nextAttempt(attempt);
    synchronized (this) {
      AdmissionException refusal = refusal();
      if (refusal != null) {
        settle.settle(false);
        return CompletableFuture.failedFuture(refusal);
      }
      begin(waiting);
      Requeued requeued = settle.settle(true);
      waiting.requeue = requeued.settlement();
      waiting.lastSend = requeued.sent();
      scheduleResend(waiting, waiting.resendDelayMs);
    }
    return watched(waiting);
  }

  /** How a lease is settled by its requeue. */
  interface Requeue {
    /** Sends the settlement; false: without asking for a requeue. */
    Requeued settle(boolean requeue);
  }

  /** A settlement on its way. */
  record Requeued(Settlement settlement, CompletableFuture<Void> sent) {}

  /** A decision was read. Called by the poll thread. */
  synchronized void onDecision(Decision decision, long receivedAtMs) {
    if (!context.config().agentId().equals(decision.getAgentId())) {
      context.counters().foreignReplies.increment();
      return;
    }
    CoordinatorClock clock =
        clocks.computeIfAbsent(Ids.keyOf(decision.getQuota()), key -> new CoordinatorClock());
    clock.observe(decision.getDecidedAtMs(), receivedAtMs);
    if (seenDecisions.containsKey(decision.getDecisionId())) {
      context.counters().duplicateReplies.increment();
      return;
    }
    PendingCall waiting = pending.get(decision.getRequestId());
    if (waiting == null) {
      onUnexpected(decision);
      return;
    }
    seenDecisions.put(decision.getDecisionId(), true);
    if (!waiting.advance(decision.getEpoch(), decision.getSequence())) {
      context.counters().duplicateReplies.increment();
      return;
    }
    if (decision.getStatus() == DecisionStatus.GRANTED && decision.getGranted() != null) {
      onGrant(waiting, decision.getGranted(), clock, receivedAtMs);
    } else if (decision.getStatus() == DecisionStatus.QUEUED && decision.getQueued() != null) {
      onQueued(waiting, decision.getQueued());
    } else if (decision.getStatus() == DecisionStatus.REJECTED && decision.getRejected() != null) {
      onReject(waiting, decision.getRejected(), decision.getDecidedAtMs());
    } else {
      context.counters().unreadableReplies.increment();
    }
  }

  /** Cancels every call; later ones are refused. */
  void close() {
    List<PendingCall> left;
    synchronized (this) {
      closed = true;
      left = new ArrayList<>(pending.values());
      for (PendingCall waiting : left) {
        giveUp(waiting);
        context.counters().cancellations.increment();
      }
    }
    for (PendingCall waiting : left) {
      fail(waiting, new CancellationException("The admission client was closed."));
    }
  }

  private AdmissionException refusal() {
    AdmissionClientConfig config = context.config();
    if (closed) {
      return new AdmissionException(
          "Expected an open admission client, but it is closed. Start another one.");
    }
    if (pending.size() >= config.pendingCallsMax()) {
      return new AdmissionException(
          "Expected fewer than "
              + config.pendingCallsMax()
              + " waiting calls, but found that many. Wait for some of them, or raise"
              + " pendingCallsMax.");
    }
    if (pending.size() + leases.size() >= config.openLeasesMax()) {
      return new AdmissionException(
          "Expected fewer than "
              + config.openLeasesMax()
              + " waiting calls and open leases, but found that many. Settle or close leases, or"
              + " raise openLeasesMax.");
    }
    return null;
  }

  private Duration timeoutOf(LeaseCall call) {
    return call.timeout() == null ? context.config().callTimeout() : call.timeout();
  }

  private void begin(PendingCall waiting) {
    waiting.sentAtMs = context.timers().nowMs();
    waiting.resendDelayMs = context.config().resendAfter().toMillis();
    waiting.giveUp =
        context.timers().schedule(waiting.timeout.toMillis(), () -> onTimeout(waiting));
    pending.put(waiting.requestId(), waiting);
  }

  private CompletableFuture<Lease> watched(PendingCall waiting) {
    var unused = waiting.future.whenComplete((lease, error) -> onAbandoned(waiting));
    return waiting.future;
  }

  private void send(PendingCall waiting) {
    String requestId = waiting.requestId();
    waiting.lastSend = context.outbox().send(waiting.request);
    var unused =
        waiting.lastSend.whenComplete(
            (sent, error) -> {
              if (error != null) {
                onSendFailed(waiting, requestId, error);
              }
            });
    scheduleResend(waiting, waiting.resendDelayMs);
  }

  private void scheduleResend(PendingCall waiting, long delayMs) {
    if (waiting.resend != null) {
      waiting.resend.cancel();
    }
    waiting.resend = context.timers().schedule(delayMs, () -> onSilence(waiting));
  }

  private synchronized void onSilence(PendingCall waiting) {
    if (pending.get(waiting.requestId()) != waiting) {
      return;
    }
    if (!waiting.lastSend.isDone()) {
      // The producer still tries by itself: another copy behind the first would only be a load.
      scheduleResend(waiting, waiting.resendDelayMs);
      return;
    }
    context.counters().resends.increment();
    waiting.resendDelayMs =
        Math.min(2 * waiting.resendDelayMs, context.config().resendAfterMax().toMillis());
    if (waiting.requeue != null && waiting.lastSend.isCompletedExceptionally()) {
      waiting.lastSend = context.outbox().send(waiting.requeue);
      scheduleResend(waiting, waiting.resendDelayMs);
    } else {
      send(waiting);
    }
  }

  private void onSendFailed(PendingCall waiting, String requestId, Throwable error) {
    if (error instanceof RetriableException) {
      return;
    }
    synchronized (this) {
      if (!pending.remove(requestId, waiting)) {
        return;
      }
      waiting.cancelTimers();
    }
    fail(
        waiting,
        new AdmissionException(
            "Expected to send request "
                + requestId
                + " of quota "
                + waiting.call.quota()
                + ", but it failed: "
                + error
                + ".",
            error));
  }

  private void onTimeout(PendingCall waiting) {
    synchronized (this) {
      if (pending.get(waiting.requestId()) != waiting) {
        return;
      }
      giveUp(waiting);
      context.counters().timeouts.increment();
    }
    fail(
        waiting,
        new AdmissionTimeoutException(
            "Expected a grant of quota "
                + waiting.call.quota()
                + " within "
                + waiting.timeout.toMillis()
                + " ms, but none came; request "
                + waiting.requestId()
                + " is cancelled. `fairway why "
                + waiting.requestId()
                + "` tells what it waited for.",
            waiting.requestId(),
            waiting.timeout));
  }

  /** The future is done; if not by this book, then its holder gave the call up. */
  private synchronized void onAbandoned(PendingCall waiting) {
    if (pending.get(waiting.requestId()) == waiting) {
      giveUp(waiting);
      context.counters().cancellations.increment();
    }
  }

  private void giveUp(PendingCall waiting) {
    pending.remove(waiting.requestId(), waiting);
    waiting.cancelTimers();
    givenUp.put(waiting.requestId(), true);
    context
        .outbox()
        .send(
            Records.cancellation(
                context.config().agentId(), waiting.call.quota(), waiting.requestId()));
  }

  private void onUnexpected(Decision decision) {
    if (givenUp.containsKey(decision.getRequestId())) {
      seenDecisions.put(decision.getDecisionId(), true);
      if (decision.getGranted() != null) {
        context.counters().returnedGrants.increment();
        giveBack(decision.getQuota(), decision.getRequestId(), decision.getGranted());
      }
    } else {
      context.counters().foreignReplies.increment();
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
      onLateGrant(waiting, grant);
      return;
    }
    pending.remove(waiting.requestId());
    waiting.cancelTimers();
    context.counters().grants.increment();
    Lease lease = leases.open(this, waiting, grant, expiresAtMs);
    context
        .completions()
        .execute(
            () -> {
              if (!waiting.future.complete(lease)) {
                context.counters().returnedGrants.increment();
                lease.close();
              }
            });
  }

  /**
   * A grant that was read after it expired must not be used. It is given back, and the call asks
   * again as a request of its own for as long as its timeout and {@link #LATE_GRANTS_MAX} allow:
   * nothing was sent, so it is no retry; after a 429 it is, and says so.
   */
  private void onLateGrant(PendingCall waiting, Grant grant) {
    String requestId = waiting.requestId();
    pending.remove(requestId);
    context.counters().lateGrants.increment();
    giveBack(waiting.call.quota(), requestId, grant);
    waiting.lateGrants++;
    if (waiting.lateGrants >= LATE_GRANTS_MAX) {
      waiting.cancelTimers();
      String detail =
          waiting.lateGrants
              + " grants were read only after they had expired, and were given back. Expected"
              + " delivery within the lease's "
              + grant.getTtlMs()
              + " ms; look at the load of this process and at the dispatcher.";
      fail(
          waiting,
          new LeaseRejectedException(
              waiting.call.quota(), requestId, RejectReason.LEASE_EXPIRED, detail, null));
      return;
    }
    log.warn(
        "Expected to read the grant of request {} before it expired, but read it later; it is given"
            + " back and the call asks again.",
        requestId);
    String retryOf = waiting.attemptMin > 1 ? requestId : waiting.call.retryOf();
    waiting.renumber(
        Records.request(context.config().agentId(), requestIds.next(), waiting.call, retryOf));
    waiting.sentAtMs = context.timers().nowMs();
    waiting.resendDelayMs = context.config().resendAfter().toMillis();
    pending.put(waiting.requestId(), waiting);
    send(waiting);
  }

  private void giveBack(String quota, String requestId, Grant grant) {
    context
        .outbox()
        .send(
            Records.settlement(
                context.config().agentId(),
                quota,
                requestId,
                grant.getLeaseId(),
                Outcome.NOT_SENT,
                false,
                null,
                null));
  }

  private void onQueued(PendingCall waiting, Queued queued) {
    QueueUpdate update =
        new QueueUpdate(
            queued.getPosition(),
            Duration.ofMillis(queued.getEtaMs()),
            Optional.ofNullable(queued.getEtaP90Ms()).map(Duration::ofMillis));
    // It is answered. But should the grant get lost, with a deleted topic say, silence well beyond
    // the ETA asks for the current decision once more.
    waiting.resendDelayMs = context.config().resendAfterMax().toMillis();
    long etaMs = Math.max(queued.getEtaMs(), update.etaP90().map(Duration::toMillis).orElse(0L));
    scheduleResend(waiting, Math.min(etaMs, Integer.MAX_VALUE) + waiting.resendDelayMs);
    waiting.notices =
        waiting.notices.thenRunAsync(() -> tell(waiting, update), context.completions());
  }

  private void tell(PendingCall waiting, QueueUpdate update) {
    if (waiting.future.isDone()) {
      return;
    }
    try {
      waiting.call.onQueued().accept(update);
    } catch (RuntimeException e) {
      log.warn(
          "Expected the queue listener of request {} to return, but it threw; the call goes on.",
          waiting.requestId(),
          e);
    }
  }

  private void onReject(PendingCall waiting, Rejected rejected, long decidedAtMs) {
    pending.remove(waiting.requestId());
    waiting.cancelTimers();
    context.counters().rejects.increment();
    Long retryAfterMs = rejected.getRetryAfterMs();
    if (retryAfterMs == null && rejected.getRetryAtMs() != null) {
      // Both times are the coordinator's.
      retryAfterMs = Math.max(0, rejected.getRetryAtMs() - decidedAtMs);
    }
    fail(
        waiting,
        new LeaseRejectedException(
            waiting.call.quota(),
            waiting.requestId(),
            rejected.getReason(),
            rejected.getDetail(),
            retryAfterMs == null ? null : Duration.ofMillis(retryAfterMs)));
  }

  private void fail(PendingCall waiting, Throwable error) {
    context.completions().execute(() -> waiting.future.completeExceptionally(error));
  }
}
