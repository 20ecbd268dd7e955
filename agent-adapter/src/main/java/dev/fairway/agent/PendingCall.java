package dev.fairway.agent;

import dev.fairway.agent.Timers.Timer;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Settlement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A call that waits for its grant. Guarded by the {@link CallBook} that holds it. */
final class PendingCall {
  private static final Logger log = LoggerFactory.getLogger(PendingCall.class);

  final LeaseCall call;
  final Duration timeout;

  /** Grants of an earlier attempt are repeats of what is over. */
  int attemptMin;

  /** The failed call that a new request for this call repeats, or null. */
  private final String retryOf;

  final CompletableFuture<Lease> future = new CompletableFuture<>();

  /** The request as it is sent, byte for byte the same each time. */
  LeaseRequest request;

  /** The settlement that puts the call back in line, or null on a first attempt. */
  Settlement requeue;

  /** When it was first sent: no decision is older. */
  long sentAtMs;

  CompletableFuture<Void> lastSend = CompletableFuture.completedFuture(null);
  long resendDelayMs;
  Timer resend;
  Timer giveUp;

  /** How often the provider refused this call, and what it asked for the last time, or null. */
  int refusals;

  Duration retryAfter;

  /** Grants that had expired before they were read. */
  int expiredGrants;

  /** Keeps what the queue listener is told in order; used by the poll thread. */
  private CompletableFuture<Void> told = CompletableFuture.completedFuture(null);

  private int epoch = Integer.MIN_VALUE;
  private long sequence = Long.MIN_VALUE;

  PendingCall(LeaseCall call, Duration timeout) {
    this(call, timeout, 1, call.retryOf());
  }

  private PendingCall(LeaseCall call, Duration timeout, int attemptMin, String retryOf) {
    this.call = call;
    this.timeout = timeout;
    this.attemptMin = attemptMin;
    this.retryOf = retryOf;
  }

  /** The same request, waiting for its next attempt. */
  PendingCall nextAttempt(int attempt, Duration providersRetryAfter) {
    PendingCall next = refused(attempt, requestId(), providersRetryAfter);
    next.request = request;
    next.epoch = epoch;
    next.sequence = sequence;
    return next;
  }

  /** The same call, to be asked for by a request of its own after one made without a lease. */
  PendingCall nextTry(String unleasedId, Duration providersRetryAfter) {
    return refused(1, unleasedId, providersRetryAfter);
  }

  private PendingCall refused(int attempt, String failedId, Duration providersRetryAfter) {
    PendingCall next = new PendingCall(call, timeout, attempt, failedId);
    next.refusals = refusals + 1;
    next.retryAfter = providersRetryAfter;
    return next;
  }

  /**
   * Gives the call a request of its own, or another one, whose decisions and attempts count anew.
   */
  void request(String agentId, String requestId) {
    this.request = Records.request(agentId, requestId, call, retryOf);
    this.requeue = null;
    this.attemptMin = 1;
    this.epoch = Integer.MIN_VALUE;
    this.sequence = Long.MIN_VALUE;
  }

  String agentId() {
    return request.getAgentId();
  }

  String requestId() {
    return request.getRequestId();
  }

  /** Whether a decision is not older than what was seen; notes it if so. */
  boolean advance(int decisionEpoch, long decisionSequence) {
    if (decisionEpoch < epoch || (decisionEpoch == epoch && decisionSequence < sequence)) {
      return false;
    }
    epoch = decisionEpoch;
    sequence = decisionSequence;
    return true;
  }

  /** Tells the queue listener where the call stands, unless the call is over by then. */
  void tell(QueueUpdate update, Executor executor) {
    told =
        told.thenRunAsync(
            () -> {
              if (future.isDone()) {
                return;
              }
              try {
                call.onQueued().accept(update);
              } catch (RuntimeException e) {
                log.warn("Expected a queue listener to return, but it threw; the call goes on.", e);
              }
            },
            executor);
  }

  void cancelTimers() {
    if (resend != null) {
      resend.cancel();
    }
    if (giveUp != null) {
      giveUp.cancel();
    }
  }
}
