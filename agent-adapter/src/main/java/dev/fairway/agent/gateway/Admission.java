package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionClientStats;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.TaskState;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Who grants calls. */
interface Admission {
  /**
   * Asks for a call. Never blocks.
   *
   * @return the grant, or {@link RefusedException}; cancelling it withdraws the request
   */
  CompletableFuture<Grant> ask(LeaseCall call);

  /** A request id that nobody uses again, for {@link LeaseCall#requestId()}. */
  String newRequestId();

  /** Reports a call that was made without a grant. */
  void unleased(String member, String quota, UsageReport usage, ProviderSignal signal);

  /** What the client counts through which it asks, or null if it is none. */
  default AdmissionClientStats stats() {
    return null;
  }

  /**
   * Tells how a task goes.
   *
   * @return completes when it is told
   * @throws IllegalArgumentException if an id is out of its grammar
   */
  CompletableFuture<Void> task(
      String member,
      String quota,
      String task,
      String role,
      TaskState state,
      List<String> blockedOn);
}
