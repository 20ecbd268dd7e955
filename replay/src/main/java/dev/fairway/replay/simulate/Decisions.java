package dev.fairway.replay.simulate;

import dev.fairway.replay.world.Admission;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.Queued;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Rejected;

/** Decision records as a dispatcher would deliver them. */
final class Decisions {
  private Decisions() {}

  static Decision granted(
      String requestId,
      String agentId,
      long atMs,
      String leaseId,
      int attempt,
      Amounts charged,
      long expiresAtMs) {
    Grant grant = new Grant(leaseId, attempt, charged, expiresAtMs, expiresAtMs - atMs);
    return decision(requestId, agentId, atMs, DecisionStatus.GRANTED, grant, null, null);
  }

  static Decision queued(String requestId, String agentId, long atMs, int position, long etaMs) {
    Queued queued = new Queued(position, etaMs, null, null);
    return decision(requestId, agentId, atMs, DecisionStatus.QUEUED, null, queued, null);
  }

  static Decision rejected(
      String requestId,
      String agentId,
      long atMs,
      RejectReason reason,
      String detail,
      Long retryAtMs) {
    Long retryAfterMs = retryAtMs == null ? null : (Long) Math.max(0, retryAtMs - atMs);
    Rejected rejected = new Rejected(reason, detail, retryAtMs, retryAfterMs);
    return decision(requestId, agentId, atMs, DecisionStatus.REJECTED, null, null, rejected);
  }

  private static Decision decision(
      String requestId,
      String agentId,
      long atMs,
      DecisionStatus status,
      Grant granted,
      Queued queued,
      Rejected rejected) {
    return new Decision(
        requestId + "@" + atMs,
        requestId,
        agentId,
        Admission.QUOTA,
        atMs,
        0,
        0L,
        status,
        granted,
        queued,
        rejected,
        false,
        null,
        null);
  }
}
