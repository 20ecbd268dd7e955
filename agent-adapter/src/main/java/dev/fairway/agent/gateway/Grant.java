package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import java.util.concurrent.CompletableFuture;

/** The right to send one call upstream, to be settled once. Thread-safe; nothing here blocks. */
interface Grant {

  /** Id of the request, or null where nothing was asked. */
  String requestId();

  /**
   * The call is being sent.
   *
   * @throws AdmissionException if it must not be, because the grant has expired
   */
  void markSent();

  /** The answer's head arrived. */
  void markAnswered();

  /** The stream has begun. */
  void inProgress(UsageReport usage, ProviderSignal signal);

  /** Settles; the first settlement counts. */
  void settle(Outcome outcome, UsageReport usage, ProviderSignal signal);

  /** Settles a 429 and waits for the call's next attempt. */
  CompletableFuture<Grant> requeue(ProviderSignal signal);
}
