package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.agent.fallback.FailMode;
import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.agent.fallback.RetryBudget;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.SafeCapacity;
import dev.fairway.schemas.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

/** The coordinator falls silent: what goes on, what waits, and what is told when it is back. */
class SilentCoordinatorTest {
  private static final long SILENT_AFTER_MS = 5_000;

  /** Of 100 tokens of input and up to 50 of output; see {@link ClientFixture#call()}. */
  private static final long CALLS_PER_MINUTE = 12;

  private final ClientFixture client = fixture(FailMode.SAFE_SHARE);

  private static ClientFixture fixture(FailMode mode) {
    return new ClientFixture(
        settings ->
            settings
                .callTimeout(Duration.ofMinutes(20))
                .fallback(new FallbackConfig(mode, Duration.ofMillis(SILENT_AFTER_MS))));
  }

  @Test
  void shouldLetCallsGoOnByTheShareAndNoFaster() {
    // given
    tellShare(client);
    List<CompletableFuture<Lease>> calls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      calls.add(client.acquire());
    }

    // when / then
    client.timers.advance(SILENT_AFTER_MS - 1);
    assertThat(client.stats().silentKeys()).isZero();
    client.timers.advance(1);
    assertThat(client.stats().silentKeys()).isEqualTo(1);
    assertThat(done(calls)).as("nothing is saved up from before").isZero();
    client.timers.advance(30_000);
    assertThat(done(calls)).isEqualTo(CALLS_PER_MINUTE / 2);
    client.timers.advance(60_000);
    assertThat(done(calls)).isEqualTo(CALLS_PER_MINUTE * 3 / 2);
    assertThat(now(calls.get(0)).leased()).isFalse();
    assertThat(calls.get(0)).as("in order").isDone();
    assertThat(client.stats().silences()).isEqualTo(1);
    assertThat(client.stats().unleased()).isEqualTo(CALLS_PER_MINUTE * 3 / 2);
  }

  @Test
  void shouldReportWhatWentOnAsUnleasedAndCancelItsRequest() {
    // given
    tellShare(client);
    CompletableFuture<Lease> call = client.acquire();
    final String asked = client.lastRequestId();
    client.timers.advance(SILENT_AFTER_MS + 60_000);
    Lease unleased = now(call);

    // when
    unleased.markSent();
    unleased.succeeded(UsageReport.of(90, 10), ProviderSignal.ok());

    // then
    Settlement cancelled = client.outbox.settlements.get(client.outbox.settlements.size() - 2);
    assertThat(cancelled.getOutcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(cancelled.getRequestId()).isEqualTo(asked);
    Settlement report = client.outbox.lastSettlement();
    assertThat(report.getOutcome()).isEqualTo(Outcome.UNLEASED);
    assertThat(report.getLeaseId()).isNull();
    assertThat(report.getRequestId()).isEqualTo(unleased.requestId()).isNotEqualTo(asked);
    assertThat(report.getUsage().getInputTokens()).isEqualTo(90);
    assertThat(report.getSignal().getMsSinceSend()).isNotNull();
    assertThat(client.stats().openLeases()).isZero();

    // when: a grant for the request that was withdrawn crosses that
    client.deliver(client.grant(asked, 1));

    // then
    assertThat(client.stats().returnedGrants()).isEqualTo(1);
  }

  @Test
  void shouldReportTheEstimateOfACallWhoseUseNobodyKnowsAndNothingOfOneThatWasNotSent() {
    // given
    tellShare(client);
    CompletableFuture<Lease> sent = client.acquire();
    CompletableFuture<Lease> never = client.acquire();
    client.timers.advance(SILENT_AFTER_MS + 60_000);

    // when
    now(sent).markSent();
    now(sent).close();
    int before = client.outbox.settlements.size();
    now(never).close();

    // then
    Settlement report = client.outbox.lastSettlement();
    assertThat(report.getOutcome()).isEqualTo(Outcome.UNLEASED);
    assertThat(report.getUsage().getInputTokens()).isEqualTo(100);
    assertThat(report.getUsage().getOutputTokens()).isEqualTo(50);
    assertThat(report.getUsage().getExact()).isFalse();
    assertThat(client.outbox.settlements).hasSize(before);
  }

  @Test
  void shouldGoBackToTheCoordinatorOnceItAnswersAndSendNothingAgainForThat() {
    // given
    tellShare(client);
    List<CompletableFuture<Lease>> calls = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      calls.add(client.acquire());
    }
    final String tenth = client.lastRequestId();
    client.timers.advance(SILENT_AFTER_MS + 10_000);
    final long passed = done(calls);
    final int requests = client.outbox.requests.size();

    // when: it reads the requests, and answers the last one first
    client.deliver(client.grant(tenth, 1));

    // then
    assertThat(client.stats().silentKeys()).isZero();
    assertThat(now(calls.get(9)).leased()).isTrue();
    client.timers.advance(10_000);
    assertThat(done(calls)).as("the share is used no more").isEqualTo(passed + 1);
    assertThat(client.outbox.requests).hasSize(requests);
  }

  @Test
  void shouldSendOneRequestAgainForAllWhileItIsSilent() {
    // given
    tellShare(client);
    for (int i = 0; i < 100; i++) {
      client.acquire();
    }
    client.timers.advance(SILENT_AFTER_MS);
    int before = client.outbox.requests.size();

    // when
    client.timers.advance(300_000);

    // then: once in 30 s
    assertThat(client.outbox.requests.size() - before).isBetween(5, 12);
  }

  @Test
  void shouldLetNothingPassWithoutAShareOrWhenItsTimeIsOver() {
    // given
    CompletableFuture<Lease> noShare = client.acquire();
    client.timers.advance(60_000);
    assertThat(noShare).isNotDone();
    tellShare(client);

    // when
    client.timers.advance(601_000);
    CompletableFuture<Lease> late = client.acquire();
    client.timers.advance(60_000);

    // then
    assertThat(late).isNotDone();
  }

  @Test
  void shouldUseTheSharesOfAllMembersAsOne() {
    // given
    for (String member : List.of("a", "b")) {
      client.calls.acquire(ClientFixture.call().member(member).build());
      tellShare(client, client.lastRequestId());
    }
    List<CompletableFuture<Lease>> calls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      calls.add(client.acquire());
    }

    // when
    client.timers.advance(SILENT_AFTER_MS + 30_000);

    // then
    assertThat(done(calls)).isEqualTo(CALLS_PER_MINUTE);
  }

  /** Two quotas with a common {@code also}: each is told what it may take from that, too. */
  @Test
  void shouldKeepEachQuotaOfAKeyWithinItsOwnShareInEveryDimension() {
    // given: requests are limited by the other quota alone
    String second = "key/haiku";
    Amounts share =
        Amounts.newBuilder()
            .setRequests(6L)
            .setInputTokens(100_000L)
            .setOutputTokens(9_000L)
            .build();
    List<CompletableFuture<Lease>> calls = new ArrayList<>();
    for (String quota : List.of(ClientFixture.QUOTA, second)) {
      client.calls.acquire(LeaseCall.of(quota).build());
      Decision told =
          client
              .grantBuilder(client.lastRequestId(), 1, ClientFixture.TTL_MS)
              .setQuota(quota)
              .setSafeCapacity(new SafeCapacity(share, 600_000L))
              .build();
      client.deliver(told);
      for (int i = 0; i < 20; i++) {
        calls.add(
            client.calls.acquire(LeaseCall.of(quota).inputTokens(100).maxOutputTokens(50).build()));
      }
    }

    // when
    client.timers.advance(SILENT_AFTER_MS + 60_000);

    // then: six a minute of each, whatever is left in the other dimensions
    assertThat(done(calls.subList(0, 20))).isEqualTo(6);
    assertThat(done(calls.subList(20, 40))).isEqualTo(6);
  }

  @Test
  void shouldHoldTheShareAfterThe429OfACallWithoutALease() {
    // given
    tellShare(client);
    CompletableFuture<Lease> call = client.acquire();
    client.timers.advance(SILENT_AFTER_MS + 5_000);
    Lease first = now(call);
    first.markSent();

    // when
    CompletableFuture<Lease> again =
        first.rateLimitedRequeue(ProviderSignal.rateLimited(Duration.ofSeconds(20)));

    // then
    assertThat(client.outbox.outcomes()).contains(Outcome.UNLEASED);
    assertThat(
            client.outbox.settlements.stream()
                .filter(s -> s.getOutcome() == Outcome.UNLEASED)
                .findFirst()
                .orElseThrow()
                .getUsage()
                .getInputTokens())
        .isZero();
    client.timers.advance(20_000);
    assertThat(again).as("the provider's wait is a floor").isNotDone();
    client.timers.advance(31_000);
    assertThat(again).isDone();
    assertThat(now(again).leased()).isFalse();
    assertThat(client.outbox.requests.get(client.outbox.requests.size() - 1).getRetryOf())
        .isEqualTo(first.requestId());
  }

  @Test
  void shouldLetCallsGoAfterAJitteredWaitWithBackoff() {
    // given
    ClientFixture backoff = fixture(FailMode.BACKOFF);
    List<CompletableFuture<Lease>> calls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      calls.add(backoff.acquire());
    }

    // when
    backoff.timers.advance(SILENT_AFTER_MS);
    long atOnce = done(calls);
    backoff.timers.advance(1_000);

    // then
    assertThat(atOnce).isZero();
    assertThat(done(calls)).isEqualTo(50);
  }

  @Test
  void shouldWaitWhenClosed() {
    // given
    ClientFixture closed = fixture(FailMode.CLOSED);
    tellShare(closed);
    CompletableFuture<Lease> call = closed.acquire();

    // when
    closed.timers.advance(600_000);

    // then
    assertThat(call).isNotDone();
    assertThat(closed.stats().silentKeys()).isEqualTo(1);
  }

  @Test
  void shouldAskACoordinatorThatHasAllCallsInItsLineWhetherItIsStillThere() {
    // given
    tellShare(client);
    CompletableFuture<Lease> call = client.acquire();
    String asked = client.lastRequestId();
    client.deliver(client.queued(asked, 5, 300_000));
    int requests = client.outbox.requests.size();

    // when: it says nothing, and then repeats what it said
    client.timers.advance(SILENT_AFTER_MS);

    // then
    assertThat(client.outbox.requests).hasSize(requests + 1);
    assertThat(client.lastRequestId()).isEqualTo(asked);
    client.deliver(client.queued(asked, 5, 295_000));
    assertThat(client.stats().silences()).isZero();

    // when: it does not even do that
    client.timers.advance(2 * SILENT_AFTER_MS + 10_000);

    // then
    assertThat(client.stats().silences()).isEqualTo(1);
    assertThat(call).isDone();
  }

  @Test
  void shouldKeepAReportThatTheBrokersDoNotTakeUntilTheCoordinatorAnswers() {
    // given
    tellShare(client);
    CompletableFuture<Lease> call = client.acquire();
    CompletableFuture<Lease> other = client.acquire();
    final String others = client.lastRequestId();
    client.timers.advance(SILENT_AFTER_MS + 5_000);
    client.outbox.fail(new TimeoutException("no broker"));
    CompletableFuture<Void> settled = now(call).succeeded(UsageReport.of(1, 2), null);
    assertThat(settled).isCompletedExceptionally();
    client.outbox.fail(null);
    int before = client.outbox.settlements.size();

    // when
    client.deliver(client.grant(others, 1));

    // then
    assertThat(other).isDone();
    assertThat(client.outbox.settlements).hasSize(before + 1);
    assertThat(client.outbox.lastSettlement().getOutcome()).isEqualTo(Outcome.UNLEASED);
    assertThat(client.stats().unreported()).isZero();
  }

  @Test
  void shouldSpendTheRetryBudgetOnRepetitionsOfFailedCallsAlone() {
    // given
    RetryBudget budget = RetryBudget.of(1);
    client.calls.acquire(ClientFixture.call().retryBudget(budget).build());
    String rejected = client.lastRequestId();
    client.deliver(client.rejected(rejected, RejectReason.QUEUE_FULL, 10L));

    // when: back after a rejection, then after a failure, then once too often
    client.calls.acquire(ClientFixture.call().retryBudget(budget).retryOf(rejected).build());
    assertThat(budget.remaining()).isEqualTo(1);
    client.calls.acquire(ClientFixture.call().retryBudget(budget).retryOf("r-1").build());
    assertThat(budget.remaining()).isZero();
    int requests = client.outbox.requests.size();
    CompletableFuture<Lease> tooOften =
        client.calls.acquire(ClientFixture.call().retryBudget(budget).retryOf("r-2").build());

    // then
    assertThatThrownBy(tooOften::join).hasCauseInstanceOf(RetryBudgetSpentException.class);
    assertThat(client.outbox.requests).hasSize(requests);
    assertThat(client.stats().budgetsSpent()).isEqualTo(1);
  }

  @Test
  void shouldAskUnderTheIdThatTheCallNamesAndOnceAtATime() {
    // given
    LeaseCall call = ClientFixture.call().requestId("mine.1").build();
    CompletableFuture<Lease> first = client.calls.acquire(call);

    // when
    CompletableFuture<Lease> twice = client.calls.acquire(call);

    // then
    assertThat(client.lastRequestId()).isEqualTo("mine.1");
    assertThatThrownBy(twice::join).hasMessageContaining("mine.1 waits already");
    assertThat(first).isNotDone();
  }

  /** The lease of a call that must be done by now. */
  private static Lease now(CompletableFuture<Lease> call) {
    assertThat(call).isDone();
    return call.join();
  }

  private static long done(List<CompletableFuture<Lease>> calls) {
    return calls.stream().filter(CompletableFuture::isDone).count();
  }

  private static void tellShare(ClientFixture to) {
    CompletableFuture<Lease> call = to.acquire();
    tellShare(to, to.lastRequestId());
    now(call).close();
  }

  private static void tellShare(ClientFixture to, String requestId) {
    Amounts share =
        Amounts.newBuilder()
            .setInputTokens(CALLS_PER_MINUTE * 100)
            .setOutputTokens(CALLS_PER_MINUTE * 50)
            .build();
    Decision decision =
        to.grantBuilder(requestId, 1, ClientFixture.TTL_MS)
            .setSafeCapacity(
                SafeCapacity.newBuilder().setPerMinute(share).setValidForMs(600_000L).build())
            .build();
    to.deliver(decision);
  }
}
