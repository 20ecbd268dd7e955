package dev.fairway.agent;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.Queued;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Rejected;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** The client without Kafka, in virtual time; the test plays the coordinator. */
final class ClientFixture {
  static final String AGENT = "agent-1";
  static final String QUOTA = "key/sonnet";
  static final long TTL_MS = 120_000;

  /** The coordinator's clock has nothing to do with the client's. */
  static final long CLOCK_OFFSET_MS = 1_700_000_000_000L;

  final VirtualTimers timers = new VirtualTimers();
  final RecordingOutbox outbox = new RecordingOutbox();
  final Counters counters = new Counters();
  final AdmissionClientConfig config;
  final LeaseBook leases;
  final CallBook calls;
  private long sequence;

  ClientFixture() {
    this(builder -> builder);
  }

  ClientFixture(UnaryOperator<AdmissionClientConfig.Builder> settings) {
    this(settings, Handover.none());
  }

  ClientFixture(UnaryOperator<AdmissionClientConfig.Builder> settings, Handover handover) {
    config =
        settings
            .apply(
                AdmissionClientConfig.of("127.0.0.1:9092", "http://127.0.0.1:8081", AGENT)
                    .completionExecutor(Runnable::run))
            .build();
    ClientContext context =
        new ClientContext(config, timers, outbox, new Completions(Runnable::run, timers), counters);
    leases = new LeaseBook(context);
    calls = new CallBook(context, leases, new RequestIds(), handover);
  }

  static LeaseCall.Builder call() {
    return LeaseCall.of(QUOTA).inputTokens(100).maxOutputTokens(50);
  }

  CompletableFuture<Lease> acquire() {
    return calls.acquire(call().build());
  }

  /** A lease of a call that is answered at once. */
  Lease granted() {
    CompletableFuture<Lease> future = acquire();
    deliver(grant(lastRequestId(), 1));
    return future.join();
  }

  String lastRequestId() {
    return outbox.requests.get(outbox.requests.size() - 1).getRequestId();
  }

  long coordinatorNowMs() {
    return timers.nowMs() + CLOCK_OFFSET_MS;
  }

  void deliver(Decision decision) {
    calls.onDecision(decision, timers.nowMs());
  }

  Decision grant(String requestId, int attempt) {
    return grant(requestId, attempt, TTL_MS);
  }

  Decision grant(String requestId, int attempt, long ttlMs) {
    return grantBuilder(requestId, attempt, ttlMs).build();
  }

  Decision.Builder grantBuilder(String requestId, int attempt, long ttlMs) {
    return decision(requestId, DecisionStatus.GRANTED)
        .setGranted(
            Grant.newBuilder()
                .setLeaseId("lease-" + requestId + "-" + attempt)
                .setAttempt(attempt)
                .setCharged(Amounts.newBuilder().setRequests(1L).setInputTokens(100L).build())
                .setExpiresAtMs(coordinatorNowMs() + ttlMs)
                .setTtlMs(ttlMs)
                .build());
  }

  Decision queued(String requestId, int position, long etaMs) {
    return decision(requestId, DecisionStatus.QUEUED)
        .setQueued(Queued.newBuilder().setPosition(position).setEtaMs(etaMs).build())
        .build();
  }

  Decision rejected(String requestId, RejectReason reason, Long retryAfterMs) {
    return decision(requestId, DecisionStatus.REJECTED)
        .setRejected(
            Rejected.newBuilder()
                .setReason(reason)
                .setDetail("because")
                .setRetryAfterMs(retryAfterMs)
                .build())
        .build();
  }

  Decision.Builder decision(String requestId, DecisionStatus status) {
    sequence++;
    return Decision.newBuilder()
        .setDecisionId("decision-" + sequence)
        .setRequestId(requestId)
        .setAgentId(outbox.agentOf(requestId).orElse(AGENT))
        .setQuota(QUOTA)
        .setDecidedAtMs(coordinatorNowMs())
        .setEpoch(1)
        .setSequence(sequence)
        .setStatus(status);
  }

  AdmissionClientStats stats() {
    return counters.snapshot(calls.pendingCalls(), leases.size(), calls.silentKeys());
  }

  static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }
}
