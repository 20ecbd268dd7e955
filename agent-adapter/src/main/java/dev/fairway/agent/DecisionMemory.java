package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Ids;
import java.util.Map;

/**
 * What must be remembered to know what a decision is: which ones were handled, which requests were
 * given up, and how each coordinator's clock runs. Each memory is bounded, and forgets what was put
 * in first. Guarded by whoever holds it.
 */
final class DecisionMemory {
  /** Decision ids remembered. What is delivered again later is still known by its sequence. */
  static final int SEEN_DECISIONS_MAX = 10_000;

  /** Requests given up whose grant, should it still come, is returned. */
  static final int GIVEN_UP_MAX = 10_000;

  /** Keys whose coordinator's clock is followed. */
  private static final int CLOCKS_MAX = 1_000;

  private final Map<String, Boolean> seen = new BoundedMap<>(SEEN_DECISIONS_MAX);
  private final Map<String, Boolean> givenUp = new BoundedMap<>(GIVEN_UP_MAX);
  private final Map<String, Boolean> rejected = new BoundedMap<>(GIVEN_UP_MAX);
  private final Map<String, CoordinatorClock> clocks = new BoundedMap<>(CLOCKS_MAX);

  /** The clock of the coordinator that decided, with what this decision says of it. */
  CoordinatorClock observe(Decision decision, long receivedAtMs) {
    CoordinatorClock clock =
        clocks.computeIfAbsent(Ids.keyOf(decision.getQuota()), key -> new CoordinatorClock());
    clock.observe(decision.getDecidedAtMs(), receivedAtMs);
    return clock;
  }

  /** Whether this very decision was handled before. */
  boolean isSeen(Decision decision) {
    return seen.containsKey(decision.getDecisionId());
  }

  void see(Decision decision) {
    seen.put(decision.getDecisionId(), true);
  }

  /** Whether the request of this decision was one of this client's, and was given up. */
  boolean isGivenUp(Decision decision) {
    return givenUp.containsKey(decision.getRequestId());
  }

  /** A request that was rejected: who comes back for it makes no retry. */
  void reject(String requestId) {
    rejected.put(requestId, true);
  }

  boolean isRejected(String requestId) {
    return rejected.containsKey(requestId);
  }

  void giveUp(PendingCall call) {
    givenUp.put(call.requestId(), true);
  }
}
