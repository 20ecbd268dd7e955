package dev.fairway.agent;

import dev.fairway.schemas.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The right to make one model call now. Settle it with what became of the call; what is closed
 * unsettled is given back. Thread-safe.
 *
 * <p>While it is open the client renews it at half its time to live, for as long as {@link
 * AdmissionClientConfig#renewFor()} says, so a long call keeps it without further ado.
 */
public final class Lease implements AutoCloseable {

  Lease() {}

  /** Request that was granted. */
  public String requestId() {
    throw new UnsupportedOperationException();
  }

  /** Id of the lease. */
  public String leaseId() {
    throw new UnsupportedOperationException();
  }

  /** Quota that was charged. */
  public String quota() {
    throw new UnsupportedOperationException();
  }

  /** 1 for the first attempt, more after a requeue. */
  public int attempt() {
    throw new UnsupportedOperationException();
  }

  /** What the grant took from the quota. */
  public Charge charged() {
    throw new UnsupportedOperationException();
  }

  /** Time left until the lease expires, by the process's monotonic clock; zero once it has. */
  public Duration remaining() {
    throw new UnsupportedOperationException();
  }

  /** Whether the call may be sent now: not settled and not expired. */
  public boolean usable() {
    throw new UnsupportedOperationException();
  }

  /**
   * Notes that the call is being sent; call it right before. Without it the time since sending is
   * unknown to the coordinator, and {@link #close()} takes the call for never sent.
   */
  public void markSent() {
    throw new UnsupportedOperationException();
  }

  /** Notes that the answer's headers arrived. Without it the age of a signal is unknown. */
  public void markAnswered() {
    throw new UnsupportedOperationException();
  }

  /**
   * Reports that the call runs, such as at the start of a stream. Renews the lease.
   *
   * @param usage what is known so far; the input of the first such report is settled; null: unknown
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it
   */
  public CompletableFuture<Void> inProgress(UsageReport usage, ProviderSignal signal) {
    throw new UnsupportedOperationException();
  }

  /**
   * Settles: the call succeeded.
   *
   * @param usage what it used
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it
   */
  public CompletableFuture<Void> succeeded(UsageReport usage, ProviderSignal signal) {
    throw new UnsupportedOperationException();
  }

  /** Settles: the provider answered 429, and the caller gives up or comes back on its own. */
  public CompletableFuture<Void> rateLimited(ProviderSignal signal) {
    throw new UnsupportedOperationException();
  }

  /**
   * Settles: the provider answered 429, and the coordinator puts the call back in line by itself.
   *
   * @return the lease of the next attempt, of the same request; the call's timeout starts anew
   */
  public CompletableFuture<Lease> rateLimitedRequeue(ProviderSignal signal) {
    throw new UnsupportedOperationException();
  }

  /** Settles: the provider was overloaded (529 and its kin), which is no limit of ours. */
  public CompletableFuture<Void> overloaded(ProviderSignal signal) {
    throw new UnsupportedOperationException();
  }

  /** Settles: the call was sent and failed, and nobody knows what it used. Nothing is refunded. */
  public CompletableFuture<Void> failedAfterSend(ProviderSignal signal) {
    throw new UnsupportedOperationException();
  }

  /** Settles: the call was provably never sent. Everything is refunded. */
  public CompletableFuture<Void> notSent() {
    throw new UnsupportedOperationException();
  }

  /**
   * Settles with any final outcome of a lease.
   *
   * @param outcome SUCCEEDED, RATE_LIMITED, OVERLOADED, FAILED_AFTER_SEND or NOT_SENT
   * @param usage what the call used, or null
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it
   */
  public CompletableFuture<Void> settle(Outcome outcome, UsageReport usage, ProviderSignal signal) {
    throw new UnsupportedOperationException();
  }

  /**
   * Settles what is not settled: NOT_SENT, or FAILED_AFTER_SEND if the call was marked as sent or
   * reported in progress, because then it may have been charged. Does not wait for the broker.
   */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
