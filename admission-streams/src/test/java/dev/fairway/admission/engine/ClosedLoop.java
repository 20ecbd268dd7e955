package dev.fairway.admission.engine;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Agents that always have some calls in play, waiting or sent, on one quota of 60,000 input tokens
 * a minute in virtual time. Subclasses of {@link Agent} cheat.
 */
final class ClosedLoop {
  private static final String QUOTA = EngineContext.QUOTA;

  private record Later(long atMs, long number, Runnable action) {}

  final EngineContext context;
  private final Map<String, Agent> agents = new HashMap<>();
  private final List<Agent> inOrder = new ArrayList<>();
  private final PriorityQueue<Later> later =
      new PriorityQueue<>(
          (a, b) ->
              a.atMs == b.atMs ? Long.compare(a.number, b.number) : Long.compare(a.atMs, b.atMs));
  private long number;
  private int seen;

  /** On several quotas; each agent on one of them. */
  ClosedLoop(List<QuotaDefinition> quotas) {
    context = EngineContext.with(quotas.get(0));
    quotas.stream()
        .skip(1)
        .forEach(q -> context.submit(new Command.DefineQuota(q, EngineContext.SALT)));
    context.restoring = false;
  }

  ClosedLoop(long maxQueueWaitMs, Map<String, Tenant> tenants) {
    context =
        EngineContext.with(
            new QuotaDefinition(
                QUOTA,
                "anthropic",
                Preset.FAIRWAY,
                List.of(),
                List.of(),
                Window.TOKEN_BUCKET,
                Amounts.of(Dimension.INPUT_TOKENS, 60_000),
                null,
                Amounts.of(Dimension.INPUT_TOKENS, 0),
                new Margin(MarginModeName.RATE, 1.0, 0.6, null, null, null),
                null,
                maxQueueWaitMs,
                null,
                null,
                null,
                null,
                null,
                100_000,
                100_000,
                null,
                Map.of(),
                tenants,
                Map.of(),
                null,
                State.ACTIVE,
                0));
    context.restoring = false;
  }

  ClosedLoop with(Agent... more) {
    for (Agent agent : more) {
      agent.loop = this;
      agents.put(agent.name, agent);
      inOrder.add(agent);
    }
    return this;
  }

  /** Lets that time pass; what was used before is not counted any more. */
  ClosedLoop run(long minutes) {
    inOrder.forEach(agent -> agent.used = 0);
    long untilMs = context.nowMs + minutes * 60_000;
    while (context.nowMs < untilMs) {
      inOrder.forEach(Agent::fill);
      tell();
      Later next = later.peek();
      long dueMs = Math.min(untilMs, context.engine.nextDeadlineMs());
      dueMs = next == null ? dueMs : Math.min(dueMs, next.atMs);
      context.sleep(Math.max(0, dueMs - context.nowMs));
      tell();
      if (next != null && next.atMs <= context.nowMs) {
        later.remove(next);
        next.action.run();
      }
    }
    return this;
  }

  /** Of all tokens used, the part used by agents whose names begin so. */
  double share(String prefix) {
    long all = inOrder.stream().mapToLong(agent -> agent.used).sum();
    long own = inOrder.stream().filter(a -> a.name.startsWith(prefix)).mapToLong(a -> a.used).sum();
    return (double) own / all;
  }

  private void tell() {
    while (seen < context.journal.size()) {
      for (Event event : context.journal.get(seen++).events()) {
        if (event instanceof LeaseGranted e) {
          agents.get(e.agentId()).granted(e);
        } else if (event instanceof LeaseRejected e) {
          agents.get(e.agentId()).rejected(e);
        }
      }
    }
  }

  /** An honest one, that comes back after a reject when it is told to. */
  static class Agent {
    final String name;
    final int inPlay;
    final long tokens;
    final long estimate;
    final long callMs;
    String quota = QUOTA;
    long used;
    ClosedLoop loop;
    private int playing;
    private int asked;

    Agent(String name, int inPlay, long tokens, long estimate, long callMs) {
      this.name = name;
      this.inPlay = inPlay;
      this.tokens = tokens;
      this.estimate = estimate;
      this.callMs = callMs;
    }

    Agent in(String quotaId) {
      quota = quotaId;
      return this;
    }

    void fill() {
      while (playing < inPlay) {
        playing++;
        ask(null, null);
      }
    }

    /** Asks, and returns the id. */
    final String ask(String retryOf, Long deadlineMs) {
      String id = name + "-" + asked++;
      String caller = caller();
      loop.agents.put(caller, this);
      loop.context.ask(
          new LeaseRequest(
              id,
              caller,
              quota,
              null,
              role(),
              "batch",
              retryOf,
              0,
              null,
              estimate(),
              null,
              deadlineMs,
              null,
              null));
      return id;
    }

    String role() {
      return "worker";
    }

    Estimate estimate() {
      return new Estimate(estimate, 0, null, 0L, "");
    }

    /** Name under which it asks next. */
    String caller() {
      return name;
    }

    void granted(LeaseGranted lease) {
      used += tokens;
      after(callMs, () -> ended(lease));
    }

    void ended(LeaseGranted lease) {
      settle(lease, Outcome.SUCCEEDED, tokens, 0L);
      done();
    }

    void rejected(LeaseRejected e) {
      after(e.retryAtMs() - loop.context.nowMs, () -> ask(e.requestId(), null));
    }

    /** One of its calls is over. */
    final void done() {
      playing--;
    }

    final void settle(LeaseGranted lease, Outcome outcome, Long input, Long output) {
      loop.context.settle(
          lease.leaseId(),
          lease.agentId(),
          outcome,
          input,
          output,
          s ->
              new Settlement(
                  s.leaseId(), null, s.agentId(), quota, outcome, s.usage(), false, null));
    }

    /** Cancels by its request's id what may have been granted. */
    final void cancel(LeaseGranted lease) {
      loop.context.submit(
          new Command.SettleLease(
              EngineContext.cancel(lease.requestId(), lease.agentId()), loop.context.nowMs));
    }

    /** What it used without a lease. */
    final void tellUnleased(String id, long input) {
      Usage usage = new Usage(input, 0L, 0L, 0L, true);
      loop.context.submit(
          new Command.SettleLease(
              new Settlement(null, id, name, quota, Outcome.UNLEASED, usage, false, null),
              loop.context.nowMs));
    }

    final void after(long ms, Runnable action) {
      loop.later.add(new Later(loop.context.nowMs + ms, loop.number++, action));
    }
  }
}
