package dev.fairway.agent;

import dev.fairway.agent.fallback.ShareBucket;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Signal;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The right to make one model call now. Settle it with what became of the call; what is closed
 * unsettled is given back. Thread-safe.
 *
 * <p>While it is open the client renews it at half its time to live, for as long as {@link
 * AdmissionClientConfig#renewFor()} says, so a long call keeps it without further ado.
 *
 * <p>The first final report counts. The same outcome again returns the first one's future; another
 * one fails with {@link AdmissionException} and changes nothing.
 */
public final class Lease implements AutoCloseable {
  private static final Set<Outcome> FINAL =
      EnumSet.of(
          Outcome.SUCCEEDED,
          Outcome.RATE_LIMITED,
          Outcome.OVERLOADED,
          Outcome.FAILED_AFTER_SEND,
          Outcome.NOT_SENT);

  private final ClientContext context;
  private final LeaseBook leases;
  private final CallBook calls;
  private final PendingCall call;
  private final String requestId;
  private final String leaseId;
  private final Unleased unleased;
  private final int attempt;
  private final Charge charged;
  private final Renewal renewal;

  private volatile long expiresAtMs;
  private Long sentAtMs;
  private Long answeredAtMs;
  private boolean inProgress;
  private Outcome outcome;
  private CompletableFuture<Void> settled;

  Lease(
      ClientContext context,
      LeaseBook leases,
      CallBook calls,
      PendingCall call,
      Grant grant,
      long expiresAtMs) {
    this.context = context;
    this.leases = leases;
    this.calls = calls;
    this.call = call;
    this.requestId = call.requestId();
    this.leaseId = grant.getLeaseId();
    this.unleased = null;
    this.attempt = grant.getAttempt();
    this.charged = Records.charge(grant.getCharged());
    this.expiresAtMs = expiresAtMs;
    this.renewal =
        new Renewal(
            context,
            this,
            settlement(Outcome.IN_PROGRESS, false, null, null),
            grant.getTtlMs(),
            context.timers().nowMs() + context.config().renewFor().toMillis());
  }

  /** A call that goes on while the coordinator is silent. */
  Lease(
      ClientContext context,
      LeaseBook leases,
      CallBook calls,
      PendingCall call,
      String requestId,
      ShareBucket.Amounts taken) {
    this.context = context;
    this.leases = leases;
    this.calls = calls;
    this.call = call;
    this.requestId = requestId;
    this.leaseId = null;
    this.unleased = new Unleased(context, calls, call, requestId, taken);
    this.attempt = 1;
    this.charged = unleased.charge();
    this.expiresAtMs = context.timers().nowMs() + Unleased.USABLE_MS;
    this.renewal = null;
  }

  void start() {
    renewal.start();
  }

  /** A renewal is with the broker. One that took longer than the lease lived proves nothing. */
  synchronized void extend(long untilMs) {
    if (expiresAtMs > context.timers().nowMs()) {
      expiresAtMs = Math.max(expiresAtMs, untilMs);
    }
  }

  /** For logs: without the lease's id, whose secrecy is what a settlement is believed by. */
  @Override
  public String toString() {
    return (leased() ? "Lease" : "Call without a lease")
        + " of request "
        + requestId
        + ", agent "
        + agentId()
        + ", quota "
        + quota()
        + ", attempt "
        + attempt;
  }

  /** Request that was granted; of a call without a lease, the one under which it is reported. */
  public String requestId() {
    return requestId;
  }

  /**
   * Whether there is a lease. If not, the coordinator was silent, and the call goes on by the
   * client's fail mode; it is settled as any other, and the coordinator hears of it as UNLEASED.
   */
  public boolean leased() {
    return unleased == null;
  }

  /** Agent that asked: the client's own, or the member it spoke for. */
  public String agentId() {
    return call.agentId();
  }

  /** Id of the lease, or null if there is none. */
  public String leaseId() {
    return leaseId;
  }

  /** Quota that was charged. */
  public String quota() {
    return call.call.quota();
  }

  /** 1 for the first attempt, more after a requeue. */
  public int attempt() {
    return attempt;
  }

  /** What the grant took from the quota, or the call from the client's share of it. */
  public Charge charged() {
    return charged;
  }

  /** Time left until the lease expires, by the process's monotonic clock; zero once it has. */
  public Duration remaining() {
    return Duration.ofMillis(Math.max(0, expiresAtMs - context.timers().nowMs()));
  }

  /** Whether the call may be sent now: not settled and not expired. */
  public synchronized boolean usable() {
    return outcome == null && expiresAtMs > context.timers().nowMs();
  }

  /**
   * Notes that the call is being sent; call it right before. Without it the time since sending is
   * unknown to the coordinator, and {@link #close()} takes the call for never sent.
   *
   * @throws AdmissionException if the lease is not usable: then the call must not be sent
   */
  public synchronized void markSent() {
    if (!usable()) {
      throw new AdmissionException(
          "Expected a usable lease before sending, but "
              + name()
              + (outcome == null ? " has expired" : " is settled as " + outcome)
              + ". Don't send the call; close the lease and acquire another one.");
    }
    sentAtMs = context.timers().nowMs();
  }

  /** Notes that the answer's headers arrived. Without it the age of a signal is unknown. */
  public synchronized void markAnswered() {
    answeredAtMs = context.timers().nowMs();
  }

  /**
   * Takes over what somebody else has measured who makes the call, in place of {@link #markSent()}
   * and {@link #markAnswered()}; call it right before the report that it belongs to.
   *
   * @param sinceSent how long ago the call was sent, 0 or more, or null if unknown
   * @param sinceAnswered how long ago the answer's headers arrived, 0 or more, or null if unknown
   */
  public synchronized void measured(Duration sinceSent, Duration sinceAnswered) {
    long nowMs = context.timers().nowMs();
    sentAtMs = sinceSent == null ? sentAtMs : (Long) (nowMs - sinceSent.toMillis());
    answeredAtMs = sinceAnswered == null ? answeredAtMs : (Long) (nowMs - sinceAnswered.toMillis());
  }

  /**
   * Reports that the call runs, such as at the start of a stream. Renews the lease.
   *
   * @param usage what is known so far; of several such reports the most counts; null: unknown
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   */
  public CompletableFuture<Void> inProgress(UsageReport usage, ProviderSignal signal) {
    CompletableFuture<Void> sent;
    synchronized (this) {
      if (outcome != null) {
        return CompletableFuture.failedFuture(alreadySettled(Outcome.IN_PROGRESS));
      }
      inProgress = true;
      if (unleased != null) {
        return CompletableFuture.completedFuture(null);
      }
      sent = renewal.send(settlement(Outcome.IN_PROGRESS, false, usage, signal));
    }
    CompletableFuture<Void> acknowledged = new CompletableFuture<>();
    acknowledge(acknowledged, Outcome.IN_PROGRESS, sent);
    return acknowledged;
  }

  /**
   * Settles: the call succeeded.
   *
   * @param usage what it used
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   */
  public CompletableFuture<Void> succeeded(UsageReport usage, ProviderSignal signal) {
    return settle(Outcome.SUCCEEDED, usage, signal);
  }

  /**
   * Settles: the provider answered 429, and the caller gives up or comes back on its own.
   *
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   */
  public CompletableFuture<Void> rateLimited(ProviderSignal signal) {
    return settle(Outcome.RATE_LIMITED, null, signal);
  }

  /**
   * Settles: the provider answered 429, and the coordinator puts the call back in line by itself.
   *
   * @param signal what the provider's headers said, or null
   * @return the lease of the next attempt, of the same request, with the failures of {@link
   *     AdmissionClient#acquire}; the call's timeout starts anew
   */
  public CompletableFuture<Lease> rateLimitedRequeue(ProviderSignal signal) {
    synchronized (this) {
      if (outcome != null) {
        return CompletableFuture.failedFuture(alreadySettled(Outcome.RATE_LIMITED));
      }
      outcome = Outcome.RATE_LIMITED;
    }
    Duration retryAfter = signal == null ? null : signal.retryAfter();
    if (unleased != null) {
      return calls.tryAgain(
          call, requestId, retryAfter, () -> finishUnleased(Outcome.RATE_LIMITED, null, signal));
    }
    return calls.requeue(
        call,
        attempt + 1,
        retryAfter,
        requeue -> {
          Settlement settlement = settlement(Outcome.RATE_LIMITED, requeue, null, signal);
          return new CallBook.Requeued(settlement, finish(settlement));
        });
  }

  /**
   * Settles: the provider was overloaded (529 and its kin), which is no limit of ours.
   *
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   */
  public CompletableFuture<Void> overloaded(ProviderSignal signal) {
    return settle(Outcome.OVERLOADED, null, signal);
  }

  /**
   * Settles: the call was sent and failed, and nobody knows what it used. Nothing is refunded.
   *
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   */
  public CompletableFuture<Void> failedAfterSend(ProviderSignal signal) {
    return settle(Outcome.FAILED_AFTER_SEND, null, signal);
  }

  /**
   * Settles: the call was provably never sent. Everything is refunded.
   *
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   */
  public CompletableFuture<Void> notSent() {
    return settle(Outcome.NOT_SENT, null, null);
  }

  /**
   * Settles with any final outcome of a lease.
   *
   * @param finalOutcome SUCCEEDED, RATE_LIMITED, OVERLOADED, FAILED_AFTER_SEND or NOT_SENT
   * @param usage what the call used, or null if unknown
   * @param signal what the provider's headers said, or null
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   * @throws IllegalArgumentException if the outcome is not one of those
   */
  public CompletableFuture<Void> settle(
      Outcome finalOutcome, UsageReport usage, ProviderSignal signal) {
    checkFinal(finalOutcome);
    return end(finalOutcome, usage, signal);
  }

  /**
   * Settles: the call was sent, and the caller gave it up before the provider answered. It is
   * charged as after {@link #failedAfterSend}, and is no failure that a later call retries.
   *
   * @param usage what shows that it was sent, such as its input as estimated; without any number
   *     above 0 the call counts as never sent
   * @return completes when the broker has it; exceptionally with {@link AdmissionException}
   */
  public CompletableFuture<Void> cancelled(UsageReport usage) {
    return end(Outcome.CANCELLED, usage, null);
  }

  private CompletableFuture<Void> end(
      Outcome finalOutcome, UsageReport usage, ProviderSignal signal) {
    CompletableFuture<Void> sent;
    synchronized (this) {
      if (outcome != null) {
        return outcome == finalOutcome && settled != null
            ? settled.copy()
            : CompletableFuture.failedFuture(alreadySettled(finalOutcome));
      }
      outcome = finalOutcome;
      settled = new CompletableFuture<>();
      sent =
          unleased == null
              ? finish(settlement(finalOutcome, false, usage, signal))
              : finishUnleased(finalOutcome, usage, signal);
    }
    acknowledge(settled, finalOutcome, sent);
    return settled.copy();
  }

  static void checkFinal(Outcome outcome) {
    if (outcome == null || !FINAL.contains(outcome)) {
      throw new IllegalArgumentException(
          "Expected one of " + FINAL + " to settle a lease, but found " + outcome + ".");
    }
  }

  /**
   * Renews it no more, so that the coordinator has it back at the end of its time to live should
   * nobody settle it. It may still be settled, before that and within the quota's late settlement
   * window after it. For who holds it on behalf of somebody that has gone silent.
   */
  public void letExpire() {
    if (renewal != null) {
      renewal.stop();
    }
  }

  /**
   * Settles what is not settled: NOT_SENT, or FAILED_AFTER_SEND if the call was marked as sent or
   * reported in progress, because then it may have been charged. Does not wait for the broker.
   */
  @Override
  public void close() {
    Outcome unreported;
    synchronized (this) {
      if (outcome != null) {
        return;
      }
      unreported = sentAtMs != null || inProgress ? Outcome.FAILED_AFTER_SEND : Outcome.NOT_SENT;
    }
    // Another report may come in between, and then it counts: the future of this one is unused.
    var unused = settle(unreported, null, null);
  }

  private synchronized CompletableFuture<Void> finishUnleased(
      Outcome reported, UsageReport usage, ProviderSignal signal) {
    leases.remove(this);
    return unleased.end(reported, usage, signal, signal(signal));
  }

  private CompletableFuture<Void> finish(Settlement settlement) {
    renewal.stop();
    leases.remove(this);
    return context.outbox().send(settlement);
  }

  private synchronized Settlement settlement(
      Outcome reported, boolean requeue, UsageReport usage, ProviderSignal signal) {
    return Records.settlement(
        call.agentId(), quota(), requestId, leaseId, reported, requeue, usage, signal(signal));
  }

  private Signal signal(ProviderSignal signal) {
    long nowMs = context.timers().nowMs();
    Long ageMs = answeredAtMs == null ? null : nowMs - answeredAtMs;
    Long msSinceSend = sentAtMs == null ? null : nowMs - sentAtMs;
    return Records.signal(signal, ageMs, msSinceSend);
  }

  /** Not under the monitor: the future's dependents may run here. */
  private void acknowledge(
      CompletableFuture<Void> future, Outcome reported, CompletableFuture<Void> sent) {
    context
        .completions()
        .follow(
            sent,
            future,
            "Expected the brokers to take "
                + reported
                + (unleased == null
                    ? " of lease "
                        + leaseId
                        + ", but they did not; until it expires the lease stays charged."
                    : " of the unleased call "
                        + requestId
                        + ", but they did not; it is kept, and reported when the coordinator"
                        + " answers."));
  }

  private AdmissionException alreadySettled(Outcome reported) {
    return new AdmissionException(
        "Expected "
            + name()
            + " to be open, but it is settled as "
            + outcome
            + "; "
            + reported
            + " was not sent. Settle a lease once.");
  }

  private String name() {
    return unleased == null ? "lease " + leaseId : "the unleased call " + requestId;
  }
}
