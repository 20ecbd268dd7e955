package dev.fairway.it.crash;

import dev.fairway.agent.Charge;
import dev.fairway.schemas.Outcome;

/**
 * What an agent itself remembers of one lease it was handed.
 *
 * @param sentAtMs when it sent the call, epoch milliseconds; null: it never did
 * @param status HTTP status of the answer; null: there was none
 * @param inputTokens as the answer told them; null: it told none
 * @param outputTokens likewise
 * @param outcome what it settled the lease as
 * @param acknowledged whether the broker acknowledged that settlement, as far as the client tells
 */
record LeaseUse(
    String agentId,
    String quota,
    String requestId,
    String leaseId,
    int attempt,
    Charge charged,
    Long sentAtMs,
    Integer status,
    Long inputTokens,
    Long outputTokens,
    Outcome outcome,
    Acknowledged acknowledged) {

  /** Whether the broker said that it has a settlement. */
  enum Acknowledged {
    YES,
    NO,
    UNKNOWN
  }
}
