package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

@SuppressWarnings("FutureReturnValueIgnored") // What was sent is asserted, not each future.
class RepliesTest {
  private final ClientFixture client = new ClientFixture();

  @Test
  void shouldIgnoreADecisionThatIsDeliveredTwice() {
    // given
    List<QueueUpdate> updates = new ArrayList<>();
    client.calls.acquire(ClientFixture.call().onQueued(updates::add).build());
    Decision queued = client.queued(client.lastRequestId(), 2, 500);

    // when
    client.deliver(queued);
    client.deliver(queued);

    // then
    assertThat(updates).hasSize(1);
    assertThat(client.stats().duplicateReplies()).isEqualTo(1);
  }

  @Test
  void shouldIgnoreADecisionOlderThanOneSeen() {
    // given
    List<QueueUpdate> updates = new ArrayList<>();
    client.calls.acquire(ClientFixture.call().onQueued(updates::add).build());
    String requestId = client.lastRequestId();
    Decision older = client.queued(requestId, 5, 5_000);
    Decision newer = client.queued(requestId, 2, 500);

    // when
    client.deliver(newer);
    client.deliver(older);

    // then
    assertThat(updates).extracting(QueueUpdate::position).containsExactly(2);
    assertThat(client.stats().duplicateReplies()).isEqualTo(1);
  }

  @Test
  void shouldTakeALaterEpochWhateverItsSequence() {
    // given
    CompletableFuture<Lease> future = client.acquire();
    String requestId = client.lastRequestId();
    client.deliver(client.queued(requestId, 5, 5_000));

    // when
    Decision grant =
        client.grantBuilder(requestId, 1, ClientFixture.TTL_MS).setEpoch(2).setSequence(0).build();
    client.deliver(grant);

    // then
    assertThat(future).isCompleted();
  }

  @Test
  void shouldIgnoreARejectOlderThanTheQueuedDecision() {
    // given
    CompletableFuture<Lease> future = client.acquire();
    String requestId = client.lastRequestId();
    Decision older = client.rejected(requestId, RejectReason.QUEUE_FULL, 10L);
    client.deliver(client.queued(requestId, 5, 5_000));

    // when
    client.deliver(older);

    // then
    assertThat(future).isNotDone();
  }

  /** Case C53: on a shared topic every client reads what is meant for the others. */
  @Test
  void shouldIgnoreRepliesToOthersSilently() {
    // given
    CompletableFuture<Lease> own = client.acquire();
    String requestId = client.lastRequestId();

    // when
    client.deliver(client.grant("somebody-elses", 1));
    client.deliver(
        client.grantBuilder(requestId, 1, ClientFixture.TTL_MS).setAgentId("agent-2").build());

    // then
    assertThat(own).isNotDone();
    assertThat(client.outbox.settlements).isEmpty();
    assertThat(client.stats().foreignReplies()).isEqualTo(2);
    client.deliver(client.grant(requestId, 1));
    assertThat(own).isCompleted();
  }

  @Test
  void shouldNotOpenASecondLeaseForARepeatedGrant() {
    // given
    Lease lease = client.granted();

    // when
    client.deliver(client.grant(lease.requestId(), 1));

    // then
    assertThat(client.stats().openLeases()).isEqualTo(1);
    assertThat(client.outbox.settlements).isEmpty();
    assertThat(lease.usable()).isTrue();
  }

  @Test
  void shouldCountADecisionThatSaysNothing() {
    // given
    CompletableFuture<Lease> future = client.acquire();

    // when
    client.deliver(client.decision(client.lastRequestId(), DecisionStatus.GRANTED).build());

    // then
    assertThat(future).isNotDone();
    assertThat(client.stats().unreadableReplies()).isEqualTo(1);
  }

  @Test
  void shouldReturnALateGrantAndAskAgain() {
    // given: the clocks are known from an earlier call; then the process stands still
    client.granted().close();
    client.outbox.settlements.clear();
    CompletableFuture<Lease> future =
        client.calls.acquire(ClientFixture.call().timeout(Duration.ofHours(1)).build());
    String requestId = client.lastRequestId();
    Decision grant = client.grant(requestId, 1, 10_000);
    client.timers.freeze(60_000);

    // when
    client.deliver(grant);

    // then
    assertThat(future).isNotDone();
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.NOT_SENT);
    assertThat(client.outbox.lastSettlement().getLeaseId()).isEqualTo("lease-" + requestId + "-1");
    assertThat(client.lastRequestId()).isNotEqualTo(requestId);
    assertThat(client.outbox.requests).last().extracting(LeaseRequest::getRetryOf).isNull();
    client.deliver(client.grant(client.lastRequestId(), 1));
    assertThat(future.join().requestId()).isEqualTo(client.lastRequestId());
    assertThat(client.stats().lateGrants()).isEqualTo(1);
  }

  @Test
  void shouldGiveUpAfterThreeLateGrants() {
    // given
    client.granted().close();
    CompletableFuture<Lease> future =
        client.calls.acquire(ClientFixture.call().timeout(Duration.ofHours(1)).build());

    // when
    for (int i = 0; i < Decisions.EXPIRED_GRANTS_MAX; i++) {
      assertThat(future).isNotDone();
      Decision grant = client.grant(client.lastRequestId(), 1, 10_000);
      client.timers.freeze(60_000);
      client.deliver(grant);
    }

    // then
    LeaseRejectedException rejected = AcquireTest.failure(future, LeaseRejectedException.class);
    assertThat(rejected.reason()).isEqualTo(RejectReason.LEASE_EXPIRED);
    assertThat(rejected.detail()).contains("3 grants");
    assertThat(client.stats().pendingCalls()).isZero();
  }

  @Test
  void shouldAskAgainWhenItsGrantGotLostAndExpired() {
    // given
    CompletableFuture<Lease> future = client.acquire();
    String requestId = client.lastRequestId();

    // when
    client.deliver(client.rejected(requestId, RejectReason.LEASE_EXPIRED, null));

    // then
    assertThat(future).isNotDone();
    assertThat(client.lastRequestId()).isNotEqualTo(requestId);
    client.deliver(client.grant(client.lastRequestId(), 1));
    assertThat(future).isCompleted();
    assertThat(client.outbox.settlements).isEmpty();
  }

  @Test
  void shouldSayThatItIsARetryWhenTheGrantAfterA429GotLost() {
    // given
    Lease first = client.granted();
    CompletableFuture<Lease> second = first.rateLimitedRequeue(null);

    // when
    client.deliver(client.rejected(first.requestId(), RejectReason.LEASE_EXPIRED, null));

    // then
    assertThat(client.outbox.requests).hasSize(2);
    assertThat(client.outbox.requests.get(1).getRetryOf()).isEqualTo(first.requestId());
    client.deliver(client.grant(client.lastRequestId(), 1));
    assertThat(second).isCompleted();
  }

  @Test
  void shouldTakeAQueuedCallsGrantThatWasDecidedLongAfterItsRequest() {
    // given: an empty past, and a wait longer than the time to live
    CompletableFuture<Lease> future =
        client.calls.acquire(ClientFixture.call().timeout(Duration.ofHours(1)).build());
    String requestId = client.lastRequestId();
    client.deliver(client.queued(requestId, 1, 600_000));
    client.timers.advance(600_000);

    // when
    client.deliver(client.grant(requestId, 1));

    // then
    assertThat(future.join().remaining()).isEqualTo(Duration.ofMillis(ClientFixture.TTL_MS));
  }
}
