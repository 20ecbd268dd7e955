package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fairway.agent.fallback.FailMode;
import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Rejected;
import dev.fairway.schemas.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

@SuppressWarnings("FutureReturnValueIgnored") // What was sent is asserted, not each future.
class AcquireTest {
  private final ClientFixture client = new ClientFixture();

  @Test
  void shouldSendWhatTheCallSays() {
    // when
    client.calls.acquire(
        LeaseCall.of("key/sonnet")
            .taskId("task-1")
            .role("planner")
            .leaseClass("interactive")
            .inputTokens(80)
            .cachedTokens(900, Instant.ofEpochMilli(5_000))
            .maxOutputTokens(40)
            .estimateMethod("count")
            .retryOf("earlier")
            .repeatFailures(2)
            .unblocks(3)
            .tenant("payments")
            .deadline(Instant.ofEpochMilli(9_000))
            .build());

    // then
    LeaseRequest request = client.outbox.requests.get(0);
    assertThat(request.getAgentId()).isEqualTo("agent-1");
    assertThat(request.getQuota()).isEqualTo("key/sonnet");
    assertThat(request.getTaskId()).isEqualTo("task-1");
    assertThat(request.getRole()).isEqualTo("planner");
    assertThat(request.getClass$()).isEqualTo("interactive");
    assertThat(request.getRetryOf()).isEqualTo("earlier");
    assertThat(request.getRepeatFailures()).isEqualTo(2);
    assertThat(request.getUnblocks()).isEqualTo(3);
    assertThat(request.getTenant()).isEqualTo("payments");
    assertThat(request.getDeadlineMs()).isEqualTo(9_000);
    assertThat(request.getEstimate().getInputTokens()).isEqualTo(80);
    assertThat(request.getEstimate().getCachedTokens()).isEqualTo(900);
    assertThat(request.getEstimate().getCacheExpiresAtMs()).isEqualTo(5_000);
    assertThat(request.getEstimate().getMaxOutputTokens()).isEqualTo(40);
    assertThat(request.getEstimate().getMethod()).isEqualTo("count");
  }

  @Test
  void shouldLeaveUnknownNumbersUnknown() {
    // when
    client.calls.acquire(LeaseCall.of("key").build());

    // then
    LeaseRequest request = client.outbox.requests.get(0);
    assertThat(request.getEstimate().getInputTokens()).isNull();
    assertThat(request.getEstimate().getMaxOutputTokens()).isNull();
    assertThat(request.getEstimate().getCacheExpiresAtMs()).isNull();
    assertThat(request.getUnblocks()).isNull();
    assertThat(request.getDeadlineMs()).isNull();
  }

  @Test
  void shouldCompleteWithTheLeaseWhenGranted() {
    // given
    CompletableFuture<Lease> future = client.acquire();
    String requestId = client.lastRequestId();

    // when
    client.deliver(client.grant(requestId, 1));

    // then
    Lease lease = future.join();
    assertThat(lease.requestId()).isEqualTo(requestId);
    assertThat(lease.leaseId()).isEqualTo("lease-" + requestId + "-1");
    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(lease.quota()).isEqualTo("key/sonnet");
    assertThat(lease.charged()).isEqualTo(new Charge(1L, 100L, null, null, null));
    assertThat(lease.usable()).isTrue();
    assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(ClientFixture.TTL_MS));
    assertThat(client.stats().pendingCalls()).isZero();
    assertThat(client.stats().openLeases()).isEqualTo(1);
  }

  @Test
  void shouldTellWhereTheCallStandsInLine() {
    // given
    List<QueueUpdate> updates = new ArrayList<>();
    CompletableFuture<Lease> future =
        client.calls.acquire(ClientFixture.call().onQueued(updates::add).build());
    String requestId = client.lastRequestId();

    // when
    client.deliver(client.queued(requestId, 3, 4_000));
    client.deliver(client.queued(requestId, 1, 900));

    // then
    assertThat(updates)
        .containsExactly(
            new QueueUpdate(3, Duration.ofMillis(4_000), Optional.empty(), Optional.empty()),
            new QueueUpdate(1, Duration.ofMillis(900), Optional.empty(), Optional.empty()));
    assertThat(future).isNotDone();
  }

  @Test
  void shouldGrantAlthoughTheQueueListenerThrows() {
    // given
    CompletableFuture<Lease> future =
        client.calls.acquire(
            ClientFixture.call()
                .onQueued(
                    update -> {
                      throw new IllegalStateException("listener");
                    })
                .build());
    String requestId = client.lastRequestId();

    // when
    client.deliver(client.queued(requestId, 1, 900));
    client.deliver(client.grant(requestId, 1));

    // then
    assertThat(future).isCompleted();
  }

  @Test
  void shouldFailWithReasonAndTimeWhenRejected() {
    // given
    CompletableFuture<Lease> future = client.acquire();

    // when
    client.deliver(client.rejected(client.lastRequestId(), RejectReason.QUEUE_FULL, 1_500L));

    // then
    LeaseRejectedException rejected = failure(future, LeaseRejectedException.class);
    assertThat(rejected.reason()).isEqualTo(RejectReason.QUEUE_FULL);
    assertThat(rejected.detail()).isEqualTo("because");
    assertThat(rejected.retryAfter()).contains(Duration.ofMillis(1_500));
    assertThat(rejected.requestId()).isEqualTo(client.lastRequestId());
    assertThat(rejected).hasMessageContaining("QUEUE_FULL").hasMessageContaining("1500 ms");
    assertThat(client.outbox.settlements).isEmpty();
  }

  @Test
  void shouldNotKnowWhenToComeBackWhereTheCoordinatorSaysNever() {
    // given
    CompletableFuture<Lease> future = client.acquire();

    // when
    client.deliver(client.rejected(client.lastRequestId(), RejectReason.NEVER_FITS, null));

    // then
    assertThat(failure(future, LeaseRejectedException.class).retryAfter()).isEmpty();
  }

  @Test
  void shouldDeriveTheTimeToComeBackFromTheCoordinatorsClockAlone() {
    // given
    CompletableFuture<Lease> future = client.acquire();
    Decision.Builder decision = client.decision(client.lastRequestId(), DecisionStatus.REJECTED);
    Rejected rejected =
        Rejected.newBuilder()
            .setReason(RejectReason.QUOTA_EXHAUSTED)
            .setRetryAtMs(decision.getDecidedAtMs() + 7_000)
            .build();

    // when
    client.deliver(decision.setRejected(rejected).build());

    // then
    assertThat(failure(future, LeaseRejectedException.class).retryAfter())
        .contains(Duration.ofSeconds(7));
  }

  /** Case C56: a call's own timeout, and the default where it has none. */
  @Test
  void shouldApplyTheCallsTimeoutOrElseTheDefault() {
    // given
    ClientFixture client = new ClientFixture(builder -> builder.callTimeout(Duration.ofSeconds(5)));
    CompletableFuture<Lease> own =
        client.calls.acquire(ClientFixture.call().timeout(Duration.ofMillis(200)).build());
    CompletableFuture<Lease> standard =
        client.calls.acquire(ClientFixture.call().timeout(null).build());

    // when / then
    client.timers.advance(199);
    assertThat(own).isNotDone();
    client.timers.advance(1);
    assertThat(failure(own, AdmissionTimeoutException.class).timeout())
        .isEqualTo(Duration.ofMillis(200));
    client.timers.advance(4_799);
    assertThat(standard).isNotDone();
    client.timers.advance(1);
    assertThat(failure(standard, AdmissionTimeoutException.class).timeout())
        .isEqualTo(Duration.ofSeconds(5));
    assertThat(client.stats().timeouts()).isEqualTo(2);
  }

  @Test
  void shouldCancelTheRequestOnTimeout() {
    // given
    CompletableFuture<Lease> future = client.acquire();

    // when
    client.timers.advance(client.config.callTimeout().toMillis());

    // then
    assertThat(future).isCompletedExceptionally();
    assertCancelled(client.lastRequestId());
    assertThat(client.timers.scheduled()).isZero();
  }

  @Test
  void shouldCancelTheRequestWhenTheFutureIsCancelled() {
    // given
    CompletableFuture<Lease> future = client.acquire();

    // when
    future.cancel(true);

    // then
    assertCancelled(client.lastRequestId());
    assertThat(client.stats().cancellations()).isEqualTo(1);
    assertThat(client.stats().pendingCalls()).isZero();
    assertThat(client.timers.scheduled()).isZero();
  }

  @Test
  void shouldCancelTheRequestWhenTheHolderCompletesTheFutureItself() {
    // given
    CompletableFuture<Lease> future = client.acquire();

    // when
    future.completeExceptionally(new IllegalStateException("gave up"));

    // then
    assertCancelled(client.lastRequestId());
  }

  @Test
  void shouldReturnAGrantThatArrivesAfterTheTimeout() {
    // given
    client.acquire();
    String requestId = client.lastRequestId();
    client.timers.advance(client.config.callTimeout().toMillis());

    // when
    client.deliver(client.grant(requestId, 1));

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.CANCELLED, Outcome.NOT_SENT);
    assertThat(client.outbox.lastSettlement().getLeaseId()).isEqualTo("lease-" + requestId + "-1");
    assertThat(client.stats().returnedGrants()).isEqualTo(1);
  }

  @Test
  void shouldReturnAGrantOnceThoughItIsDeliveredTwice() {
    // given
    CompletableFuture<Lease> future = client.acquire();
    future.cancel(false);
    Decision grant = client.grant(client.lastRequestId(), 1);

    // when
    client.deliver(grant);
    client.deliver(grant);

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.CANCELLED, Outcome.NOT_SENT);
  }

  @Test
  void shouldSendAnUnansweredRequestAgainUnchangedAtDoublingIntervals() {
    // given
    ClientFixture client = new ClientFixture(builder -> builder.callTimeout(Duration.ofHours(1)));
    client.acquire();

    // when: 2 s, then 4, 8, 16, 30 and 30 s later
    List<Integer> sends = new ArrayList<>();
    for (long second = 1; second <= 90; second++) {
      client.timers.advance(1_000);
      if (second == 1
          || second == 2
          || second == 6
          || second == 14
          || second == 30
          || second == 60
          || second == 90) {
        sends.add(client.outbox.requests.size());
      }
    }

    // then
    assertThat(sends).containsExactly(1, 2, 3, 4, 5, 6, 7);
    assertThat(client.outbox.requests).allMatch(client.outbox.requests.get(0)::equals);
    assertThat(client.stats().resends()).isEqualTo(6);
  }

  @Test
  void shouldNotSendAgainOnceAnswered() {
    // given
    client.granted().close();

    // when
    client.timers.advance(60_000);

    // then
    assertThat(client.outbox.requests).hasSize(1);
  }

  @Test
  void shouldNotSendAgainWhileTheProducerStillTries() {
    // given
    client.outbox.silence();
    client.acquire();

    // when
    client.timers.advance(10_000);
    int whileTrying = client.outbox.requests.size();
    client.outbox.acknowledge();
    client.timers.advance(2_000);

    // then
    assertThat(whileTrying).isEqualTo(1);
    assertThat(client.outbox.requests).hasSize(2);
  }

  @Test
  void shouldAskAgainWhenAQueuedCallHearsNothingLongAfterItsEta() {
    // given: the grant got lost, and the coordinator is there for others
    ClientFixture client =
        new ClientFixture(
            builder -> builder.fallback(new FallbackConfig(FailMode.CLOSED, Duration.ofHours(1))));
    client.acquire();
    client.deliver(client.queued(client.lastRequestId(), 1, 10_000));

    // when / then: 10 s of ETA and 30 s of patience
    client.timers.advance(39_999);
    assertThat(client.outbox.requests).hasSize(1);
    client.timers.advance(1);
    assertThat(client.outbox.requests).hasSize(2);
  }

  @Test
  void shouldFailAtOnceWhenTheRequestCanNeverBeSent() {
    // given
    client.outbox.fail(new RecordTooLargeException("too large"));

    // when
    CompletableFuture<Lease> future = client.acquire();

    // then
    assertThat(failure(future, AdmissionException.class))
        .hasCauseInstanceOf(RecordTooLargeException.class)
        .hasMessageContaining("key/sonnet");
    assertThat(client.stats().pendingCalls()).isZero();
  }

  @Test
  void shouldKeepTryingWhenTheBrokersAreOutOfReach() {
    // given
    client.outbox.fail(new TimeoutException("no broker"));
    CompletableFuture<Lease> future = client.acquire();

    // when
    client.outbox.fail(null);
    client.timers.advance(2_000);
    client.deliver(client.grant(client.lastRequestId(), 1));

    // then
    assertThat(client.outbox.requests).hasSize(2);
    assertThat(future).isCompleted();
  }

  @Test
  void shouldRefuseMoreWaitingCallsThanItsBound() {
    // given
    ClientFixture client = new ClientFixture(builder -> builder.bounds(2, 10));
    client.acquire();
    CompletableFuture<Lease> second = client.acquire();

    // when
    CompletableFuture<Lease> third = client.acquire();

    // then
    assertThat(failure(third, AdmissionException.class))
        .hasMessageContaining("Expected fewer than 2 waiting calls")
        .hasMessageContaining("pendingCallsMax");
    assertThat(client.outbox.requests).hasSize(2);
    second.cancel(false);
    assertThat(client.acquire()).isNotDone();
  }

  @Test
  void shouldRefuseACallWhenItsLeaseWouldExceedTheBound() {
    // given
    ClientFixture client = new ClientFixture(builder -> builder.bounds(10, 2));
    Lease open = client.granted();
    client.acquire();

    // when
    CompletableFuture<Lease> third = client.acquire();

    // then
    assertThat(failure(third, AdmissionException.class)).hasMessageContaining("openLeasesMax");
    open.close();
    assertThat(client.acquire()).isNotDone();
  }

  @Test
  void shouldCancelWaitingCallsAndRefuseNewOnesWhenClosed() {
    // given
    CompletableFuture<Lease> waiting = client.acquire();
    String requestId = client.lastRequestId();
    client.granted();

    // when
    client.calls.close();
    client.leases.close();

    // then
    assertThat(waiting).isCancelled();
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.CANCELLED, Outcome.NOT_SENT);
    assertThat(client.outbox.settlements.get(0).getRequestId()).isEqualTo(requestId);
    assertThat(failure(client.acquire(), AdmissionException.class)).hasMessageContaining("closed");
    assertThat(client.timers.scheduled()).isZero();
  }

  private void assertCancelled(String requestId) {
    Settlement settlement = client.outbox.lastSettlement();
    assertThat(settlement.getOutcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(settlement.getRequestId()).isEqualTo(requestId);
    assertThat(settlement.getLeaseId()).isNull();
    assertThat(settlement.getQuota()).isEqualTo("key/sonnet");
  }

  static <T extends Throwable> T failure(CompletableFuture<?> future, Class<T> type) {
    assertThat(future).isCompletedExceptionally();
    Throwable thrown = catchThrowable(future::join);
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    return catchThrowableOfType(
        type,
        () -> {
          throw cause;
        });
  }
}
