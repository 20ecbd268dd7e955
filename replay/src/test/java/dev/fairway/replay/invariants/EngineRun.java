package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.TaskUpdate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs actions through an engine, with every tick at its time, and records each step. */
final class EngineRun {
  static final String KEY = "k";
  static final String SALT = "00112233445566778899aabbccddeeff";
  private static final long START_MS = 1_000_000;

  private final AdmissionEngine engine = new AdmissionEngine();
  private final List<Step> steps = new ArrayList<>();
  private final List<LeaseRequest> requests = new ArrayList<>();
  private final List<Event.LeaseGranted> grants = new ArrayList<>();
  private final Map<String, Event.LeaseRejected> rejected = new LinkedHashMap<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();
  private final boolean exact;
  private long nowMs = START_MS;

  private EngineRun(boolean exact) {
    this.exact = exact;
  }

  /** Runs the actions, then time until nobody waits and no lease is open. */
  static List<Step> of(Preset preset, List<Action> actions) {
    return run(new EngineRun(false), preset, actions);
  }

  /** The same with exact estimates, no redefinitions, no provider signals and no 429s. */
  static List<Step> exact(Preset preset, List<Action> actions) {
    return run(new EngineRun(true), preset, actions);
  }

  private static List<Step> run(EngineRun run, Preset preset, List<Action> actions) {
    int windows = run.exact ? 0 : actions.get(0).c();
    int rules = actions.get(0).d();
    for (String id : List.of("k/a", "k/b", "k/o", "k/c")) {
      double start = id.equals("k/a") ? 1.0 : id.equals("k/b") ? 0.85 : 0.9;
      QuotaDefinition definition = Definitions.of(id, preset, start, State.ACTIVE);
      run.define(Definitions.ruled(Definitions.windowed(definition, windows), rules));
      windows /= 12;
      rules /= 3;
    }
    actions.forEach(run::act);
    run.finish();
    return List.copyOf(run.steps);
  }

  private void act(Action action) {
    long startMs = nowMs;
    tickEarly(action);
    advance(startMs + action.delayMs());
    switch (action.kind()) {
      case REQUEST:
        request(drawn(action, null));
        break;
      case REQUEST_AGAIN:
        requestAgain(action);
        break;
      case RETRY:
        retry(action);
        break;
      case SETTLE:
        settle(action, null);
        break;
      case SETTLE_WITH_SIGNAL:
        settle(action, exact ? null : Drawn.signal(action));
        break;
      case REFUSED:
        refused(action);
        break;
      case GIVE_BACK:
        settleLatest(Outcome.NOT_SENT);
        break;
      case RENEW:
        renew(action);
        break;
      case CANCEL:
        cancel(action);
        break;
      case UNLEASED:
        unleased(action);
        break;
      case REDEFINE:
        redefine(action);
        break;
      case TASK:
        task(action);
        break;
      default:
        break;
    }
  }

  private LeaseRequest drawn(Action action, LeaseRequest rejectedBefore) {
    return Drawn.request(action, requests.size(), rejectedBefore, nowMs, exact);
  }

  private void request(LeaseRequest request) {
    requests.add(request);
    handle(new Command.RequestLease(request, nowMs));
  }

  private void requestAgain(Action action) {
    if (!requests.isEmpty()) {
      LeaseRequest request = requests.get(action.a() % requests.size());
      handle(new Command.RequestLease(request, nowMs));
    }
  }

  /** Comes back after a reject, or retries whatever the agent asked for before. */
  private void retry(Action action) {
    if (!exact && action.b() % 2 == 0 && !requests.isEmpty()) {
      request(drawn(action, requests.get(action.a() % requests.size())));
      return;
    }
    if (!rejected.isEmpty()) {
      List<String> ids = List.copyOf(rejected.keySet());
      String id = ids.get(action.a() % ids.size());
      requests.stream()
          .filter(request -> request.requestId().equals(id))
          .findFirst()
          .ifPresent(request -> request(drawn(action, request)));
    }
  }

  private void settle(Action action, Signal signal) {
    Outcome[] outcomes = {
      Outcome.SUCCEEDED,
      Outcome.SUCCEEDED,
      Outcome.SUCCEEDED,
      Outcome.FAILED_AFTER_SEND,
      Outcome.NOT_SENT,
      Outcome.OVERLOADED
    };
    Outcome outcome = exact ? Outcome.SUCCEEDED : outcomes[action.b() % outcomes.length];
    settle(action, outcome, exact ? null : Drawn.usage(action, outcome), false, signal);
  }

  private void refused(Action action) {
    if (exact) {
      settle(action, null);
      return;
    }
    Long retryAfterMs = action.c() % 3 == 0 ? (Long) (long) (action.d() % 20_000) : null;
    Signal signal =
        new Signal(
            429,
            action.c() % 19 == 0 ? Signal.Kind.QUOTA_EXHAUSTED : Signal.Kind.RATE_LIMITED,
            null,
            retryAfterMs,
            0L,
            null,
            Map.of());
    settle(action, Outcome.RATE_LIMITED, null, action.b() % 2 == 0, signal);
  }

  private void renew(Action action) {
    Settlement.Usage usage =
        exact || action.c() % 2 == 0
            ? null
            : new Settlement.Usage(
                action.d() % 5 == 0 ? null : (Long) (long) (action.d() % 600),
                0L,
                0L,
                action.b() % 4 == 0 ? (Long) (long) (action.d() % 90) : null,
                true);
    Signal signal = exact || action.b() % 3 == 0 ? null : Drawn.signal(action);
    settle(action, Outcome.IN_PROGRESS, usage, false, signal);
  }

  private void settle(
      Action action, Outcome outcome, Settlement.Usage usage, boolean requeue, Signal signal) {
    if (grants.isEmpty()) {
      return;
    }
    // Mostly one of the latest, sometimes one that ended long ago.
    int back = action.a() % (action.a() % 4 == 0 ? grants.size() : Math.min(grants.size(), 6));
    settle(grants.get(grants.size() - 1 - back), outcome, usage, requeue, signal);
  }

  private void settleLatest(Outcome outcome) {
    if (!exact && !grants.isEmpty()) {
      settle(grants.get(grants.size() - 1), outcome, null, false, null);
    }
  }

  private void settle(
      Event.LeaseGranted lease,
      Outcome outcome,
      Settlement.Usage usage,
      boolean requeue,
      Signal signal) {
    handle(
        new Command.SettleLease(
            new Settlement(
                lease.leaseId(),
                lease.requestId(),
                lease.agentId(),
                lease.quotaId(),
                outcome,
                usage,
                requeue,
                signal),
            nowMs));
  }

  private void cancel(Action action) {
    if (exact) {
      return;
    }
    String requestId = "early-" + action.b() % 3;
    String agentId = Drawn.AGENTS[action.c() % Drawn.AGENTS.length];
    String quotaId = Drawn.QUOTAS.get(action.d() % Drawn.QUOTAS.size());
    if (!requests.isEmpty() && action.d() % 8 != 0) {
      LeaseRequest request = requests.get(requests.size() - 1 - action.a() % requests.size());
      requestId = request.requestId();
      agentId = request.agentId();
      quotaId = request.quotaId();
    }
    handle(
        new Command.SettleLease(
            new Settlement(null, requestId, agentId, quotaId, Outcome.CANCELLED, null, false, null),
            nowMs));
  }

  private void unleased(Action action) {
    if (exact) {
      return;
    }
    // Under an id of its own, or under that of a request.
    String requestId = action.d() % 3 == 0 ? "r" + action.a() % 9 : "u" + action.a() % 2;
    long input = action.d() % 11 == 0 ? 200_000 : action.d() % 900;
    handle(
        new Command.SettleLease(
            new Settlement(
                null,
                requestId,
                Drawn.AGENTS[action.b() % 2],
                Drawn.QUOTAS.get(action.c() % Drawn.QUOTAS.size()),
                Outcome.UNLEASED,
                new Settlement.Usage(input, null, null, 40L, true),
                false,
                null),
            nowMs));
  }

  private void redefine(Action action) {
    if (exact) {
      return;
    }
    String id = Drawn.QUOTAS.get(action.a() % Drawn.QUOTAS.size());
    if (action.d() % 6 == 0) {
      handle(new Command.RemoveQuota(id));
      return;
    }
    State state = action.b() % 3 == 0 ? State.PAUSED : State.ACTIVE;
    double start = action.c() % 2 == 0 ? 1.0 : 0.7;
    QuotaDefinition before = definitions.get(id);
    int clearCount = before.clearCount() + (action.b() % 2);
    QuotaDefinition changed =
        Definitions.cleared(Definitions.of(id, before.preset(), start, state), clearCount);
    changed = Definitions.ruled(changed, action.c() / 2);
    define(
        action.d() % 6 == 1
            ? Definitions.withOtherLimits(changed, action.b())
            : Definitions.windowed(changed, action.d()));
  }

  private void task(Action action) {
    TaskUpdate.State[] states = TaskUpdate.State.values();
    handle(
        new Command.UpdateTask(
            new TaskUpdate(
                "task-" + action.a() % 5,
                null,
                action.b() % 2 == 0 ? "worker" : null,
                null,
                action.c() % 2 == 0 ? TaskUpdate.State.BLOCKED : states[action.c() % states.length],
                List.of("task-" + action.b() % 5, "task-" + action.d() % 5))));
  }

  private void define(QuotaDefinition definition) {
    definitions.put(definition.id(), definition);
    handle(new Command.DefineQuota(definition, SALT));
  }

  private void advance(long untilMs) {
    while (engine.nextDeadlineMs() <= untilMs) {
      nowMs = Math.max(nowMs, engine.nextDeadlineMs());
      handle(new Command.Tick());
    }
    nowMs = untilMs;
  }

  /** A tick that nobody asked for: before its time it does nothing. */
  private void tickEarly(Action action) {
    long atMs = nowMs + action.delayMs() / 8 * (action.b() % 8);
    if (atMs > nowMs && atMs < engine.nextDeadlineMs()) {
      nowMs = atMs;
      handle(new Command.Tick());
    }
  }

  private void finish() {
    // A quota that is paused or exhausted lets its queue go at the deadlines.
    while (busy() && engine.nextDeadlineMs() != Long.MAX_VALUE) {
      nowMs = Math.max(nowMs, engine.nextDeadlineMs());
      handle(new Command.Tick());
    }
  }

  private boolean busy() {
    return Drawn.QUOTAS.stream()
        .map(id -> engine.show(id, nowMs))
        .anyMatch(quota -> quota != null && (quota.waiting() > 0 || quota.openLeases() > 0));
  }

  private void handle(Command command) {
    Handled handled = engine.handle(KEY, command, nowMs);
    for (Event event : handled.events()) {
      if (event instanceof Event.LeaseGranted e) {
        grants.add(e);
      } else if (event instanceof Event.LeaseRejected e && e.keptTag() != null) {
        rejected.put(e.requestId(), e);
      }
    }
    List<QuotaSnapshot> snapshots =
        engine.quotaIds(KEY).stream().map(id -> engine.show(id, nowMs)).toList();
    steps.add(new Step(command, handled, engine.rows(KEY), snapshots, engine.nextDeadlineMs()));
  }
}
