package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientStats;
import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.AdmissionTimeoutException;
import dev.fairway.agent.Charge;
import dev.fairway.agent.Lease;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.LeaseRejectedException;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.TaskState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The coordinator, asked through one client for all agents behind the gateway. */
final class KafkaAdmission implements Admission {
  private static final Logger log = LoggerFactory.getLogger(KafkaAdmission.class);
  private static final Duration LATER = Duration.ofSeconds(5);

  private final AdmissionClient client;

  KafkaAdmission(AdmissionClient client) {
    this.client = client;
  }

  @Override
  public CompletableFuture<Grant> ask(LeaseCall call) {
    try {
      return grantOf(client.acquire(call));
    } catch (IllegalArgumentException e) {
      return CompletableFuture.failedFuture(
          new RefusedException(null, RejectReason.INVALID, e.getMessage(), null));
    }
  }

  @Override
  public String newRequestId() {
    return client.newRequestId();
  }

  @Override
  public void unleased(String member, String quota, UsageReport usage, ProviderSignal signal) {
    String requestId = client.newRequestId();
    follow(
        client.settleUnleased(member, quota, requestId, usage, signal),
        requestId,
        Outcome.UNLEASED);
  }

  @Override
  public AdmissionClientStats stats() {
    return client.stats();
  }

  @Override
  public CompletableFuture<Void> task(
      String member,
      String quota,
      String task,
      String role,
      TaskState state,
      List<String> blockedOn) {
    return client.updateTask(member, quota, task, role, state, blockedOn);
  }

  /** Follows a lease; cancelling the result withdraws the request, which only the source does. */
  private static CompletableFuture<Grant> grantOf(CompletableFuture<Lease> leased) {
    CompletableFuture<Grant> granted = new CompletableFuture<>();
    var unused =
        leased.whenComplete(
            (lease, error) -> {
              if (error != null) {
                granted.completeExceptionally(refusal(error));
              } else if (!granted.complete(new LeaseGrant(lease))) {
                lease.close();
              }
            });
    var unusedToo =
        granted.whenComplete(
            (grant, error) -> {
              if (granted.isCancelled()) {
                leased.cancel(false);
              }
            });
    return granted;
  }

  private static Throwable refusal(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    if (cause instanceof LeaseRejectedException rejected) {
      return new RefusedException(
          rejected.requestId(),
          rejected.reason(),
          rejected.getMessage(),
          rejected.retryAfter().orElse(null));
    }
    if (cause instanceof AdmissionTimeoutException late) {
      return new RefusedException(
          late.requestId(), RejectReason.QUEUE_WAIT_TOO_LONG, late.getMessage(), null);
    }
    if (cause instanceof AdmissionException || cause instanceof CancellationException) {
      return new RefusedException(null, null, cause.getMessage(), LATER);
    }
    return cause;
  }

  private static void follow(CompletableFuture<Void> reported, String requestId, Outcome outcome) {
    var unused =
        reported.whenComplete(
            (done, error) -> {
              if (error != null) {
                log.warn(
                    "Expected to report {} of request {}, but: {}",
                    outcome,
                    requestId,
                    error.getMessage());
              }
            });
  }

  private record LeaseGrant(Lease lease) implements Grant {
    @Override
    public String requestId() {
      return lease.requestId();
    }

    @Override
    public int attempt() {
      return lease.attempt();
    }

    @Override
    public Charge charged() {
      return lease.charged();
    }

    @Override
    public Duration remaining() {
      return lease.remaining();
    }

    @Override
    public boolean canRequeue() {
      return true;
    }

    @Override
    public void markSent() {
      lease.markSent();
    }

    @Override
    public void markAnswered() {
      lease.markAnswered();
    }

    @Override
    public void measured(Duration sinceSent, Duration sinceAnswered) {
      lease.measured(sinceSent, sinceAnswered);
    }

    @Override
    public void inProgress(UsageReport usage, ProviderSignal signal) {
      follow(lease.inProgress(usage, signal), requestId(), Outcome.IN_PROGRESS);
    }

    @Override
    public void settle(Outcome outcome, UsageReport usage, ProviderSignal signal) {
      follow(
          outcome == Outcome.CANCELLED
              ? lease.cancelled(usage)
              : lease.settle(outcome, usage, signal),
          requestId(),
          outcome);
    }

    @Override
    public void letExpire() {
      lease.letExpire();
    }

    @Override
    public CompletableFuture<Grant> requeue(ProviderSignal signal) {
      return grantOf(lease.rateLimitedRequeue(signal));
    }
  }
}
