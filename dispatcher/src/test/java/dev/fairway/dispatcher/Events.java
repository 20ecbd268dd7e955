package dev.fairway.dispatcher;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Cause;
import dev.fairway.schemas.CauseKind;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.Tick;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaitsFor;
import java.nio.ByteBuffer;
import java.util.List;

/** Journal records for tests: key {@code k}, sequence 7, epoch 3, decided at 1000. */
final class Events {

  static final long AT_MS = 1_000;

  private Events() {}

  static AdmissionEvent ticked(Object... events) {
    return record(new Tick(), events);
  }

  static AdmissionEvent asked(String agentId, String requestId, Object... events) {
    LeaseRequest request =
        LeaseRequest.newBuilder()
            .setAgentId(agentId)
            .setRequestId(requestId)
            .setQuota("k/q")
            .setEstimate(Estimate.newBuilder().build())
            .build();
    return record(new RequestLease(request, AT_MS), events);
  }

  static LeaseGranted granted(String agentId, String requestId, long expiresAtMs) {
    return LeaseGranted.newBuilder()
        .setQuota("k/q")
        .setRequestId(requestId)
        .setAgentId(agentId)
        .setLeaseId("lease-" + requestId)
        .setAttempt(2)
        .setCharged(Amounts.newBuilder().setInputTokens(80L).build())
        .setColdCache(false)
        .setGrantedAtMs(AT_MS)
        .setExpiresAtMs(expiresAtMs)
        .setVirtualTime(0)
        .setCorrelation(ByteBuffer.wrap(new byte[] {1, -2, 3}))
        .build();
  }

  static LeaseQueued queued(String agentId, String requestId) {
    return LeaseQueued.newBuilder()
        .setQuota("k/q")
        .setRequestId(requestId)
        .setAgentId(agentId)
        .setPosition(4)
        .setEtaMs(500)
        .setEtaP90Ms(900L)
        .setWaitsFor(new WaitsFor(WaitReason.LIMIT, "k/q", "requests"))
        .build();
  }

  static LeaseRejected rejected(String agentId, String requestId, Long retryAtMs) {
    return LeaseRejected.newBuilder()
        .setQuota("k/q")
        .setRequestId(requestId)
        .setAgentId(agentId)
        .setReason(RejectReason.QUEUE_FULL)
        .setDetail("Expected room, but found none. Come back.")
        .setRetryAtMs(retryAtMs)
        .build();
  }

  private static AdmissionEvent record(Object command, Object... events) {
    return AdmissionEvent.newBuilder()
        .setKey("k")
        .setSequence(7)
        .setEpoch(3)
        .setAtMs(AT_MS)
        .setEngineVersion("test")
        .setCause(new Cause(CauseKind.TICK, null, null, null))
        .setCommand(command)
        .setEvents(List.of(events))
        .build();
  }
}
