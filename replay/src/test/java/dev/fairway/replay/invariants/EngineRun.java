package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.TaskUpdate;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
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
  private static final List<String> QUOTAS = List.of("k/a", "k/b", "k/c", "k/o");
  private static final String[] AGENTS = {"a1", "a2", "a3", "a4"};
  private static final String[] ROLES = {"planner", "reviewer", "worker", "stranger"};

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
    run.define(definition("k/a", preset, 1.0, QuotaDefinition.State.ACTIVE));
    run.define(definition("k/b", preset, 0.85, QuotaDefinition.State.ACTIVE));
    run.define(definition("k/o", preset, 0.9, QuotaDefinition.State.ACTIVE));
    run.define(definition("k/c", preset, 0.9, QuotaDefinition.State.ACTIVE));
    actions.forEach(run::act);
    run.finish();
    return List.copyOf(run.steps);
  }

  static QuotaDefinition definition(
      String id, Preset preset, double start, QuotaDefinition.State state) {
    Amounts limits;
    Amounts depth;
    if (id.equals("k/a")) {
      limits =
          Amounts.of(Dimension.REQUESTS, 120)
              .with(Dimension.INPUT_TOKENS, 6000)
              .with(Dimension.OUTPUT_TOKENS, 3001);
      depth = Amounts.of(Dimension.INPUT_TOKENS, 1000).with(Dimension.OUTPUT_TOKENS, 500);
    } else if (id.equals("k/c")) {
      limits = Amounts.of(Dimension.INPUT_TOKENS, 5000).with(Dimension.CONCURRENT_REQUESTS, 5);
      depth = Amounts.of(Dimension.INPUT_TOKENS, 900);
    } else if (id.equals("k/o")) {
      // Limits what k/c does, so that a header of its own may hold what a call of k/c used.
      limits =
          Amounts.of(Dimension.INPUT_TOKENS, 6000)
              .with(Dimension.REQUESTS, 90)
              .with(Dimension.CONCURRENT_REQUESTS, 6);
      depth = Amounts.of(Dimension.INPUT_TOKENS, 1200);
    } else {
      limits = Amounts.of(Dimension.TOKENS, 3000).with(Dimension.CONCURRENT_REQUESTS, 3);
      depth = Amounts.of(Dimension.TOKENS, 777);
    }
    return new QuotaDefinition(
        id,
        "generic",
        preset,
        List.of(),
        id.equals("k/c") ? List.of("k/o") : List.of(),
        QuotaDefinition.Window.TOKEN_BUCKET,
        limits,
        depth,
        null,
        new QuotaDefinition.Margin(null, start, 0.5, 0.07, 0.013, 60_000L),
        20_000L,
        15_000L,
        null,
        200L,
        preset == Preset.SEED ? null : (Long) 30_000L,
        20,
        8,
        new QuotaDefinition.Budgets(3, null, null),
        id.equals("k/c") ? Map.of("interactive", 0.3) : Map.of(),
        id.equals("k/c") ? tenants(start) : Map.of(),
        Map.of(),
        state,
        0);
  }

  /** Two tenants, one of them with a ceiling; a redefinition moves it, or takes one away. */
  private static Map<String, QuotaDefinition.Tenant> tenants(double start) {
    QuotaDefinition.Tenant bounded =
        new QuotaDefinition.Tenant(
            2, start < 0.8 ? 0.6 : 0.4, List.of("a1"), List.of(), List.of(), 4, null);
    QuotaDefinition.Tenant plain =
        new QuotaDefinition.Tenant(
            1, null, List.of("a2", "a3*"), List.of("worker"), List.of("batch"), null, null);
    return start >= 1 ? Map.of("bounded", bounded) : Map.of("bounded", bounded, "plain", plain);
  }

  private void act(Action action) {
    advance(action.delayMs());
    switch (action.kind()) {
      case REQUEST:
        request(newRequest(action, null));
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
        settle(action, exact ? null : signal(action));
        break;
      case REFUSED:
        refused(action);
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

  private LeaseRequest newRequest(Action action, LeaseRequest rejectedBefore) {
    boolean big = action.d() % 17 == 0;
    Long input = action.c() % 13 == 0 ? null : (Long) (long) (action.c() % (big ? 7000 : 400));
    Long output = action.d() % 5 == 0 ? null : (Long) (long) (action.d() % 300);
    if (action.a() % 3 == 0) {
      // Small against the buckets: may pass a head that waits.
      input = (long) (action.c() % 25);
      output = (long) (action.d() % 9);
    }
    boolean cached = !exact && action.a() % 7 == 0;
    return new LeaseRequest(
        "r" + requests.size(),
        rejectedBefore != null ? rejectedBefore.agentId() : AGENTS[action.a() % AGENTS.length],
        rejectedBefore != null ? rejectedBefore.quotaId() : QUOTAS.get(action.b() % QUOTAS.size()),
        action.c() % 3 == 0 ? "task-" + action.d() % 5 : null,
        ROLES[action.d() % ROLES.length],
        action.c() % 4 == 0 ? "interactive" : "batch",
        rejectedBefore != null ? rejectedBefore.requestId() : null,
        action.b() % 9 == 0 ? 3 : 0,
        action.b() % 6 == 0 ? (Integer) (action.c() % 40) : null,
        new LeaseRequest.Estimate(
            input, cached ? 150 : 0, cached ? (Long) (nowMs + 3000) : null, output, "test"),
        action.b() % 5 == 0 ? "bounded" : null,
        action.a() % 10 == 0 ? (Long) (nowMs + action.c() % 9000) : null,
        null,
        null);
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
      request(newRequest(action, requests.get(action.a() % requests.size())));
      return;
    }
    if (!rejected.isEmpty()) {
      List<String> ids = List.copyOf(rejected.keySet());
      String id = ids.get(action.a() % ids.size());
      requests.stream()
          .filter(request -> request.requestId().equals(id))
          .findFirst()
          .ifPresent(request -> request(newRequest(action, request)));
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
    settle(action, outcome, usage(action, outcome), false, signal);
  }

  private Settlement.Usage usage(Action action, Outcome outcome) {
    if (exact || outcome != Outcome.SUCCEEDED || action.c() % 10 == 0) {
      return null;
    }
    return new Settlement.Usage(
        (long) (action.c() % 500),
        7L,
        3L,
        action.d() % 8 == 0 ? null : (Long) (long) action.d() % 700,
        true);
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
            : new Settlement.Usage((long) (action.d() % 600), 0L, 0L, null, true);
    Signal signal = exact || action.b() % 3 == 0 ? null : signal(action);
    settle(action, Outcome.IN_PROGRESS, usage, false, signal);
  }

  private void settle(
      Action action, Outcome outcome, Settlement.Usage usage, boolean requeue, Signal signal) {
    if (grants.isEmpty()) {
      return;
    }
    // Mostly one of the latest, sometimes one that ended long ago.
    int back = action.a() % (action.a() % 4 == 0 ? grants.size() : Math.min(grants.size(), 6));
    Event.LeaseGranted lease = grants.get(grants.size() - 1 - back);
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

  private static Signal signal(Action action) {
    Map<Dimension, Signal.Reading> limits = new HashMap<>();
    Dimension[] dimensions = {
      Dimension.INPUT_TOKENS, Dimension.OUTPUT_TOKENS, Dimension.TOKENS, Dimension.REQUESTS
    };
    for (int i = 0; i < dimensions.length; i++) {
      int number = action.d() >> i;
      if (number % 3 != 0) {
        Long limit = number % 29 == 0 ? (Long) 2000L : null;
        limits.put(
            dimensions[i], new Signal.Reading(limit, number % 31 == 0 ? -1L : number % 900, 500L));
      }
    }
    return new Signal(
        200,
        Signal.Kind.OK,
        null,
        null,
        (long) (action.b() % 400),
        action.b() % 5 == 0 ? null : (Long) (long) (action.c() % 2500),
        limits);
  }

  private void cancel(Action action) {
    if (exact) {
      return;
    }
    String requestId = "early-" + action.b() % 3;
    String agentId = AGENTS[action.c() % AGENTS.length];
    String quotaId = QUOTAS.get(action.d() % QUOTAS.size());
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
    handle(
        new Command.SettleLease(
            new Settlement(
                null,
                "u" + action.a() % 20,
                AGENTS[action.b() % AGENTS.length],
                QUOTAS.get(action.c() % QUOTAS.size()),
                Outcome.UNLEASED,
                new Settlement.Usage((long) (action.d() % 900), null, null, 40L, true),
                false,
                null),
            nowMs));
  }

  private void redefine(Action action) {
    if (exact) {
      return;
    }
    String id = QUOTAS.get(action.a() % QUOTAS.size());
    if (action.d() % 6 == 0) {
      handle(new Command.RemoveQuota(id));
      return;
    }
    QuotaDefinition.State state =
        action.b() % 3 == 0 ? QuotaDefinition.State.PAUSED : QuotaDefinition.State.ACTIVE;
    double start = action.c() % 2 == 0 ? 1.0 : 0.7;
    QuotaDefinition before = definitions.get(id);
    int clearCount = before.clearCount() + (action.b() % 2);
    QuotaDefinition changed = cleared(definition(id, before.preset(), start, state), clearCount);
    define(action.d() % 6 == 1 ? withOtherLimits(changed, action.b()) : changed);
  }

  private static QuotaDefinition cleared(QuotaDefinition d, int clearCount) {
    return changed(d, d.window(), d.limits(), d.depth(), d.level(), clearCount);
  }

  /** Other limits, depths and windows, and a level that is given. */
  private static QuotaDefinition withOtherLimits(QuotaDefinition d, int number) {
    QuotaDefinition.Window[] windows = QuotaDefinition.Window.values();
    Amounts limits =
        d.id().equals("k/a") || d.id().equals("k/c")
            ? Amounts.of(Dimension.REQUESTS, 200).with(Dimension.INPUT_TOKENS, 9001)
            : Amounts.of(Dimension.TOKENS, 2000);
    Amounts level = d.id().equals("k/b") ? Amounts.of(Dimension.TOKENS, 333) : null;
    return changed(d, windows[number % windows.length], limits, null, level, d.clearCount());
  }

  private static QuotaDefinition changed(
      QuotaDefinition d,
      QuotaDefinition.Window window,
      Amounts limits,
      Amounts depth,
      Amounts level,
      int clearCount) {
    return new QuotaDefinition(
        d.id(),
        d.provider(),
        d.preset(),
        d.models(),
        d.also(),
        window,
        limits,
        depth,
        level,
        d.margin(),
        d.leaseTtlMs(),
        d.maxQueueWaitMs(),
        d.outputReservation(),
        d.defaultEstimate(),
        d.lateSettlementWindowMs(),
        d.queueMax(),
        d.queueMaxPerAgent(),
        d.budgets(),
        d.classes(),
        d.tenants(),
        d.roles(),
        d.state(),
        clearCount);
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

  private void advance(long delayMs) {
    long untilMs = nowMs + Math.max(0, delayMs);
    while (engine.nextDeadlineMs() <= untilMs) {
      nowMs = Math.max(nowMs, engine.nextDeadlineMs());
      handle(new Command.Tick());
    }
    nowMs = untilMs;
  }

  private void finish() {
    // A quota that is paused or exhausted lets its queue go at the deadlines.
    while (busy() && engine.nextDeadlineMs() != Long.MAX_VALUE) {
      nowMs = Math.max(nowMs, engine.nextDeadlineMs());
      handle(new Command.Tick());
    }
  }

  private boolean busy() {
    return QUOTAS.stream()
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
    steps.add(new Step(command, handled, engine.rows(KEY), snapshots));
  }
}
