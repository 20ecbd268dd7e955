package dev.fairway.agent.gateway;

import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.QueueUpdate;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.WaitWords;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.util.thread.SerializedInvoker;

/**
 * One call's wait for its grant. A refusal that names a time within the hold is waited out here,
 * and the call asks again; others end the wait. So does a request whose own time is over, which is
 * shorter than most holds: it comes back to the place that it had. Used by the call's invoker.
 */
final class Line {
  /** Refusals after which it makes sense to wait here and ask again. */
  private static final Set<RejectReason> COME_BACK =
      EnumSet.of(
          RejectReason.QUEUE_WAIT_TOO_LONG,
          RejectReason.QUEUE_FULL,
          RejectReason.TENANT_CEILING,
          RejectReason.QUOTA_EXHAUSTED,
          RejectReason.BUDGET_SPENT);

  /** Refusals that say that a request was too old, and nothing of the call. */
  private static final Set<RejectReason> TOO_OLD =
      EnumSet.of(RejectReason.DEADLINE_PASSED, RejectReason.STALE);

  /** When to ask again where a request that was too old had no place: nobody asks at once. */
  private static final Duration SOON = Duration.ofSeconds(1);

  /**
   * How much later whoever is asked gives up by itself: the line ends a wait, because it knows what
   * is left of it.
   */
  static final long HOLD_SLACK_MS = 5_000;

  /** Hears how the wait ends; by the call's invoker. */
  interface Listener {
    /** The call may be sent. */
    void granted(Grant grant);

    /**
     * The call may not be sent.
     *
     * @param requestId request that was refused, or null
     */
    void refused(Trouble trouble, String requestId);
  }

  private final GatewayContext context;
  private final CallPlan plan;
  private final SerializedInvoker invoker;
  private final long beganAtMs;
  private final long untilMs;
  private final Listener listener;
  private boolean waiting;
  private CompletableFuture<Grant> asked;
  private String requestId;
  private Scheduler.Task comeBack;
  private Scheduler.Task end;
  private QueueUpdate place;

  /** When its turn is as far as it was told, or null where nobody knows. */
  private Long turnAtMs;

  /**
   * Nobody waits yet.
   *
   * @param untilMs when the hold ends, by {@link GatewayContext#nowMs()}
   */
  Line(
      GatewayContext context,
      CallPlan plan,
      SerializedInvoker invoker,
      long untilMs,
      Listener listener) {
    this.context = context;
    this.plan = plan;
    this.invoker = invoker;
    this.beganAtMs = context.nowMs();
    this.untilMs = untilMs;
    this.listener = listener;
  }

  /** Whether a refusal is for now: a budget that is spent and tells no time is spent for good. */
  static boolean isWait(RefusedException refused) {
    return COME_BACK.contains(refused.reason())
        && (refused.reason() != RejectReason.BUDGET_SPENT || refused.retryAfter() != null);
  }

  /** Asks, as a repetition of a request or of none. */
  void ask(String repeats) {
    Duration timeout = Duration.ofMillis(Math.max(0, untilMs - context.nowMs()) + HOLD_SLACK_MS);
    requestId = context.admission().newRequestId();
    await(
        context
            .admission()
            .ask(
                plan.leaseCall(
                    requestId, repeats, timeout, update -> invoker.run(() -> queued(update)))));
  }

  /** Id of the last request that was made, or null. */
  String requestId() {
    return requestId;
  }

  /** Puts a call back that the provider refused; false if the hold is over. */
  boolean requeue(Grant refused, ProviderSignal signal) {
    if (context.nowMs() >= untilMs) {
      return false;
    }
    await(refused.requeue(signal));
    return true;
  }

  /**
   * Asks anew for a call that its provider is too busy for, as a repetition of that try; false if
   * the hold is over.
   */
  boolean tryAgain(Grant refused, ProviderSignal signal) {
    if (context.nowMs() >= untilMs) {
      return false;
    }
    refused.settle(Outcome.OVERLOADED, null, signal);
    ask(refused.requestId());
    return true;
  }

  /** How long its place may be kept at most: until the hold ends. */
  long holdLeftMs() {
    return Math.max(0, untilMs - context.nowMs());
  }

  /** Gives the place up. */
  void leave() {
    waiting = false;
    cancel(comeBack);
    cancel(end);
    if (asked != null) {
      asked.cancel(false);
    }
  }

  /**
   * What is left of the wait that was told last; a second if nothing was told, and null where
   * nobody knows: for a slot, or for an operator.
   */
  Duration remainingEta() {
    return turnAtMs == null ? null : Duration.ofMillis(Math.max(1_000, turnAtMs - context.nowMs()));
  }

  /** The wait in words. */
  String words() {
    if (!waiting || place == null) {
      return "waiting";
    }
    Duration eta = remainingEta();
    String told = eta == null ? "" : ", about " + (eta.toMillis() + 999) / 1_000 + " s";
    return "queued, position " + place.position() + told + waitsFor();
  }

  private String waitsFor() {
    return place
        .waitsFor()
        .map(waitsFor -> " for " + WaitWords.of(waitsFor, plan.target().quota()))
        .orElse("");
  }

  private void await(CompletableFuture<Grant> asking) {
    waiting = true;
    place = null;
    turnAtMs = context.nowMs();
    asked = asking;
    cancel(end);
    end = later(untilMs - context.nowMs(), this::endHold);
    var unused =
        asking.whenComplete((grant, error) -> invoker.run(() -> decided(asking, grant, error)));
  }

  private void queued(QueueUpdate update) {
    place = update;
    turnAtMs = update.eta().isZero() ? null : (Long) (context.nowMs() + update.eta().toMillis());
  }

  private void decided(CompletableFuture<Grant> asking, Grant grant, Throwable error) {
    if (!waiting || asking != asked) {
      if (grant != null) {
        grant.settle(Outcome.NOT_SENT, null, null);
      }
      return;
    }
    if (grant != null) {
      waiting = false;
      cancel(end);
      listener.granted(grant);
    } else if (error instanceof RefusedException refused) {
      refused(refused);
    } else {
      end(
          new Trouble(429, "Expected a grant, but found " + error + ".", remainingEta(), false),
          requestId);
    }
  }

  private void refused(RefusedException refused) {
    requestId = refused.requestId();
    boolean tooOld = TOO_OLD.contains(refused.reason());
    Duration wait = refused.retryAfter() == null && tooOld ? SOON : refused.retryAfter();
    if (!tooOld || turnAtMs != null) {
      turnAtMs = wait == null ? null : (Long) (context.nowMs() + wait.toMillis());
    }
    boolean inTime = wait != null && context.nowMs() + Math.max(1, wait.toMillis()) < untilMs;
    if (inTime && (tooOld || isWait(refused))) {
      // Nobody remembers a stale request: who named it would be taken for a retry.
      String repeats =
          refused.reason() == RejectReason.STALE ? plan.retryOf() : refused.requestId();
      comeBack = later(Math.max(1, wait.toMillis()), () -> ask(repeats));
    } else {
      end(
          tooOld
              ? new Trouble(429, refused.getMessage(), remainingEta(), false)
              : refused.trouble(),
          refused.requestId());
    }
  }

  private void endHold() {
    String found =
        "Expected a grant of quota "
            + plan.target().quota()
            + " within "
            + (untilMs - beganAtMs)
            + " ms, but none came; request "
            + requestId
            + " is withdrawn."
            + (place == null
                ? ""
                : " It was at position " + place.position() + ", waiting" + waitsFor() + ".")
            + " `fairway why "
            + requestId
            + "` tells what happened meanwhile.";
    end(new Trouble(429, found, remainingEta(), false), requestId);
  }

  private void end(Trouble trouble, String requestId) {
    leave();
    listener.refused(trouble, requestId);
  }

  private Scheduler.Task later(long delayMs, Runnable task) {
    return context
        .scheduler()
        .schedule(
            () ->
                invoker.run(
                    () -> {
                      if (waiting) {
                        task.run();
                      }
                    }),
            Math.max(0, delayMs),
            TimeUnit.MILLISECONDS);
  }

  private static void cancel(Scheduler.Task task) {
    if (task != null) {
      task.cancel();
    }
  }
}
