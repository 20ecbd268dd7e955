package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Lets a call pass at once, and asks for its lease while it is on its way, so that the journal
 * shows what admission would have done. When the call ends it is settled on its lease, if it has
 * been granted by then; else the request is withdrawn, and the call is reported as made without a
 * lease.
 */
final class ObservedGrant extends FreeGrant {
  private static final Duration LONGEST_CALL = Duration.ofHours(1);

  private final Admission admission;
  private final Observations observations;
  private final CallPlan plan;
  private final String requestId;
  private CompletableFuture<Grant> asked = new CompletableFuture<>();
  private boolean settled;

  /** Nobody has been asked yet. */
  ObservedGrant(Admission admission, Observations observations, CallPlan plan) {
    this.admission = admission;
    this.observations = observations;
    this.plan = plan;
    this.requestId = admission.newRequestId();
  }

  /** Asks, and does not wait. To be called once, before anything is told of the call's answer. */
  void ask() {
    asked = admission.ask(plan.leaseCall(requestId, plan.retryOf(), LONGEST_CALL, update -> {}));
    var unused = asked.thenAccept(ObservedGrant::sent);
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
    Grant granted = granted();
    observations.ended(plan.target().quota(), outcome, granted != null, plan.input().inputTokens());
    if (granted != null) {
      granted.settle(outcome, usage, signal);
      return;
    }
    // A grant that crosses this is given back by whoever asked.
    asked.cancel(false);
    if (outcome != Outcome.NOT_SENT) {
      boolean refused = outcome == Outcome.RATE_LIMITED || outcome == Outcome.OVERLOADED;
      admission.unleased(
          plan.asker().member(), plan.target().quota(), refused ? Nothing.USED : usage, signal);
    }
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
