package dev.fairway.agent.gateway;

import dev.fairway.agent.LeaseCall;
import java.util.concurrent.CompletableFuture;

/** Who grants calls. */
interface Admission {
  /**
   * Asks for a call. Never blocks.
   *
   * @return the grant, or {@link RefusedException}; cancelling it withdraws the request
   */
  CompletableFuture<Grant> ask(LeaseCall call);
}
