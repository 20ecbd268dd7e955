package dev.fairway.agent;

import dev.fairway.agent.fallback.FullJitter;
import dev.fairway.agent.fallback.RetryBudget;
import dev.fairway.agent.fallback.ShareBucket;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.Ids;
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

/**
 * The calls that wait: how they come, are sent, and go. What a decision means for them is known to
 * {@link Decisions}, and what becomes of them without one to {@link SilentKeys}. One monitor guards
 * all of it; nothing under it blocks, and the user's code is never run under it, whatever the
 * executor.
 *
 * <p>A call leaves the book exactly once: by grant, reject, timeout, cancellation, or a send that
 * can never succeed. Whoever removes it also completes it.
 */
final class CallBook implements ReplyReader.Handler {
  private final ClientContext context;
  private final LeaseBook leases;
  private final RequestIds requestIds;
  private final SilentSettlements silent;
  private final Map<String, PendingCall> pending = new LinkedHashMap<>();
  private final SafeCapacities safeCapacities = new SafeCapacities();
  private final SilentKeys silentKeys;
  private final Decisions decisions;

  /** What is to be told once the monitor is free; empty whenever it is. */
  private List<Runnable> notices = new ArrayList<>();

  private boolean closed;

  CallBook(ClientContext context, LeaseBook leases, RequestIds requestIds, Handover handover) {
    this.context = context;
    this.leases = leases;
    this.requestIds = requestIds;
    this.silent = new SilentSettlements(context);
    this.silentKeys = new SilentKeys(context, safeCapacities, new Waiting(), FullJitter.STANDARD);
    this.decisions =
        new Decisions(
            context,
            requestIds.prefix(),
            silent,
            safeCapacities,
            silentKeys,
            handover,
            new Decided());
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
    locked(() -> decisions.handle(decision, receivedAtMs));
  }

  @Override
  public void onMissed(Decision decision) {
    locked(() -> decisions.missed(decision));
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
    if (budget != null && retryOf != null && !decisions.isRejected(retryOf) && !budget.trySpend()) {
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

  private void leave(PendingCall waiting) {
    pending.remove(waiting.requestId(), waiting);
    waiting.cancelTimers();
  }

  private void giveUp(PendingCall waiting) {
    leave(waiting);
    decisions.gaveUp(waiting);
    silent.cancel(waiting);
    if (pending.isEmpty()) {
      silentKeys.nobodyWaits();
    }
  }

  private void fail(PendingCall waiting, Throwable error) {
    notices.add(
        () -> context.completions().execute(() -> waiting.future.completeExceptionally(error)));
  }

  private void hand(Lease lease, PendingCall waiting) {
    if (!waiting.future.complete(lease)) {
      context.counters().returnedGrants.increment();
      lease.close();
    }
  }

  /** What decisions do to the calls that wait. */
  private final class Decided implements Decisions.Calls {
    @Override
    public PendingCall waiting(String requestId) {
      return pending.get(requestId);
    }

    @Override
    public void granted(PendingCall call, Grant grant, long expiresAtMs) {
      leave(call);
      context.counters().grants.increment();
      Lease lease = leases.open(CallBook.this, call, grant, expiresAtMs);
      notices.add(() -> context.completions().execute(() -> hand(lease, call)));
    }

    @Override
    public void rejected(PendingCall call, AdmissionException why) {
      leave(call);
      context.counters().rejects.increment();
      fail(call, why);
    }

    @Override
    public void queued(PendingCall call, QueueUpdate update, long silentForMs) {
      // It is answered. But should the grant get lost, with a deleted topic say, silence well
      // beyond the ETA asks for the current decision once more.
      call.resendDelayMs = context.config().resendAfterMax().toMillis();
      scheduleResend(call, silentForMs + call.resendDelayMs);
      notices.add(() -> call.tell(update, context.completions()));
    }

    @Override
    public void askAgain(PendingCall call) {
      pending.remove(call.requestId());
      call.request(call.agentId(), requestIds.next());
      enter(call);
      send(call);
    }
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
