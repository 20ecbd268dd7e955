package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.SignalClass;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Lets a call pass at once, and asks for its lease while it is on its way, so that the journal
 * shows what admission would have done. When the call ends it is settled on its lease, if it has
 * been granted by then; else the request is withdrawn, and the call is reported as made without a
 * lease.
 *
 * <p>A call that the provider refused may be over before its decision is there, and no decision yet
 * is not the same as a wait. So the end of such a call waits for the first one.
 */
final class ObservedGrant extends FreeGrant {
  private static final Duration LONGEST_CALL = Duration.ofHours(1);

  /** How long the end of a refused call waits for its first decision. */
  private static final Duration DECISION_WAIT = Duration.ofSeconds(5);

  private final Admission admission;
  private final Observations observations;
  private final String requestId;
  private final String member;
  private final String quota;
  private final Long inputTokens;

  /** Whether admission would not have had it wait, as far as anybody knows; open until then. */
  private final CompletableFuture<Boolean> admitted = new CompletableFuture<>();

  /** Null once nothing is asked any more: it has a whole body. */
  private CallPlan plan;

  private CompletableFuture<Grant> asked = new CompletableFuture<>();
  private boolean settled;

  /** Nobody has been asked yet. */
  ObservedGrant(Admission admission, Observations observations, CallPlan plan) {
    this.admission = admission;
    this.observations = observations;
    this.plan = plan;
    this.member = plan.asker().member();
    this.quota = plan.target().quota();
    this.inputTokens = plan.input().inputTokens();
    this.requestId = admission.newRequestId();
  }

  /** Asks, and does not wait. To be called once, before anything is told of the call's answer. */
  void ask() {
    asked =
        admission.ask(
            plan.leaseCall(
                requestId, plan.retryOf(), LONGEST_CALL, update -> admitted.complete(false)));
    plan = null;
    var unused =
        asked.whenComplete(
            (granted, error) -> {
              if (granted != null) {
                sent(granted);
              }
              admitted.complete(granted != null || !isWait(error));
            });
  }

  @Override
  public String requestId() {
    Grant granted = granted();
    return granted == null ? requestId : granted.requestId();
  }

  @Override
  public void markAnswered() {
    Grant granted = granted();
    if (granted != null) {
      granted.markAnswered();
    }
  }

  @Override
  public void inProgress(UsageReport usage, ProviderSignal signal) {
    Grant granted = granted();
    if (granted != null) {
      granted.inProgress(usage, signal);
    }
  }

  @Override
  public synchronized void settle(Outcome outcome, UsageReport usage, ProviderSignal signal) {
    if (settled) {
      return;
    }
    settled = true;
    if (!isRateLimited(outcome, signal) || granted() != null || admitted.isDone()) {
      end(outcome, usage, signal);
      return;
    }
    // Nobody knows, and if it stays so, it is not counted in admission's favour.
    var unused =
        admitted
            .completeOnTimeout(true, DECISION_WAIT.toMillis(), TimeUnit.MILLISECONDS)
            .thenRun(() -> end(outcome, usage, signal));
  }

  private void end(Outcome outcome, UsageReport usage, ProviderSignal signal) {
    Grant granted = granted();
    observations.ended(
        quota,
        isRateLimited(outcome, signal),
        granted != null || admitted.getNow(true),
        inputTokens);
    if (granted != null) {
      granted.settle(outcome, usage, signal);
      return;
    }
    // A grant that crosses this is given back by whoever asked.
    asked.cancel(false);
    if (outcome != Outcome.NOT_SENT) {
      boolean refused = outcome == Outcome.RATE_LIMITED || outcome == Outcome.OVERLOADED;
      admission.unleased(member, quota, refused ? Nothing.USED : usage, signal);
    }
  }

  /** Whether a 429 is for a limit that refills: no wait helps against others, such as a bill. */
  private static boolean isRateLimited(Outcome outcome, ProviderSignal signal) {
    SignalClass kind = signal == null ? null : signal.kind();
    return outcome == Outcome.RATE_LIMITED && (kind == null || kind == SignalClass.RATE_LIMITED);
  }

  /**
   * Whether the coordinator said no for now. What it did not say, nobody knows; and who is told
   * that no call will ever do has not been kept waiting.
   */
  private static boolean isWait(Throwable error) {
    return error instanceof RefusedException refused && Line.isWait(refused);
  }

  private Grant granted() {
    return asked.isDone() && !asked.isCompletedExceptionally() ? asked.join() : null;
  }

  private static void sent(Grant granted) {
    try {
      granted.markSent();
    } catch (AdmissionException e) {
      // It expired before it was read; the call is on its way all the same.
    }
  }
}
