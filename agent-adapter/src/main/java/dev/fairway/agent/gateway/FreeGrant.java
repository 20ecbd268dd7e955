package dev.fairway.agent.gateway;

import dev.fairway.agent.Charge;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Lets a call pass that takes from no quota; nobody is told of it. */
class FreeGrant implements Grant {
  /** The one there is for calls that are not counted. */
  static final Grant UNCOUNTED = new FreeGrant();

  @Override
  public String requestId() {
    return null;
  }

  @Override
  public int attempt() {
    return 1;
  }

  @Override
  public Charge charged() {
    return null;
  }

  @Override
  public Duration remaining() {
    return Duration.ZERO;
  }

  @Override
  public boolean canRequeue() {
    return false;
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
  public void measured(Duration sinceSent, Duration sinceAnswered) {
    // Nobody is told.
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
  public void letExpire() {
    // There is nothing to renew.
  }

  @Override
  public CompletableFuture<Grant> requeue(ProviderSignal signal) {
    return CompletableFuture.failedFuture(
        new RefusedException(null, null, "A call that was not held waits in no line.", null));
  }
}
