package dev.fairway.agent.gateway;

import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import java.util.concurrent.CompletableFuture;

/** Lets a call pass that takes from no quota; nobody is told of it. */
enum UncountedGrant implements Grant {
  /** The one there is. */
  INSTANCE;

  @Override
  public String requestId() {
    return null;
  }

  @Override
  public void markSent() {
    // Nobody measures.
  }

  @Override
  public void markAnswered() {
    // Nobody measures.
  }

  @Override
  public void inProgress(UsageReport usage, ProviderSignal signal) {
    // Nobody is told.
  }

  @Override
  public void settle(Outcome outcome, UsageReport usage, ProviderSignal signal) {
    // Nobody is told.
  }

  @Override
  public CompletableFuture<Grant> requeue(ProviderSignal signal) {
    return CompletableFuture.failedFuture(
        new RefusedException(null, null, "A call that is not counted waits in no line.", null));
  }
}
