package dev.fairway.it.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.AdmissionTimeoutException;
import dev.fairway.agent.Lease;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.UsageReport;
import dev.fairway.cli.embedded.EmbeddedKafka;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdmissionClientIT extends AgentIntegration {

  /** Case C56. */
  @Test
  void shouldApplyTheCallsTimeoutOrElseTheDefaultAndCancel() {
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::silent);
        AdmissionClient client = client("hasty").callTimeout(Duration.ofMillis(1_500)).start()) {
      // when
      long startedNanos = System.nanoTime();
      CompletableFuture<Lease> own = client.acquire(call().timeout(Duration.ofMillis(200)).build());
      CompletableFuture<Lease> standard = client.acquire(call().timeout(null).build());

      // then
      assertThat(own)
          .failsWithin(PATIENCE)
          .withThrowableThat()
          .havingCause()
          .isInstanceOf(AdmissionTimeoutException.class);
      long ownMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos);
      assertThat(standard)
          .failsWithin(PATIENCE)
          .withThrowableThat()
          .havingCause()
          .isInstanceOf(AdmissionTimeoutException.class);
      long standardMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos);
      assertThat(ownMs).isBetween(200L, 1_400L);
      assertThat(standardMs).isGreaterThanOrEqualTo(1_500L);
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  coordinator
                      .outcomesOf("hasty")
                      .equals(List.of(Outcome.CANCELLED, Outcome.CANCELLED)));
    }
  }

  @Test
  void shouldSendTheSameRequestAgainWhenNothingAnswers() {
    // given: the first send is overheard
    BiConsumer<FakeCoordinator, LeaseRequest> deafOnce =
        (coordinator, request) -> {
          if (coordinator.requests.size() > 1) {
            coordinator.grant(request, 1);
          }
        };
    try (FakeCoordinator coordinator = coordinator(deafOnce);
        AdmissionClient client = client("patient").start()) {

      // when
      Lease lease = lease(client.acquire(call().taskId("task").build()));

      // then
      List<LeaseRequest> requests = coordinator.requestsOf("patient");
      assertThat(requests).hasSize(2).allMatch(requests.get(0)::equals);
      assertThat(client.stats().resends()).isEqualTo(1);
      lease.close();
    }
  }

  @Test
  void shouldReturnTheGrantOfACancelledCall() {
    // given
    try (FakeCoordinator coordinator = coordinator((c, request) -> c.queue(request, 1, 60_000));
        AdmissionClient client = client("fickle").start()) {
      List<QueueUpdate> updates = new CopyOnWriteArrayList<>();
      CompletableFuture<Lease> future = client.acquire(call().onQueued(updates::add).build());
      await().atMost(PATIENCE).until(() -> !updates.isEmpty());

      // when: the grant crosses the cancellation
      future.cancel(true);
      LeaseRequest request = coordinator.requestsOf("fickle").get(0);
      coordinator.grant(request, 1);

      // then
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  coordinator
                      .outcomesOf("fickle")
                      .equals(List.of(Outcome.CANCELLED, Outcome.NOT_SENT)));
      Settlement cancelled = coordinator.settlementsOf("fickle").get(0);
      Settlement returned = coordinator.settlementsOf("fickle").get(1);
      assertThat(cancelled.getRequestId()).isEqualTo(request.getRequestId());
      assertThat(returned.getLeaseId()).isEqualTo("lease-" + request.getRequestId() + "-1");
    }
  }

  @Test
  void shouldSettleWithUsageInThePartitionOfTheKey() {
    // given
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::grantAll);
        AdmissionClient client = client("proper").start();
        Lease lease = lease(client.acquire(call().build()))) {
      // when
      lease.markSent();
      lease.markAnswered();
      assertThat(lease.succeeded(UsageReport.of(75, 10), ProviderSignal.ok()))
          .succeedsWithin(PATIENCE);

      // then
      await().atMost(PATIENCE).until(() -> coordinator.settlements.size() == 1);
      FakeCoordinator.Received<Settlement> received = coordinator.settlements.get(0);
      assertThat(received.key()).isEqualTo("key-1");
      assertThat(received.partition()).isEqualTo(FakeCoordinator.partitionOf(QUOTA));
      assertThat(received.value().getUsage().getInputTokens()).isEqualTo(75);
      assertThat(received.value().getSignal().getMsSinceSend()).isNotNull();
      assertThat(coordinator.requests.get(0).partition())
          .isEqualTo(FakeCoordinator.partitionOf(QUOTA));
      assertThat(coordinator.requests.get(0).key()).isEqualTo("key-1");
    }
  }

  @Test
  void shouldGetTheNextAttemptAfterARequeue() {
    // given
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::grantAll);
        AdmissionClient client = client("limited").start()) {
      Lease first = lease(client.acquire(call().build()));
      first.markSent();

      // when
      CompletableFuture<Lease> next =
          first.rateLimitedRequeue(ProviderSignal.rateLimited(Duration.ofSeconds(1)));
      await().atMost(PATIENCE).until(() -> coordinator.settlements.size() == 1);
      coordinator.grant(coordinator.requestsOf("limited").get(0), 2);

      // then
      Lease second = lease(next);
      assertThat(second.attempt()).isEqualTo(2);
      assertThat(coordinator.settlementsOf("limited").get(0).getRequeue()).isTrue();
      second.close();
    }
  }

  @Test
  void shouldKeepALeaseAliveWhileItIsOpen() {
    // given
    try (FakeCoordinator coordinator = coordinator((c, request) -> c.grant(request, 1, 1_000));
        AdmissionClient client = client("slow").start()) {
      Lease lease = lease(client.acquire(call().build()));

      // when / then: three renewals outlast the time to live
      await().atMost(PATIENCE).until(() -> coordinator.outcomesOf("slow").size() >= 3);
      assertThat(lease.usable()).isTrue();
      assertThat(coordinator.outcomesOf("slow")).allMatch(Outcome.IN_PROGRESS::equals);
      lease.close();
    }
  }

  @Test
  void shouldSettleAndCancelWhatIsLeftWhenClosed() {
    // given
    BiConsumer<FakeCoordinator, LeaseRequest> twoOnly =
        (coordinator, request) -> {
          if (coordinator.requests.size() <= 2) {
            coordinator.grant(request, 1);
          }
        };
    try (FakeCoordinator coordinator = coordinator(twoOnly)) {
      AdmissionClient client = client("leaving").start();
      Lease unsent = lease(client.acquire(call().build()));
      Lease sent = lease(client.acquire(call().build()));
      sent.markSent();
      CompletableFuture<Lease> waiting = client.acquire(call().build());
      await().atMost(PATIENCE).until(() -> coordinator.requests.size() == 3);

      // when
      client.close();

      // then: the brokers had it when close() returned
      assertThat(waiting).isCancelled();
      assertThat(unsent.usable()).isFalse();
      await().atMost(PATIENCE).until(() -> coordinator.settlements.size() == 3);
      assertThat(coordinator.outcomesOf("leaving"))
          .containsExactlyInAnyOrder(
              Outcome.CANCELLED, Outcome.NOT_SENT, Outcome.FAILED_AFTER_SEND);
      assertThat(client.acquire(call().build())).isCompletedExceptionally();
    }
  }

  @Test
  void shouldReportAnUnleasedCall() {
    try (FakeCoordinator coordinator = coordinator(FakeCoordinator::silent);
        AdmissionClient client = client("alone").start()) {
      // when
      String requestId = client.newRequestId();
      assertThat(client.settleUnleased(null, QUOTA, requestId, UsageReport.of(5, 6), null))
          .succeedsWithin(PATIENCE);

      // then
      await().atMost(PATIENCE).until(() -> coordinator.settlements.size() == 1);
      Settlement settlement = coordinator.settlementsOf("alone").get(0);
      assertThat(settlement.getOutcome()).isEqualTo(Outcome.UNLEASED);
      assertThat(settlement.getRequestId()).isEqualTo(requestId);
      assertThat(settlement.getLeaseId()).isNull();
    }
  }

  @Test
  void shouldOutliveARestartOfTheBroker(@TempDir Path folder) {
    // given
    EmbeddedKafka kafka = EmbeddedKafka.start(folder);
    String address = kafka.bootstrapServers();
    try (FakeCoordinator coordinator =
            new FakeCoordinator(address, prefix, FakeCoordinator::grantAll);
        AdmissionClient client = client("steady").bootstrap(address).start()) {
      Lease before = lease(client.acquire(call().build()));

      // when: a call and a settlement are made while the broker is down
      kafka.close();
      CompletableFuture<Void> settled = before.succeeded(UsageReport.of(1, 1), null);
      CompletableFuture<Lease> during = client.acquire(call().build());
      kafka = EmbeddedKafka.start(folder);
      assertThat(kafka.bootstrapServers()).isEqualTo(address);

      // then
      assertThat(settled).succeedsWithin(Duration.ofSeconds(60));
      Lease after = during.orTimeout(60, TimeUnit.SECONDS).join();
      assertThat(after.usable()).isTrue();
      await()
          .atMost(PATIENCE)
          .until(() -> coordinator.outcomesOf("steady").contains(Outcome.SUCCEEDED));
      after.close();
    } finally {
      kafka.close();
    }
  }

  @Test
  void shouldSayWhichTopicIsMissing() {
    // when / then: no coordinator has created anything
    assertThatThrownBy(() -> client("early").startTimeout(Duration.ofMillis(500)).start())
        .isInstanceOf(AdmissionException.class)
        .hasMessageContaining(prefix + "requests")
        .hasMessageContaining("Start the coordinator");
    assertThat(TestCluster.topics(prefix)).isEmpty();
  }

  @Test
  void shouldSayThatNoBrokerAnswers() throws IOException {
    // given: a port where nobody listens
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }

    // when / then
    assertThatThrownBy(
            () ->
                client("lost")
                    .bootstrap("127.0.0.1:" + port)
                    .startTimeout(Duration.ofSeconds(1))
                    .start())
        .isInstanceOf(AdmissionException.class)
        .hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("none answered within");
  }
}
