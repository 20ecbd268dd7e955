package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The executor of these tests runs everything in the thread at hand, which is the worst case. */
@Timeout(60)
@SuppressWarnings("FutureReturnValueIgnored") // What was sent is asserted, not each future.
class LockingTest {
  private final ClientFixture client = new ClientFixture();
  private final ExecutorService others = Executors.newFixedThreadPool(4);

  @AfterEach
  void stop() {
    others.shutdownNow();
  }

  @Test
  void shouldNotHoldItsMonitorWhileAUserHandlesALease() {
    // given: a continuation that needs another thread to get an answer from the client
    CompletableFuture<Integer> seen = client.acquire().thenApply(lease -> askElsewhere());

    // when
    client.deliver(client.grant(client.lastRequestId(), 1));

    // then
    assertThat(seen).isCompletedWithValue(0);
  }

  @Test
  void shouldNotHoldItsMonitorWhileAQueueListenerRuns() {
    // given
    List<Integer> seen = new ArrayList<>();
    client.calls.acquire(ClientFixture.call().onQueued(update -> seen.add(askElsewhere())).build());

    // when
    client.deliver(client.queued(client.lastRequestId(), 1, 1));

    // then
    assertThat(seen).containsExactly(1);
  }

  @Test
  void shouldNotHoldTheLeasesMonitorWhileAUserHandlesItsSettlement() {
    // given
    Lease lease = client.granted();
    client.outbox.silence();
    CompletableFuture<Boolean> usable =
        lease.succeeded(UsageReport.of(1, 1), null).thenApply(done -> elsewhere(lease::usable));

    // when
    client.outbox.acknowledge();

    // then
    assertThat(usable).isCompletedWithValue(false);
  }

  /** Grants, settlements, cancellations and renewals of many leases at once, on real threads. */
  @Test
  void shouldNeitherBlockNorLeakUnderConcurrentUse() throws Exception {
    // given
    SchedulerTimers timers = new SchedulerTimers("test-scheduler");
    ConcurrentOutbox outbox = new ConcurrentOutbox();
    AdmissionClientConfig config =
        AdmissionClientConfig.of("127.0.0.1:9092", "http://127.0.0.1:8081", ClientFixture.AGENT)
            .build();
    ClientContext context =
        new ClientContext(config, timers, outbox, new Completions(others, timers), new Counters());
    LeaseBook leases = new LeaseBook(context);
    CallBook calls = new CallBook(context, leases, new RequestIds(), Handover.none());
    outbox.onRequest(
        request -> {
          synchronized (client) {
            return client.grant(request.getRequestId(), 1, 60);
          }
        },
        decision -> others.execute(() -> calls.onDecision(decision, timers.nowMs())));

    // when: leases live 60 ms, so that renewals come between everything else
    int rounds = 500;
    CountDownLatch ended = new CountDownLatch(rounds);
    List<Future<?>> users = new ArrayList<>();
    ExecutorService callers = Executors.newFixedThreadPool(4);
    for (int i = 0; i < rounds; i++) {
      users.add(callers.submit(() -> use(calls, ended)));
    }
    for (Future<?> user : users) {
      user.get(30, TimeUnit.SECONDS);
    }

    // then
    assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(calls.pendingCalls()).isZero();
    assertThat(leases.size()).isZero();
    callers.shutdownNow();
    timers.close();
  }

  private static void use(CallBook calls, CountDownLatch ended) {
    CompletableFuture<Lease> future = calls.acquire(ClientFixture.call().build());
    int choice = ThreadLocalRandom.current().nextInt(4);
    var unused =
        future.whenComplete(
            (lease, error) -> {
              if (lease != null && choice == 0) {
                lease.close();
              } else if (lease != null) {
                lease.inProgress(UsageReport.inputOnly(1), null);
                lease.succeeded(UsageReport.of(1, 1), null);
              }
              ended.countDown();
            });
    if (choice == 3) {
      future.cancel(false);
    }
  }

  private int askElsewhere() {
    return elsewhere(client.calls::pendingCalls);
  }

  private <T> T elsewhere(Callable<T> question) {
    try {
      return others.submit(question).get(10, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException("Expected an answer from another thread", e);
    }
  }
}
