package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.SignalClass;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

@SuppressWarnings("FutureReturnValueIgnored") // What was sent is asserted, not each future.
class LeaseTest {
  private final ClientFixture client = new ClientFixture();

  @Test
  void shouldSettleWithUsageSignalAndMeasuredAges() {
    // given
    Lease lease = client.granted();
    client.timers.advance(5);
    lease.markSent();
    client.timers.advance(800);
    lease.markAnswered();
    client.timers.advance(100);

    // when
    CompletableFuture<Void> settled =
        lease.succeeded(
            UsageReport.of(75, 900, 10, 20),
            ProviderSignal.builder()
                .status(200)
                .kind(SignalClass.OK)
                .limit(Dimension.INPUT_TOKENS, 30_000L, 29_000L, Duration.ofSeconds(2))
                .build());

    // then
    assertThat(settled).isCompleted();
    Settlement settlement = client.outbox.lastSettlement();
    assertThat(settlement.getOutcome()).isEqualTo(Outcome.SUCCEEDED);
    assertThat(settlement.getLeaseId()).isEqualTo(lease.leaseId());
    assertThat(settlement.getRequestId()).isEqualTo(lease.requestId());
    assertThat(settlement.getAgentId()).isEqualTo("agent-1");
    assertThat(settlement.getQuota()).isEqualTo("key/sonnet");
    assertThat(settlement.getUsage().getInputTokens()).isEqualTo(75);
    assertThat(settlement.getUsage().getCacheReadTokens()).isEqualTo(900);
    assertThat(settlement.getUsage().getCacheWriteTokens()).isEqualTo(10);
    assertThat(settlement.getUsage().getOutputTokens()).isEqualTo(20);
    assertThat(settlement.getSignal().getMsSinceSend()).isEqualTo(900);
    assertThat(settlement.getSignal().getAgeMs()).isEqualTo(100);
    assertThat(settlement.getSignal().getStatus()).isEqualTo(200);
    assertThat(settlement.getSignal().getLimits().getInputTokens().getRemaining())
        .isEqualTo(29_000);
    assertThat(settlement.getSignal().getLimits().getInputTokens().getResetMs()).isEqualTo(2_000);
    assertThat(settlement.getSignal().getLimits().getRequests()).isNull();
    assertThat(lease.usable()).isFalse();
    assertThat(client.stats().openLeases()).isZero();
  }

  @Test
  void shouldSayInALogWhichLeaseItIsAndNotItsId() {
    // given
    Lease lease = client.granted();

    // then
    assertThat(lease.toString())
        .isEqualTo(
            "Lease of request "
                + lease.requestId()
                + ", agent agent-1, quota key/sonnet, attempt 1")
        .doesNotContain(lease.leaseId());
  }

  @Test
  void shouldTellTheTimesThatSomebodyElseMeasured() {
    // given
    Lease lease = client.granted();
    client.timers.advance(500);

    // when
    lease.measured(Duration.ofMinutes(2), Duration.ofMinutes(1));
    lease.overloaded(ProviderSignal.builder().status(529).build());

    // then
    assertThat(client.outbox.lastSettlement().getSignal().getMsSinceSend()).isEqualTo(120_000);
    assertThat(client.outbox.lastSettlement().getSignal().getAgeMs()).isEqualTo(60_000);
  }

  @Test
  void shouldLeaveAgesUnknownWhereNothingWasMarked() {
    // given
    Lease lease = client.granted();

    // when
    lease.overloaded(ProviderSignal.builder().status(529).build());

    // then
    assertThat(client.outbox.lastSettlement().getSignal().getMsSinceSend()).isNull();
    assertThat(client.outbox.lastSettlement().getSignal().getAgeMs()).isNull();
    assertThat(client.outbox.lastSettlement().getSignal().getLimits()).isNull();
  }

  @Test
  void shouldHaveNoSignalWhereThereWasNone() {
    // given
    Lease lease = client.granted();

    // when
    lease.succeeded(UsageReport.of(1, 1), null);

    // then
    assertThat(client.outbox.lastSettlement().getSignal()).isNull();
  }

  @Test
  void shouldGiveBackAnUnsentCallWhenClosed() {
    // given
    Lease lease = client.granted();

    // when
    lease.close();
    lease.close();

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.NOT_SENT);
  }

  @Test
  void shouldNotCallASentCallUnsentWhenClosed() {
    // given
    Lease sent = client.granted();
    sent.markSent();
    Lease streaming = client.granted();
    streaming.inProgress(UsageReport.inputOnly(90), null);

    // when
    sent.close();
    streaming.close();

    // then
    assertThat(client.outbox.outcomes())
        .containsExactly(Outcome.IN_PROGRESS, Outcome.FAILED_AFTER_SEND, Outcome.FAILED_AFTER_SEND);
  }

  @Test
  void shouldSendNothingMoreWhenClosedAfterAReport() {
    // given
    Lease lease = client.granted();
    lease.succeeded(UsageReport.of(1, 1), null);

    // when
    lease.close();

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.SUCCEEDED);
  }

  @Test
  void shouldCountTheFirstReportOnly() {
    // given
    Lease lease = client.granted();
    lease.succeeded(UsageReport.of(1, 1), null);

    // when
    CompletableFuture<Void> same = lease.succeeded(UsageReport.of(1, 1), null);
    CompletableFuture<Void> other = lease.notSent();
    CompletableFuture<Void> interim = lease.inProgress(null, null);

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.SUCCEEDED);
    assertThat(same).isCompleted();
    assertThat(AcquireTest.failure(other, AdmissionException.class))
        .hasMessageContaining("settled as SUCCEEDED");
    assertThat(interim).isCompletedExceptionally();
  }

  @Test
  void shouldRefuseOutcomesThatAreNotFinal() {
    // given
    Lease lease = client.granted();

    // when / then
    for (Outcome outcome :
        new Outcome[] {Outcome.IN_PROGRESS, Outcome.CANCELLED, Outcome.UNLEASED, null}) {
      assertThatThrownBy(() -> lease.settle(outcome, null, null))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("SUCCEEDED");
    }
    assertThat(lease.usable()).isTrue();
  }

  @Test
  void shouldSettleACallThatWasGivenUpAsCancelled() {
    // given
    Lease lease = client.granted();
    lease.markSent();

    // when
    CompletableFuture<Void> told = lease.cancelled(new UsageReport(70L, null, null, null, false));
    lease.close();

    // then
    assertThat(told).isCompleted();
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.CANCELLED);
    assertThat(lease.usable()).isFalse();
  }

  @Test
  void shouldCompleteASettlementOnlyOnceTheBrokerHasIt() {
    // given
    Lease lease = client.granted();
    client.outbox.silence();

    // when
    CompletableFuture<Void> settled = lease.succeeded(UsageReport.of(1, 1), null);

    // then
    assertThat(settled).isNotDone();
    client.outbox.acknowledge();
    assertThat(settled).isCompleted();
  }

  @Test
  void shouldSayWhatItMeansWhenASettlementCannotBeDelivered() {
    // given
    Lease lease = client.granted();
    client.outbox.fail(new TimeoutException("no broker"));

    // when
    CompletableFuture<Void> settled = lease.succeeded(UsageReport.of(1, 1), null);

    // then
    assertThat(AcquireTest.failure(settled, AdmissionException.class))
        .hasMessageContaining("SUCCEEDED")
        .hasMessageContaining("stays charged")
        .hasCauseInstanceOf(TimeoutException.class);
  }

  @Test
  void shouldRenewAtHalfTimeWhileNothingIsReported() {
    // given
    Lease lease = client.granted();

    // when: five times the time to live
    client.timers.advance(5 * ClientFixture.TTL_MS);

    // then
    assertThat(lease.usable()).isTrue();
    assertThat(client.outbox.settlements)
        .hasSize(10)
        .allMatch(
            settlement ->
                settlement.getOutcome() == Outcome.IN_PROGRESS
                    && settlement.getUsage() == null
                    && lease.leaseId().equals(settlement.getLeaseId()));
    assertThat(client.stats().renewals()).isEqualTo(10);
  }

  @Test
  void shouldStopRenewingOnceSettled() {
    // given
    Lease lease = client.granted();
    lease.succeeded(UsageReport.of(1, 1), null);

    // when
    client.timers.advance(5 * ClientFixture.TTL_MS);

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.SUCCEEDED);
    assertThat(client.timers.scheduled()).isZero();
  }

  @Test
  void shouldLetAForgottenLeaseExpireAfterTheBound() {
    // given
    ClientFixture client = new ClientFixture(builder -> builder.renewFor(Duration.ofMinutes(10)));
    Lease lease = client.granted();

    // when
    client.timers.advance(Duration.ofMinutes(30).toMillis());

    // then
    assertThat(lease.usable()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThat(client.stats().renewals()).isEqualTo(9);
    assertThat(client.timers.scheduled()).isZero();
  }

  @Test
  void shouldNotOutliveARenewalThatTheBrokerDidNotTake() {
    // given
    Lease lease = client.granted();
    client.outbox.silence();

    // when
    client.timers.advance(ClientFixture.TTL_MS);
    boolean usable = lease.usable();
    client.outbox.acknowledge();

    // then
    assertThat(usable).isFalse();
    assertThat(lease.usable()).isFalse();
    assertThatThrownBy(lease::markSent)
        .isInstanceOf(AdmissionException.class)
        .hasMessageContaining("has expired");
    assertThat(client.stats().renewals()).isEqualTo(1);
  }

  @Test
  void shouldCountARenewedLeaseFromTheSendingOfTheRenewal() {
    // given
    Lease lease = client.granted();
    client.timers.advance(10_000);
    client.outbox.silence();
    lease.inProgress(UsageReport.inputOnly(70), null);
    client.timers.advance(2_000);

    // when
    client.outbox.acknowledge();

    // then
    assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(ClientFixture.TTL_MS - 2_000));
  }

  @Test
  void shouldStillSettleAnExpiredLease() {
    // given
    Lease lease = client.granted();
    lease.markSent();
    client.timers.freeze(ClientFixture.TTL_MS + 1);

    // when
    lease.succeeded(UsageReport.of(1, 1), null);

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.SUCCEEDED);
  }

  @Test
  void shouldWaitForTheNextAttemptOfTheSameRequestAfterARequeue() {
    // given
    Lease first = client.granted();
    first.markSent();

    // when
    CompletableFuture<Lease> second =
        first.rateLimitedRequeue(ProviderSignal.rateLimited(Duration.ofSeconds(3)));

    // then
    Settlement settlement = client.outbox.lastSettlement();
    assertThat(settlement.getOutcome()).isEqualTo(Outcome.RATE_LIMITED);
    assertThat(settlement.getRequeue()).isTrue();
    assertThat(settlement.getSignal().getRetryAfterMs()).isEqualTo(3_000);
    assertThat(client.outbox.requests).hasSize(1);
    client.deliver(client.queued(first.requestId(), 1, 3_000));
    client.deliver(client.grant(first.requestId(), 1));
    assertThat(second).isNotDone();
    client.deliver(client.grant(first.requestId(), 2));
    assertThat(second.join().attempt()).isEqualTo(2);
    assertThat(second.join().requestId()).isEqualTo(first.requestId());
    assertThat(client.stats().openLeases()).isEqualTo(1);
  }

  @Test
  void shouldFailTheNextAttemptWhenTheCoordinatorRejectsIt() {
    // given
    Lease first = client.granted();
    CompletableFuture<Lease> second = first.rateLimitedRequeue(null);

    // when
    client.deliver(client.rejected(first.requestId(), RejectReason.BUDGET_SPENT, null));

    // then
    assertThat(AcquireTest.failure(second, LeaseRejectedException.class).reason())
        .isEqualTo(RejectReason.BUDGET_SPENT);
  }

  @Test
  void shouldCancelTheNextAttemptOnTimeout() {
    // given
    CompletableFuture<Lease> second = client.granted().rateLimitedRequeue(null);

    // when
    client.timers.advance(client.config.callTimeout().toMillis());

    // then
    assertThat(second).isCompletedExceptionally();
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.RATE_LIMITED, Outcome.CANCELLED);
  }

  @Test
  void shouldAskForTheCurrentDecisionWhenARequeueStaysUnanswered() {
    // given
    Lease first = client.granted();
    CompletableFuture<Lease> second = first.rateLimitedRequeue(null);

    // when
    client.timers.advance(2_000);

    // then
    assertThat(client.outbox.requests).hasSize(2);
    assertThat(client.outbox.requests.get(1)).isEqualTo(client.outbox.requests.get(0));
    client.deliver(client.grant(first.requestId(), 2));
    assertThat(second).isCompleted();
  }

  @Test
  void shouldRepeatARequeueThatTheBrokerDidNotTake() {
    // given
    Lease first = client.granted();
    client.outbox.fail(new TimeoutException("no broker"));
    first.rateLimitedRequeue(null);
    client.outbox.fail(null);

    // when
    client.timers.advance(2_000);

    // then
    assertThat(client.outbox.settlements)
        .hasSize(2)
        .allMatch(settlement -> settlement.getRequeue())
        .allMatch(client.outbox.settlements.get(0)::equals);
    assertThat(client.outbox.requests).hasSize(1);
  }

  @Test
  void shouldSettleWithoutRequeueWhenTheClientIsClosed() {
    // given
    Lease first = client.granted();
    client.calls.close();

    // when
    CompletableFuture<Lease> second = first.rateLimitedRequeue(null);

    // then
    assertThat(second).isCompletedExceptionally();
    assertThat(client.outbox.lastSettlement().getOutcome()).isEqualTo(Outcome.RATE_LIMITED);
    assertThat(client.outbox.lastSettlement().getRequeue()).isFalse();
    assertThat(client.stats().openLeases()).isZero();
  }

  @Test
  void shouldReturnTheLeaseWhenTheHolderIsGoneBeforeItGetsIt() {
    // given: an executor that runs what it is given later
    Deque<Runnable> later = new ArrayDeque<>();
    ClientContext context =
        new ClientContext(
            client.config,
            client.timers,
            client.outbox,
            new Completions(later::add, client.timers),
            client.counters);
    LeaseBook leases = new LeaseBook(context);
    CallBook calls = new CallBook(context, leases, new RequestIds(), Handover.none());
    CompletableFuture<Lease> future = calls.acquire(ClientFixture.call().build());
    calls.onDecision(client.grant(client.lastRequestId(), 1), client.timers.nowMs());

    // when
    future.cancel(false);
    while (!later.isEmpty()) {
      later.poll().run();
    }

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.NOT_SENT);
    assertThat(leases.size()).isZero();
  }
}
