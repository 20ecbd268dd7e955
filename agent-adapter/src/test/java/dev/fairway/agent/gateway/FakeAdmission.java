package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.Charge;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.TaskState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Grants what it is asked at once, unless the test says otherwise, and keeps what it is told. */
final class FakeAdmission implements Admission {
  record Asked(LeaseCall call, CompletableFuture<Grant> answer, String requestId, int attempt) {
    void grant(FakeAdmission by) {
      if (answer.complete(by.new FakeGrant(requestId, attempt))) {
        by.granted.incrementAndGet();
      }
    }

    void refuse(RejectReason reason, Duration retryAfter) {
      answer.completeExceptionally(
          new RefusedException(requestId, reason, "because of " + reason, retryAfter));
    }
  }

  interface Asking {
    void run() throws InterruptedException;
  }

  record Settled(String requestId, Outcome outcome, UsageReport usage, ProviderSignal signal) {}

  final List<Asked> asked = new CopyOnWriteArrayList<>();

  /** Requests whose leases are renewed no more. */
  final List<String> expiring = new CopyOnWriteArrayList<>();

  final List<Settled> settled = new CopyOnWriteArrayList<>();

  /** How long ago calls were sent and answered, by who makes them. */
  final List<String> measured = new CopyOnWriteArrayList<>();

  final List<Settled> inProgress = new CopyOnWriteArrayList<>();
  final List<Asked> requeued = new CopyOnWriteArrayList<>();
  final List<String> tasks = new CopyOnWriteArrayList<>();
  final AtomicInteger answered = new AtomicInteger();

  /** Grants that somebody waited for. */
  final AtomicInteger granted = new AtomicInteger();

  private final AtomicInteger requestIds = new AtomicInteger();
  volatile boolean holds;

  /** Whether calls that go back in line wait there, whatever others do. */
  volatile boolean holdsRequeues;

  /** Whether each try after a 429 is a first attempt, as where the coordinator is silent. */
  volatile boolean restarts;

  /** Run whenever something is asked, before it is answered. */
  volatile Asking asking = () -> {};

  /** Whether every grant has expired by the time it is used. */
  volatile boolean expired;

  volatile Duration ttl = Duration.ofMinutes(2);

  @Override
  public CompletableFuture<Grant> ask(LeaseCall call) {
    try {
      asking.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    String requestId = call.requestId() == null ? newRequestId() : call.requestId();
    Asked question = new Asked(call, new CompletableFuture<>(), requestId, 1);
    asked.add(question);
    if (!holds) {
      question.grant(this);
    }
    return question.answer();
  }

  @Override
  public String newRequestId() {
    return "r" + requestIds.incrementAndGet();
  }

  @Override
  public void unleased(String member, String quota, UsageReport usage, ProviderSignal signal) {
    settled.add(new Settled(null, Outcome.UNLEASED, usage, signal));
  }

  @Override
  public CompletableFuture<Void> task(
      String member,
      String quota,
      String task,
      String role,
      TaskState state,
      List<String> blockedOn) {
    tasks.add(String.join(" ", member, quota, task, role, state.name(), blockedOn.toString()));
    return CompletableFuture.completedFuture(null);
  }

  List<Outcome> outcomes() {
    return settled.stream().map(Settled::outcome).toList();
  }

  /** The one settlement there is; it may come a moment after the client has its answer. */
  Settled onlySettled() {
    await().atMost(Duration.ofSeconds(10)).until(() -> !settled.isEmpty());
    assertThat(settled).hasSize(1);
    return settled.get(0);
  }

  final class FakeGrant implements Grant {
    private final String requestId;
    private final int attempt;
    private boolean over;

    FakeGrant(String requestId, int attempt) {
      this.requestId = requestId;
      this.attempt = attempt;
    }

    @Override
    public String requestId() {
      return requestId;
    }

    @Override
    public int attempt() {
      return attempt;
    }

    @Override
    public Charge charged() {
      return new Charge(1L, 10L, null, null, null);
    }

    @Override
    public Duration remaining() {
      return ttl;
    }

    @Override
    public boolean canRequeue() {
      return true;
    }

    @Override
    public void markSent() {
      if (expired) {
        throw new AdmissionException("Expected to send in time, but the lease has expired.");
      }
    }

    @Override
    public void markAnswered() {
      answered.incrementAndGet();
    }

    @Override
    public void measured(Duration sinceSent, Duration sinceAnswered) {
      measured.add(sinceSent + " " + sinceAnswered);
    }

    @Override
    public void inProgress(UsageReport usage, ProviderSignal signal) {
      inProgress.add(new Settled(requestId, Outcome.IN_PROGRESS, usage, signal));
    }

    @Override
    public synchronized void settle(Outcome outcome, UsageReport usage, ProviderSignal signal) {
      if (!over) {
        over = true;
        settled.add(new Settled(requestId, outcome, usage, signal));
      }
    }

    @Override
    public void letExpire() {
      expiring.add(requestId);
    }

    @Override
    public CompletableFuture<Grant> requeue(ProviderSignal signal) {
      settle(Outcome.RATE_LIMITED, null, signal);
      Asked again =
          new Asked(null, new CompletableFuture<>(), requestId, restarts ? 1 : attempt + 1);
      requeued.add(again);
      if (!holds && !holdsRequeues) {
        again.grant(FakeAdmission.this);
      }
      return again.answer();
    }
  }
}
