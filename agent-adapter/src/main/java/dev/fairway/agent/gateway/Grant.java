package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.Charge;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The right to send one call upstream, to be settled once. Thread-safe; nothing here blocks. */
interface Grant {

  /** Id of the request, granted or not, or null where nothing is asked. */
  String requestId();

  /** 1 for the first attempt, more after a requeue. */
  int attempt();

  /** What the grant took, or null where it took nothing. */
  Charge charged();

  /** Time left until the lease expires unless renewed. */
  Duration remaining();

  /** Whether {@link #requeue} makes the call wait, and nobody goes on without. */
  boolean canRequeue();

  /**
   * The call is being sent.
   *
   * @throws AdmissionException if it must not be, because the grant has expired
   */
  void markSent();

  /** The answer's head arrived. */
  void markAnswered();

  /**
   * What somebody else has measured who makes the call; before the report that it belongs to.
   *
   * @param sinceSent may be null
   * @param sinceAnswered may be null
   */
  void measured(Duration sinceSent, Duration sinceAnswered);

  /** The stream has begun. */
  void inProgress(UsageReport usage, ProviderSignal signal);

  /**
   * Settles; the first settlement counts. CANCELLED is of a call that was sent and is given up
   * before its answer, and tells its input.
   */
  void settle(Outcome outcome, UsageReport usage, ProviderSignal signal);

  /** Nobody has reported in time: it is renewed no more, and a report may still come. */
  void letExpire();

  /** Settles a 429 and waits for the call's next attempt. */
  CompletableFuture<Grant> requeue(ProviderSignal signal);
}
