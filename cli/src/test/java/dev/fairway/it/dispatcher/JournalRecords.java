package dev.fairway.it.dispatcher;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Cause;
import dev.fairway.schemas.CauseKind;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.RequestLease;
import java.nio.ByteBuffer;
import java.util.List;

/** Journal records as a coordinator would write them, decided by nobody. */
final class JournalRecords {

  static final byte[] CORRELATION = {0, -1, 7};

  private JournalRecords() {}

  /** The agent asks and is granted a lease of this length. */
  static AdmissionEvent granted(
      String key, long sequence, String agentId, String requestId, long ttlMs) {
    long atMs = System.currentTimeMillis();
    return record(
        key,
        sequence,
        atMs,
        agentId,
        requestId,
        LeaseGranted.newBuilder()
            .setQuota(key)
            .setRequestId(requestId)
            .setAgentId(agentId)
            .setLeaseId("lease-" + requestId)
            .setAttempt(1)
            .setCharged(Amounts.newBuilder().setRequests(1L).build())
            .setColdCache(false)
            .setGrantedAtMs(atMs)
            .setExpiresAtMs(atMs + ttlMs)
            .setVirtualTime(0)
            .setCorrelation(ByteBuffer.wrap(CORRELATION))
            .build());
  }

  /** The agent asks and is put in line. */
  static AdmissionEvent queued(String key, long sequence, String agentId, String requestId) {
    return record(
        key,
        sequence,
        System.currentTimeMillis(),
        agentId,
        requestId,
        LeaseQueued.newBuilder()
            .setQuota(key)
            .setRequestId(requestId)
            .setAgentId(agentId)
            .setPosition(1)
            .setEtaMs(1_000)
            .build());
  }

  private static AdmissionEvent record(
      String key, long sequence, long atMs, String agentId, String requestId, Object event) {
    LeaseRequest request =
        LeaseRequest.newBuilder()
            .setAgentId(agentId)
            .setRequestId(requestId)
            .setQuota(key)
            .setEstimate(Estimate.newBuilder().build())
            .build();
    return AdmissionEvent.newBuilder()
        .setKey(key)
        .setSequence(sequence)
        .setEpoch(1)
        .setAtMs(atMs)
        .setEngineVersion("test")
        .setCause(new Cause(CauseKind.RECORD, "requests", 0, sequence))
        .setCommand(new RequestLease(request, atMs))
        .setEvents(List.of(event))
        .build();
  }
}
