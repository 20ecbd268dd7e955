package dev.fairway.agent;

import java.util.concurrent.CompletableFuture;

/**
 * Asks the coordinator for leases over Kafka. One client serves any number of threads of one agent;
 * two clients must not use the same agent id at the same time.
 */
public final class AdmissionClient implements AutoCloseable {

  private AdmissionClient() {}

  /**
   * Starts a client. Returns when the position from which it reads replies is resolved, so that the
   * reply to the very first request cannot be missed.
   *
   * @throws AdmissionException if the brokers, the registry or the topics are not there in time
   */
  public static AdmissionClient start(AdmissionClientConfig config) {
    throw new UnsupportedOperationException();
  }

  /**
   * Asks for a lease. Never blocks.
   *
   * @return completes with the lease once it is granted, or exceptionally with {@link
   *     LeaseRejectedException}, {@link AdmissionTimeoutException} or {@link AdmissionException}.
   *     Cancelling it withdraws the request
   */
  public CompletableFuture<Lease> acquire(LeaseCall call) {
    throw new UnsupportedOperationException();
  }

  /**
   * Reports a call that was made without a lease while the coordinator was silent. It is charged as
   * it is.
   *
   * @param quota quota that the call used
   * @param requestId an id of {@link #newRequestId()}; the same id again is charged once
   * @param usage what the call used
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it
   */
  public CompletableFuture<Void> settleUnleased(
      String quota, String requestId, UsageReport usage, ProviderSignal signal) {
    throw new UnsupportedOperationException();
  }

  /** A request id that nobody uses again. */
  public String newRequestId() {
    throw new UnsupportedOperationException();
  }

  /** Counters since the start, and what is held now. */
  public AdmissionClientStats stats() {
    throw new UnsupportedOperationException();
  }

  /**
   * Cancels pending calls, settles open leases as {@link Lease#close()} does, and waits for the
   * broker to have it, at most {@link AdmissionClientConfig#closeTimeout()}. Idempotent.
   */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
