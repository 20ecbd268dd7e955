package dev.fairway.agent;

import dev.fairway.agent.Timers.Timer;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Settlement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A call that waits for its grant. Guarded by the {@link CallBook} that holds it. */
final class PendingCall {
  final LeaseCall call;
  final Duration timeout;

  /** Grants of an earlier attempt are repeats of what is over. */
  final int attemptMin;

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
  int lateGrants;

  /** Serialises what the queue listener is told. */
  CompletableFuture<Void> notices = CompletableFuture.completedFuture(null);

  private int epoch = Integer.MIN_VALUE;
  private long sequence = Long.MIN_VALUE;

  PendingCall(LeaseCall call, Duration timeout, int attemptMin) {
    this.call = call;
    this.timeout = timeout;
    this.attemptMin = attemptMin;
  }

  /** The same request, waiting for its next attempt. */
  PendingCall nextAttempt(int attempt) {
    PendingCall next = new PendingCall(call, timeout, attempt);
    next.request = request;
    next.epoch = epoch;
    next.sequence = sequence;
    return next;
  }

  /** The same call under another request id, whose decisions have an order of their own. */
  void renumber(LeaseRequest request) {
    this.request = request;
    this.requeue = null;
    this.epoch = Integer.MIN_VALUE;
    this.sequence = Long.MIN_VALUE;
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

  void cancelTimers() {
    if (resend != null) {
      resend.cancel();
    }
    if (giveUp != null) {
      giveUp.cancel();
    }
  }
}
