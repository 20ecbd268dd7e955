package dev.fairway.replay.world;

import dev.fairway.replay.world.WorldOptions.UsageAt;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LimitReading;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Rejected;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Signal;
import dev.fairway.schemas.SignalClass;
import dev.fairway.schemas.SignalLimits;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.Usage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Agents that ask a coordinator, by the records of the protocol and with its delays. They are
 * honest: estimates as good as they can be, and the numbers of the provider as they read them.
 */
public final class ProtocolGate implements Gate {
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int OK = 200;
  private static final long SECOND_MS = 1000;

  /** For a rejection that names no time. */
  private static final long ASK_AGAIN_MS = 10_000;

  private final World world;
  private final Admission admission;
  private final Backoff backoff;
  private final Map<Call, Asked> asked = new HashMap<>();
  private final Map<String, Asked> byRequest = new HashMap<>();
  private long tickAtMs = Long.MAX_VALUE;

  /** What an agent remembers of a call that it wants or has sent. */
  private static final class Asked {
    final Call call;
    String requestId;
    String leaseId;
    int requests;
    boolean oversize;

    Asked(Call call) {
      this.call = call;
    }
  }

  private ProtocolGate(World world, Admission.Maker maker, Backoff backoff) {
    this.world = world;
    this.backoff = backoff;
    this.admission =
        maker.make(
            terms(world.provider().limits(), world.options().provider()),
            decision -> world.agenda().in(delayMs(), () -> decided(decision)));
  }

  /**
   * Gates in front of a policy.
   *
   * @param backoff of agents whose calls the policy does not put back in line after a 429
   */
  public static Gate.Maker of(Admission.Maker maker, Backoff backoff) {
    return world -> new ProtocolGate(world, maker, backoff);
  }

  private static Admission.Terms terms(Limits limits, WorldOptions.ProviderModel model) {
    return new Admission.Terms(
        limits.requests(),
        limits.inputTokens(),
        limits.outputTokens(),
        ProviderWindow.valueOf(model.window().name()),
        model.depthS(),
        model.maxTokensCharged());
  }

  private long delayMs() {
    return world.options().network().coordinatorMs();
  }

  /** Something reaches the coordinator; what is due there comes first. */
  private void deliver(Runnable record) {
    world
        .agenda()
        .in(
            delayMs(),
            () -> {
              tickIfDue();
              record.run();
              schedule();
            });
  }

  private void tickIfDue() {
    while (admission.nextDeadlineMs() <= world.nowMs()) {
      admission.tick(world.nowMs());
    }
  }

  private void schedule() {
    long dueMs = admission.nextDeadlineMs();
    if (dueMs < tickAtMs && dueMs < world.options().durationMs()) {
      tickAtMs = dueMs;
      world
          .agenda()
          .at(
              dueMs,
              () -> {
                if (tickAtMs == dueMs) {
                  tickAtMs = Long.MAX_VALUE;
                  tickIfDue();
                  schedule();
                }
              });
    }
  }

  // ---- what agents write

  @Override
  public void ask(Call call) {
    Asked wish = new Asked(call);
    asked.put(call, wish);
    request(wish);
  }

  private void request(Asked wish) {
    String retryOf = wish.requestId;
    if (retryOf != null) {
      byRequest.remove(retryOf);
    }
    wish.requestId = "c" + wish.call.number() + "." + wish.requests++;
    wish.leaseId = null;
    byRequest.put(wish.requestId, wish);
    LeaseRequest request = record(wish, retryOf);
    deliver(() -> admission.request(request, world.nowMs()));
  }

  private LeaseRequest record(Asked wish, String retryOf) {
    Call call = wish.call;
    return new LeaseRequest(
        wish.requestId,
        call.agentId(),
        Admission.QUOTA,
        call.taskId(),
        call.role().wireName(),
        "batch",
        retryOf,
        0,
        // The task graph tells; what an agent could claim of it needs no trust.
        null,
        estimate(call),
        null,
        null,
        null,
        null);
  }

  private Estimate estimate(Call call) {
    long cached = call.prefixTokens();
    boolean warm = cached > 0 && call.cacheEndsAtMs() > world.nowMs();
    // A call above the limit takes all of it and no more: so the provider lets it through.
    long limit = world.provider().limits().inputTokens();
    long input = Math.min(limit, call.estimatedInput());
    if (!warm && input + cached > limit) {
      input = limit;
      cached = 0;
    }
    return new Estimate(
        input, cached, warm ? (Long) call.cacheEndsAtMs() : null, call.role().maxTokens(), "");
  }

  @Override
  public void withdrawn(Call call) {
    Asked wish = forget(call);
    settle(wish, Outcome.CANCELLED, null, false, null);
  }

  @Override
  public void started(Call call, Headers headers) {
    Asked wish = asked.get(call);
    Signal signal =
        headers.readings().isEmpty()
            ? null
            : new Signal(OK, SignalClass.OK, null, null, 0L, sinceSendMs(call), limits(headers));
    boolean tells = world.options().fleet().usageAt() == UsageAt.FIRST_TOKEN;
    settle(wish, Outcome.IN_PROGRESS, tells ? usage(call, null) : null, false, signal);
  }

  @Override
  public void ended(Call call) {
    Asked wish = forget(call);
    Signal signal = new Signal(OK, SignalClass.OK, null, null, 0L, sinceSendMs(call), null);
    settle(wish, Outcome.SUCCEEDED, usage(call, call.output()), false, signal);
  }

  @Override
  public void refused(Call call, Refusal refusal, boolean again) {
    Asked wish = asked.get(call);
    Signal signal =
        new Signal(
            TOO_MANY_REQUESTS,
            SignalClass.RATE_LIMITED,
            refusal.binding() == null ? null : refusal.binding().wireName(),
            refusal.retryAfterS() * SECOND_MS,
            0L,
            sinceSendMs(call),
            refusal.headers().readings().isEmpty() ? null : limits(refusal.headers()));
    boolean requeue = again && admission.requeues();
    settle(wish, Outcome.RATE_LIMITED, null, requeue, signal);
    if (!again) {
      forget(call);
    } else if (!requeue) {
      long waitMs = OpenGate.waitMs(world, backoff, call, refusal);
      world.agenda().in(waitMs, () -> askAgain(wish));
    }
  }

  private void askAgain(Asked wish) {
    if (asked.get(wish.call) == wish) {
      request(wish);
    }
  }

  private Asked forget(Call call) {
    Asked wish = asked.remove(call);
    byRequest.remove(wish.requestId);
    return wish;
  }

  private long sinceSendMs(Call call) {
    return world.nowMs() - call.sentAtMs();
  }

  private void settle(Asked wish, Outcome outcome, Usage usage, boolean requeue, Signal signal) {
    boolean byRequestId = outcome == Outcome.CANCELLED;
    Settlement settlement =
        new Settlement(
            byRequestId ? null : wish.leaseId,
            wish.requestId,
            wish.call.agentId(),
            Admission.QUOTA,
            outcome,
            usage,
            requeue,
            signal);
    deliver(() -> admission.settle(settlement, world.nowMs()));
  }

  /** As the provider reports it: a prefix that was warm is read, one that was not is written. */
  private static Usage usage(Call call, Long output) {
    long written = call.charged() - call.newInput();
    return new Usage(call.newInput(), written > 0 ? 0 : call.prefixTokens(), written, output, true);
  }

  private static SignalLimits limits(Headers headers) {
    return new SignalLimits(
        reading(headers, Dimension.REQUESTS),
        reading(headers, Dimension.INPUT_TOKENS),
        reading(headers, Dimension.OUTPUT_TOKENS),
        null);
  }

  private static LimitReading reading(Headers headers, Dimension dimension) {
    Headers.Reading reading = headers.readings().get(dimension);
    return new LimitReading(reading.limit(), reading.remaining(), reading.resetMs());
  }

  @Override
  public void over(Call call) {
    if (call.isLost()) {
      // Its agent died with all that it remembered; the lease is left to expire.
      forget(call);
    }
  }

  @Override
  public void task(
      TaskState state, String taskId, Role role, String agentId, List<String> blockedOn) {
    TaskUpdate update =
        new TaskUpdate(
            taskId, Admission.QUOTA, role.wireName(), agentId, state, new ArrayList<>(blockedOn));
    deliver(() -> admission.task(update, world.nowMs()));
  }

  // ---- what agents read

  private void decided(Decision decision) {
    Asked wish = byRequest.get(decision.getRequestId());
    if (wish == null) {
      return; // Withdrawn meanwhile: the coordinator has read, or will read, that it is.
    }
    if (decision.getGranted() != null) {
      granted(wish, decision.getGranted());
    } else if (decision.getRejected() != null) {
      rejected(wish, decision.getRejected());
    }
  }

  private void granted(Asked wish, Grant grant) {
    if (grant.getLeaseId().equals(wish.leaseId)) {
      return; // Delivered twice.
    }
    wish.leaseId = grant.getLeaseId();
    if (grant.getExpiresAtMs() < world.nowMs()) {
      settle(wish, Outcome.NOT_SENT, null, false, null);
      request(wish);
    } else {
      world.sender().send(wish.call);
    }
  }

  private void rejected(Asked wish, Rejected rejected) {
    RejectReason reason = rejected.getReason();
    world.observer().rejected(world.nowMs(), wish.call, reason, rejected.getDetail());
    if (reason == RejectReason.BUDGET_SPENT) {
      forget(wish.call);
      world.sender().giveUp(wish.call);
      return;
    }
    Long retryAtMs = rejected.getRetryAtMs();
    if (reason == RejectReason.NEVER_FITS && !wish.oversize) {
      // It grew above the limit in line, when its prefix left the cache.
      wish.oversize = true;
      request(wish);
      return;
    }
    long atMs = retryAtMs != null ? retryAtMs : world.nowMs() + ASK_AGAIN_MS;
    world.agenda().at(atMs, () -> askAgain(wish));
  }
}
