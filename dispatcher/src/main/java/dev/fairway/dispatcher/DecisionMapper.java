package dev.fairway.dispatcher;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.EtaRevised;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.Queued;
import dev.fairway.schemas.Rejected;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.SafeCapacity;
import dev.fairway.schemas.SafeCapacityTold;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Turns a journal record into the decisions that agents are told. Pure. */
final class DecisionMapper {

  private DecisionMapper() {}

  /**
   * The decisions among the events of a journal record, in their order; empty if there are none.
   *
   * <p>A decision's id is made of the record's key, epoch and sequence and of the event's place in
   * it, so it is the same however often the record is read.
   */
  static List<Decision> decisionsOf(AdmissionEvent record) {
    List<Decision> decisions = new ArrayList<>();
    List<?> events = record.getEvents();
    Map<Addressee, SafeCapacity> safe = safeCapacities(record);
    for (int index = 0; index < events.size(); index++) {
      Decision decision = decisionOf(record, index, events.get(index), safe);
      if (decision != null) {
        decisions.add(decision);
      }
    }
    return decisions;
  }

  private record Addressee(String quota, String agentId) {}

  /** What each agent that is told a decision may use alone, as the same record says. */
  private static Map<Addressee, SafeCapacity> safeCapacities(AdmissionEvent record) {
    Map<Addressee, SafeCapacity> safe = new HashMap<>();
    for (Object event : record.getEvents()) {
      if (event instanceof SafeCapacityTold e) {
        safe.put(
            new Addressee(e.getQuota(), e.getAgentId()),
            new SafeCapacity(e.getPerMinute(), millisFrom(record.getAtMs(), e.getValidUntilMs())));
      }
    }
    return safe;
  }

  /** Whether the record handles a request of this agent: whoever asks is there to be answered. */
  static boolean isRequestOf(AdmissionEvent record, String agentId) {
    return record.getCommand() instanceof RequestLease request
        && request.getRequest().getAgentId().equals(agentId);
  }

  private static Decision decisionOf(
      AdmissionEvent record, int index, Object event, Map<Addressee, SafeCapacity> safe) {
    boolean repeated = event instanceof DecisionRepeated;
    Object decided = event instanceof DecisionRepeated again ? again.getDecision() : event;
    if (decided instanceof LeaseGranted e) {
      return start(record, index, repeated, e.getRequestId(), e.getAgentId(), e.getQuota(), safe)
          .setStatus(DecisionStatus.GRANTED)
          .setGranted(grant(record, e))
          .setCorrelation(copy(e.getCorrelation()))
          .build();
    }
    if (decided instanceof LeaseQueued e) {
      return start(record, index, repeated, e.getRequestId(), e.getAgentId(), e.getQuota(), safe)
          .setStatus(DecisionStatus.QUEUED)
          .setQueued(new Queued(e.getPosition(), e.getEtaMs(), e.getEtaP90Ms(), e.getWaitsFor()))
          .setCorrelation(copy(e.getCorrelation()))
          .build();
    }
    if (decided instanceof EtaRevised e) {
      return start(record, index, repeated, e.getRequestId(), e.getAgentId(), e.getQuota(), safe)
          .setStatus(DecisionStatus.QUEUED)
          .setQueued(new Queued(e.getPosition(), e.getEtaMs(), e.getEtaP90Ms(), e.getWaitsFor()))
          .setCorrelation(copy(e.getCorrelation()))
          .build();
    }
    if (decided instanceof LeaseRejected e) {
      return start(record, index, repeated, e.getRequestId(), e.getAgentId(), e.getQuota(), safe)
          .setStatus(DecisionStatus.REJECTED)
          .setRejected(rejected(record, e))
          .setCorrelation(copy(e.getCorrelation()))
          .build();
    }
    return null;
  }

  private static Decision.Builder start(
      AdmissionEvent record,
      int index,
      boolean repeated,
      String requestId,
      String agentId,
      String quota,
      Map<Addressee, SafeCapacity> safe) {
    return Decision.newBuilder()
        .setDecisionId(
            record.getKey() + ':' + record.getEpoch() + ':' + record.getSequence() + ':' + index)
        .setRequestId(requestId)
        .setAgentId(agentId)
        .setQuota(quota)
        .setDecidedAtMs(record.getAtMs())
        .setEpoch(record.getEpoch())
        .setSequence(record.getSequence())
        .setRepeated(repeated)
        .setSafeCapacity(safe.get(new Addressee(quota, agentId)));
  }

  private static Grant grant(AdmissionEvent record, LeaseGranted e) {
    return Grant.newBuilder()
        .setLeaseId(e.getLeaseId())
        .setAttempt(e.getAttempt())
        .setCharged(e.getCharged())
        .setExpiresAtMs(e.getExpiresAtMs())
        .setTtlMs(millisFrom(record.getAtMs(), e.getExpiresAtMs()))
        .build();
  }

  private static Rejected rejected(AdmissionEvent record, LeaseRejected e) {
    Long retryAtMs = e.getRetryAtMs();
    return Rejected.newBuilder()
        .setReason(e.getReason())
        .setDetail(e.getDetail())
        .setRetryAtMs(retryAtMs)
        .setRetryAfterMs(retryAtMs == null ? null : millisFrom(record.getAtMs(), retryAtMs))
        .build();
  }

  private static long millisFrom(long fromMs, long toMs) {
    return Math.max(0, toMs - fromMs);
  }

  /** A view of its own, because who writes the decision moves the buffer's position. */
  private static ByteBuffer copy(ByteBuffer bytes) {
    return bytes == null ? null : bytes.duplicate();
  }
}
