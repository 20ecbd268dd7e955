package dev.fairway.agent;

import dev.fairway.agent.fallback.FullJitter;
import dev.fairway.agent.fallback.RetryBudget;
import dev.fairway.agent.fallback.ShareBucket;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.Queued;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that wait, and what each decision means for them. One monitor guards everything;
 * nothing under it blocks, and the user's code is never run under it, whatever the executor.
 *
 * <p>A call leaves the book exactly once: by grant, reject, timeout, cancellation, or a send that
 * can never succeed. Whoever removes it also completes it.
 */
final class CallBook implements ReplyReader.Handler {
  private static final Logger log = LoggerFactory.getLogger(CallBook.class);

  /** How often one call loses a grant that expired before it was read, until it fails. */
  static final int EXPIRED_GRANTS_MAX = 3;

  private final ClientContext context;
  private final LeaseBook leases;
  private final RequestIds requestIds;
  private final SilentSettlements silent;
  private final Map<String, PendingCall> pending = new LinkedHashMap<>();
  private final DecisionMemory memory = new DecisionMemory();
  private final SafeCapacities safeCapacities = new SafeCapacities();
  private final SilentKeys silentKeys;

  /** What is to be told once the monitor is free; empty whenever it is. */
  private List<Runnable> notices = new ArrayList<>();

  private boolean closed;

  CallBook(ClientContext context, LeaseBook leases, RequestIds requestIds) {
    this.context = context;
    this.leases = leases;
    this.requestIds = requestIds;
    this.silent = new SilentSettlements(context);
    this.silentKeys = new SilentKeys(context, safeCapacities, new Waiting(), FullJitter.STANDARD);
  }

  synchronized int pendingCalls() {
    return pending.size();
  }

  synchronized int silentKeys() {
    return silentKeys.silent();
  }

  synchronized Optional<SafeCapacity> safeCapacity(String agentId, String quota) {
    return safeCapacities.of(agentId, quota, context.timers().nowMs());
  }

  /** Sends a request for a call. */
  CompletableFuture<Lease> acquire(LeaseCall call) {
    String agentId = context.config().agentId(call.member());
    Duration timeout = call.timeout() == null ? context.config().callTimeout() : call.timeout();
    PendingCall waiting = new PendingCall(call, timeout);
    String requestId = call.requestId() == null ? requestIds.next() : call.requestId();
    return entered(
        waiting,
        () -> refusal(requestId, call.retryBudget(), call.retryOf()),
        refusal -> {
          if (refusal == null) {
            waiting.request(agentId, requestId);
            begin(waiting);
            send(waiting);
          }
        });
  }

  /**
   * Asks anew for a call that the provider refused when it was made without a lease.
   *
   * @param unleasedId under which it was reported
   * @param retryAfter what the provider asked for, or null
   * @param report reports it
   */
  CompletableFuture<Lease> tryAgain(
      PendingCall previous, String unleasedId, Duration retryAfter, Runnable report) {
    PendingCall waiting = previous.nextTry(unleasedId, retryAfter);
    String requestId = requestIds.next();
    return entered(
        waiting,
        () -> refusal(requestId, previous.call.retryBudget(), unleasedId),
        refusal -> {
          context.timers().execute(report);
          if (refusal == null) {
            waiting.request(previous.agentId(), requestId);
            begin(waiting);
            send(waiting);
          }
        });
  }

  /** A call that was made without a lease ended. */
  void used(
      PendingCall call,
      ShareBucket.Amounts taken,
      ShareBucket.Amounts used,
      boolean refused,
      Duration retryAfter) {
    locked(() -> silentKeys.used(call, taken, used, refused, retryAfter));
  }

  /**
   * Waits for the next attempt of a call that a settlement puts back in line.
   *
   * @param retryAfter what the provider asked for, or null
   * @param settle sends that settlement, with requeue or, if the call cannot wait here, without
   */
  CompletableFuture<Lease> requeue(
      PendingCall previous, int attempt, Duration retryAfter, Requeue settle) {
    PendingCall waiting = previous.nextAttempt(attempt, retryAfter);
    String requestId = previous.requestId();
    return entered(
        waiting,
        () -> refusal(requestId, previous.call.retryBudget(), requestId),
        refusal -> {
          if (refusal == null) {
            begin(waiting);
          }
          Requeued requeued = settle.settle(refusal == null);
          if (refusal == null) {
            waiting.requeue = requeued.settlement();
            waiting.lastSend = requeued.sent();
            scheduleResend(waiting, waiting.resendDelayMs);
            silentKeys.asked(waiting);
          }
        });
  }

  /** How a lease is settled by its requeue. */
  interface Requeue {
    /** Sends the settlement; false: without asking for a requeue. */
    Requeued settle(boolean requeue);
  }

  /** A settlement on its way. */
  record Requeued(Settlement settlement, CompletableFuture<Void> sent) {}

  @Override
  public synchronized boolean expectsReply() {
    return !pending.isEmpty();
  }

  @Override
  public void onDecision(Decision decision, long receivedAtMs) {
    locked(() -> handle(decision, receivedAtMs));
  }

  /** Cancels every call; later ones are refused. */
  void close() {
    locked(
        () -> {
          closed = true;
          for (PendingCall waiting : List.copyOf(pending.values())) {
            giveUp(waiting);
            context.counters().cancellations.increment();
            fail(waiting, new CancellationException("The admission client was closed."));
          }
        });
  }

  // ---- calls come

  private interface Entry {
    void enter(AdmissionException refusal);
  }

  private CompletableFuture<Lease> entered(
      PendingCall waiting, Supplier<AdmissionException> check, Entry entry) {
    AdmissionException[] refusal = new AdmissionException[1];
    locked(
        () -> {
          refusal[0] = check.get();
          entry.enter(refusal[0]);
        });
    if (refusal[0] != null) {
      return CompletableFuture.failedFuture(refusal[0]);
    }
    var unused = waiting.future.whenComplete((lease, error) -> onAbandoned(waiting));
    return waiting.future;
  }

  private AdmissionException refusal(String requestId, RetryBudget budget, String retryOf) {
    AdmissionClientConfig config = context.config();
    if (closed) {
      return Failures.closed();
    }
    if (pending.size() >= config.pendingCallsMax()) {
      return Failures.tooManyCalls(config.pendingCallsMax());
    }
    if (pending.size() + leases.size() >= config.openLeasesMax()) {
      return Failures.tooManyLeases(config.openLeasesMax());
    }
    if (pending.containsKey(requestId)) {
      return Failures.inUse(requestId);
    }
    // Coming back after a rejection repeats nothing that was sent.
    if (budget != null && retryOf != null && !memory.isRejected(retryOf) && !budget.trySpend()) {
      context.counters().budgetsSpent.increment();
      return Failures.budgetSpent(retryOf);
    }
    return null;
  }

  private void begin(PendingCall waiting) {
    waiting.giveUp =
        context.timers().schedule(waiting.timeout.toMillis(), () -> onTimeout(waiting));
    enter(waiting);
  }

  private void enter(PendingCall waiting) {
    waiting.sentAtMs = context.timers().nowMs();
    waiting.resendDelayMs = context.config().resendAfter().toMillis();
    pending.put(waiting.requestId(), waiting);
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
    silentKeys.asked(waiting);
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
      // It is still being tried: another copy behind the first would only be a load.
      scheduleResend(waiting, waiting.resendDelayMs);
      return;
    }
    if (!silentKeys.maySendAgain(waiting)) {
      waiting.resendDelayMs = context.config().resendAfterMax().toMillis();
      scheduleResend(waiting, waiting.resendDelayMs);
      return;
    }
    waiting.resendDelayMs =
        Math.min(2 * waiting.resendDelayMs, context.config().resendAfterMax().toMillis());
    sendAgain(waiting);
  }

  private void sendAgain(PendingCall waiting) {
    context.counters().resends.increment();
    if (waiting.requeue != null && waiting.lastSend.isCompletedExceptionally()) {
      waiting.lastSend = context.outbox().send(waiting.requeue);
      scheduleResend(waiting, waiting.resendDelayMs);
    } else {
      send(waiting);
    }
  }

  // ---- calls go

  private void onSendFailed(PendingCall waiting, String requestId, Throwable error) {
    if (error instanceof RetriableException) {
      return;
    }
    locked(
        () -> {
          if (pending.remove(requestId, waiting)) {
            waiting.cancelTimers();
            fail(waiting, Failures.notSent(waiting, error));
          }
        });
  }

  private void onTimeout(PendingCall waiting) {
    locked(
        () -> {
          if (pending.get(waiting.requestId()) == waiting) {
            giveUp(waiting);
            context.counters().timeouts.increment();
            fail(waiting, Failures.timeout(waiting));
          }
        });
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
    memory.giveUp(waiting);
    silent.cancel(waiting);
    if (pending.isEmpty()) {
      silentKeys.nobodyWaits();
    }
  }

  private void fail(PendingCall waiting, Throwable error) {
    notices.add(
        () -> context.completions().execute(() -> waiting.future.completeExceptionally(error)));
  }

  // ---- decisions

  private void handle(Decision decision, long receivedAtMs) {
    if (!context.config().speaksFor(decision.getAgentId())) {
      context.counters().foreignReplies.increment();
      return;
    }
    CoordinatorClock clock = memory.observe(decision, receivedAtMs);
    safeCapacities.note(decision, clock, receivedAtMs);
    if (silentKeys.heard(decision.getQuota())) {
      context.timers().execute(context.reports()::sendKept);
    }
    if (memory.isSeen(decision)) {
      context.counters().duplicateReplies.increment();
      return;
    }
    PendingCall waiting = pending.get(decision.getRequestId());
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

  private void onUnexpected(Decision decision) {
    if (!memory.isGivenUp(decision)) {
      context.counters().foreignReplies.increment();
      return;
    }
    memory.see(decision);
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
    pending.remove(waiting.requestId());
    waiting.cancelTimers();
    context.counters().grants.increment();
    Lease lease = leases.open(this, waiting, grant, expiresAtMs);
    notices.add(() -> context.completions().execute(() -> hand(lease, waiting)));
  }

  private void hand(Lease lease, PendingCall waiting) {
    if (!waiting.future.complete(lease)) {
      context.counters().returnedGrants.increment();
      lease.close();
    }
  }

  /**
   * A grant that expired before it was read must not be used. The call asks again as a request of
   * its own for as long as its timeout and {@link #EXPIRED_GRANTS_MAX} allow: nothing was sent, so
   * it is no retry; after a 429 it is, and says so.
   */
  private void onExpiredGrant(PendingCall waiting) {
    String requestId = waiting.requestId();
    pending.remove(requestId);
    waiting.expiredGrants++;
    if (waiting.expiredGrants >= EXPIRED_GRANTS_MAX) {
      waiting.cancelTimers();
      context.counters().rejects.increment();
      fail(waiting, Failures.expired(waiting));
      return;
    }
    log.warn(
        "Expected to read the grant of request {} before it expired, but did not; the call asks"
            + " again.",
        requestId);
    waiting.request(waiting.agentId(), requestIds.next());
    enter(waiting);
    send(waiting);
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
    notices.add(() -> waiting.tell(update, context.completions()));
  }

  private void onReject(PendingCall waiting, Decision decision) {
    if (decision.getRejected().getReason() == RejectReason.LEASE_EXPIRED) {
      // The grant got lost on its way, and this answers a later copy of the request.
      onExpiredGrant(waiting);
      return;
    }
    pending.remove(waiting.requestId());
    waiting.cancelTimers();
    context.counters().rejects.increment();
    memory.reject(decision.getRequestId());
    fail(waiting, Failures.rejected(waiting, decision));
  }

  /** What goes on without the coordinator is taken from here. */
  private final class Waiting implements SilentKeys.Calls {
    @Override
    public void locked(Runnable change) {
      CallBook.this.locked(change);
    }

    @Override
    public boolean waits(PendingCall call) {
      return pending.get(call.requestId()) == call;
    }

    @Override
    public List<PendingCall> waitingFor(String key) {
      return pending.values().stream()
          .filter(call -> Ids.keyOf(call.call.quota()).equals(key))
          .toList();
    }

    @Override
    public void sendAgain(PendingCall call) {
      if (call.lastSend.isDone()) {
        CallBook.this.sendAgain(call);
      }
    }

    @Override
    public void pass(PendingCall call, ShareBucket.Amounts charged) {
      giveUp(call);
      context.counters().unleased.increment();
      Lease lease = leases.openUnleased(CallBook.this, call, requestIds.next(), charged);
      notices.add(() -> context.completions().execute(() -> hand(lease, call)));
    }
  }

  /** Runs a change under the monitor, and what it has to tell after that. */
  private void locked(Runnable change) {
    List<Runnable> toTell = List.of();
    boolean nested = Thread.holdsLock(this);
    synchronized (this) {
      change.run();
      if (!nested && !notices.isEmpty()) {
        toTell = notices;
        notices = new ArrayList<>();
      }
    }
    toTell.forEach(Runnable::run);
  }
}
