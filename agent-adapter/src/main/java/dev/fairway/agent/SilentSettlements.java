package dev.fairway.agent;

import dev.fairway.schemas.Grant;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settlements that nobody waits for: a call that was given up is cancelled, and a grant that nobody
 * may use is returned. Does not block. Thread-safe.
 */
final class SilentSettlements {
  private static final Logger log = LoggerFactory.getLogger(SilentSettlements.class);

  private final ClientContext context;

  SilentSettlements(ClientContext context) {
    this.context = context;
  }

  /** Takes a call out of its line. */
  void cancel(PendingCall call) {
    cancel(call.agentId(), call.call.quota(), call.requestId());
  }

  /** Takes a request out of its line. */
  void cancel(String agentId, String quota, String requestId) {
    send(Records.cancellation(agentId, quota, requestId));
  }

  /** Returns a grant under which nothing was sent. */
  void giveBack(String agentId, String quota, String requestId, Grant grant) {
    send(
        Records.settlement(
            agentId, quota, requestId, grant.getLeaseId(), Outcome.NOT_SENT, false, null, null));
  }

  private void send(Settlement settlement) {
    var unused =
        context
            .outbox()
            .send(settlement)
            .whenComplete(
                (sent, error) -> {
                  if (error != null) {
                    log.warn(
                        "Expected the brokers to take {} of request {}, but they did not; what it"
                            + " holds is freed when it expires. ({})",
                        settlement.getOutcome(),
                        settlement.getRequestId(),
                        error.toString());
                  }
                });
  }
}
