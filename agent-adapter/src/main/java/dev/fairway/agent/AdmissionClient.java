package dev.fairway.agent;

import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdate;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/**
 * Asks the coordinator for leases over Kafka. One client serves any number of threads of one agent,
 * or of many: it speaks for members, each an agent with a flow of its own, if its agent id is
 * registered for them ({@code fairway agent add ID --members}). All their decisions come to the one
 * reply topic of the client's agent, so that members cost neither topics nor connections.
 *
 * <p>Threads: one that reads replies and one scheduler, both daemons. What depends on the returned
 * futures runs on the configured executor.
 *
 * <p>The agent's reply topic need not exist: where agents register by their first request, it
 * appears with the first reply, and the client reads it from its beginning.
 */
public final class AdmissionClient implements AutoCloseable {
  private final AdmissionClientConfig config;
  private final SchedulerTimers timers;
  private final KafkaOutbox outbox;
  private final ReplyReader replies;
  private final LeaseBook leases;
  private final CallBook calls;
  private final Counters counters;
  private final UnleasedReports reports;
  private final Completions completions;
  private final RequestIds requestIds;
  private final Handover handover;
  private final AtomicBoolean closed = new AtomicBoolean();

  AdmissionClient(
      AdmissionClientConfig config,
      Producer<String, SpecificRecord> producer,
      Consumer<byte[], byte[]> consumer,
      ReplyReader.Decoder decoder,
      RequestIds requestIds,
      Handover handover) {
    this.config = config;
    this.requestIds = requestIds;
    this.timers = new SchedulerTimers("fairway-scheduler-" + config.agentId());
    this.outbox = new KafkaOutbox(producer, config.topics(), timers);
    this.completions = new Completions(config.completionExecutor(), timers);
    this.counters = new Counters();
    ClientContext context = new ClientContext(config, timers, outbox, completions, counters);
    this.reports = context.reports();
    this.leases = new LeaseBook(context);
    this.handover = handover;
    this.calls = new CallBook(context, leases, requestIds, handover);
    this.replies =
        new ReplyReader(
            consumer,
            new TopicPartition(config.replyTopic(), config.replyPartition()),
            decoder,
            timers,
            counters,
            handover,
            calls);
  }

  /**
   * Starts a client. Returns when the position from which it reads replies is resolved, so that the
   * reply to the very first request cannot be missed.
   *
   * @throws AdmissionException if the brokers, the registry or the topics are not there in time
   */
  public static AdmissionClient start(AdmissionClientConfig config) {
    return ClientStart.start(config);
  }

  /** Resolves the position of the replies and starts to read them. */
  void open(Duration timeout) {
    try {
      replies.resolve(timeout);
    } catch (RuntimeException e) {
      timers.close();
      throw e;
    }
    replies.start("fairway-replies-" + config.agentId());
  }

  /**
   * Asks for a lease. Never blocks.
   *
   * <p>An unanswered request is sent again, first after {@link AdmissionClientConfig#resendAfter},
   * with the same id and content. A grant that expired before it was read, because this process
   * stood still or replies were held up, is given back, and the call asks again as a new request,
   * within its timeout; the third such grant fails it with {@code LEASE_EXPIRED}.
   *
   * <p>Where the coordinator does not answer for a while, the call goes on by {@link
   * AdmissionClientConfig#fallback()}; its lease then says {@code leased() == false}.
   *
   * @return completes with the lease once it is granted, or exceptionally with {@link
   *     LeaseRejectedException}, {@link AdmissionTimeoutException}, {@link
   *     RetryBudgetSpentException} or, where the call could not be sent or a bound is reached,
   *     {@link AdmissionException}. Cancelling it (itself, not a future derived from it) withdraws
   *     the request; a grant that still arrives is given back
   */
  public CompletableFuture<Lease> acquire(LeaseCall call) {
    CompletableFuture<Lease> lease = calls.acquire(call);
    replies.nudge();
    return lease;
  }

  /**
   * Settles a lease that a process before this one was granted, as its {@link Lease} would have.
   * Only the first final settlement of a lease counts; another one, or one of a lease that nobody
   * knows any more, changes nothing. Never blocks.
   *
   * @param member whom the client speaks for, as in {@link LeaseCall#member()}, or null
   * @param quota quota of the lease
   * @param requestId {@link Lease#requestId()}
   * @param leaseId {@link Lease#leaseId()}
   * @param outcome SUCCEEDED, RATE_LIMITED, OVERLOADED, FAILED_AFTER_SEND or NOT_SENT
   * @param usage what the call used, or null if unknown
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   * @throws IllegalArgumentException if an id is out of its grammar, or the outcome none of those
   */
  public CompletableFuture<Void> settle(
      String member,
      String quota,
      String requestId,
      String leaseId,
      Outcome outcome,
      UsageReport usage,
      ProviderSignal signal) {
    Checks.quotaId(quota);
    Checks.requestId("a request id", requestId);
    Checks.requestId("a lease id", leaseId);
    Lease.checkFinal(outcome);
    CompletableFuture<Void> settled = new CompletableFuture<>();
    completions.follow(
        outbox.send(
            Records.settlement(
                config.agentId(member),
                quota,
                requestId,
                leaseId,
                outcome,
                false,
                usage,
                Records.signal(signal, null, null))),
        settled,
        "Expected the brokers to take "
            + outcome
            + " of lease "
            + leaseId
            + ", but they did not; until it expires the lease stays charged.");
    return settled;
  }

  /**
   * Reports a call that was made without a lease while the coordinator was silent. It is charged as
   * it is. Never blocks.
   *
   * @param member whom the client speaks for, as in {@link LeaseCall#member()}, or null
   * @param quota quota that the call used
   * @param requestId an id of {@link #newRequestId()}; the same id again is charged once
   * @param usage what the call used
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   * @throws IllegalArgumentException if an id is out of its grammar
   */
  public CompletableFuture<Void> settleUnleased(
      String member, String quota, String requestId, UsageReport usage, ProviderSignal signal) {
    Checks.quotaId(quota);
    Checks.requestId("a request id", requestId);
    CompletableFuture<Void> reported = new CompletableFuture<>();
    completions.follow(
        reports.send(
            Records.settlement(
                config.agentId(member),
                quota,
                requestId,
                null,
                Outcome.UNLEASED,
                false,
                usage,
                Records.signal(signal, null, null))),
        reported,
        "Expected the brokers to take the report of unleased call "
            + requestId
            + ", but they did not. It is kept, and sent again when the coordinator answers.");
    return reported;
  }

  /**
   * Tells how a task goes, which decides what its requests weigh: what waits for a task makes its
   * requests heavier. Never blocks.
   *
   * @param member whom the client speaks for, as in {@link LeaseCall#member()}, or null
   * @param quota any quota of the key that the task's calls use
   * @param taskId task
   * @param role role of the task's agent, or null if unknown
   * @param state how it goes
   * @param blockedOn tasks that it waits for; empty unless blocked
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   * @throws IllegalArgumentException if an id is out of its grammar
   */
  public CompletableFuture<Void> updateTask(
      String member,
      String quota,
      String taskId,
      String role,
      TaskState state,
      List<String> blockedOn) {
    Checks.quotaId(quota);
    Checks.id("a task id", taskId);
    if (role != null) {
      Checks.id("a role", role);
    }
    blockedOn.forEach(task -> Checks.id("a task id in blockedOn", task));
    CompletableFuture<Void> reported = new CompletableFuture<>();
    completions.follow(
        outbox.send(
            TaskUpdate.newBuilder()
                .setTaskId(taskId)
                .setQuota(quota)
                .setRole(role)
                .setAgentId(config.agentId(member))
                .setState(state)
                .setBlockedOn(List.copyOf(blockedOn))
                .build()),
        reported,
        "Expected the brokers to take the update of task " + taskId + ", but they did not.");
    return reported;
  }

  /**
   * What an agent may use of a quota alone if the coordinator falls silent, as the last decision
   * told it; the shares of all agents add up to what stays safe of the limit. Empty before the
   * first decision about the quota, ten minutes after the last one, and where that was on the
   * request of another client with the same agent id: then that one may use it. Never blocks.
   *
   * @param member whom the client speaks for, as in {@link LeaseCall#member()}, or null
   * @throws IllegalArgumentException if an id is out of its grammar
   */
  public Optional<SafeCapacity> safeCapacity(String member, String quota) {
    Checks.quotaId(quota);
    return calls.safeCapacity(config.agentId(member), quota);
  }

  /** A request id that nobody uses again. */
  public String newRequestId() {
    return requestIds.next();
  }

  /** Counters since the start, and what is held now. */
  public AdmissionClientStats stats() {
    return counters.snapshot(calls.pendingCalls(), leases.size(), calls.silentKeys());
  }

  /**
   * Cancels pending calls, settles open leases as {@link Lease#close()} does, and waits for the
   * broker to have it, at most {@link AdmissionClientConfig#closeTimeout()}. Idempotent.
   *
   * <p>A grant that crosses the cancellation of its call is given back by the coordinator.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    calls.close();
    leases.close();
    outbox.close(config.closeTimeout());
    replies.close(config.closeTimeout());
    timers.close();
    handover.close();
  }
}
