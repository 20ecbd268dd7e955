package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Random actions on quotas in fixed and rolling windows whose providers say the truth: no call uses
 * more than it was charged, nobody else uses the key, and headers tell what {@link WindowProvider}
 * has counted. Nobody is ever refused here, so whatever exceeds a limit is the engine's doing.
 */
final class WindowRun {
  static final String FIXED = "k/f";
  static final String ROLLING = "k/r";

  /** A token bucket that takes from the rolling window too, and one that takes from the fixed. */
  private static final Map<String, String> TAKERS = Map.of("k/x", ROLLING, "k/y", FIXED);

  private static final long START_MS = 1_020_000;
  private static final int LIMIT = 6_000;

  /**
   * Within the margin of the smallest limit. Larger calls go when the bucket is full, and one that
   * is full since it was clipped, when headers got old, may be full beside calls of this minute.
   */
  private static final int MOST_INPUT = 2_500;

  private final AdmissionEngine engine = new AdmissionEngine();
  private final List<Step> steps = new ArrayList<>();
  private final Map<String, WindowProvider> providers = new HashMap<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();
  private final List<LeaseGranted> grants = new ArrayList<>();
  private final List<String> quotas;
  private final Preset preset;
  private final boolean headers;
  private int requests;
  private long nowMs = START_MS;

  private WindowRun(Preset preset, boolean headers) {
    this.preset = preset;
    this.headers = headers;
    // The published rules know buckets alone: no last minute, and no shared quotas here.
    this.quotas = preset == Preset.SEED ? List.of(FIXED) : List.of(FIXED, ROLLING, "k/x", "k/y");
  }

  /** Runs the actions, then time until nobody waits and no lease is open. */
  static List<Step> of(Preset preset, boolean headers, List<Action> actions) {
    WindowRun run = new WindowRun(preset, headers);
    int number = actions.get(0).c();
    run.providers.put(FIXED, new WindowProvider(Window.FIXED, phaseMs(headers)));
    run.providers.put(ROLLING, new WindowProvider(Window.ROLLING, 0));
    for (String quota : run.quotas) {
      // Some begin as something else, and are put right by a redefinition.
      run.define(run.definition(quota, number, number % 5 == 0));
      number /= 8;
    }
    actions.forEach(run::act);
    run.finish();
    return List.copyOf(run.steps);
  }

  /** A provider that never tells it resets with the clock's minutes. */
  static long phaseMs(boolean headers) {
    return headers ? 17_300 : 0;
  }

  private QuotaDefinition definition(String id, int number, boolean mistaken) {
    Window window = Window.TOKEN_BUCKET;
    if (!mistaken && !TAKERS.containsKey(id)) {
      window = id.equals(FIXED) ? Window.FIXED : Window.ROLLING;
    }
    Amounts limits = Amounts.of(Dimension.INPUT_TOKENS, number % 3 == 0 ? LIMIT / 2 : LIMIT);
    limits = number % 4 == 0 ? limits.with(Dimension.REQUESTS, 12) : limits;
    limits = number % 7 == 0 ? limits.with(Dimension.CONCURRENT_REQUESTS, 9) : limits;
    MarginModeName[] modes = {null, MarginModeName.RATE, MarginModeName.RESERVE};
    MarginModeName mode = preset == Preset.SEED || headers ? null : modes[number % modes.length];
    return new QuotaDefinition(
        id,
        "generic",
        preset,
        List.of(),
        TAKERS.containsKey(id) ? List.of(TAKERS.get(id)) : List.of(),
        window,
        TAKERS.containsKey(id) ? Amounts.of(Dimension.INPUT_TOKENS, 4 * LIMIT) : limits,
        null,
        null,
        new QuotaDefinition.Margin(mode, number % 2 == 0 ? 1.0 : 0.85, 0.5, null, null, null),
        30_000L,
        150_000L,
        null,
        200L,
        null,
        null,
        null,
        100,
        50,
        null,
        Map.of(),
        Map.of(),
        Map.of(),
        null,
        QuotaDefinition.State.ACTIVE,
        0);
  }

  private void act(Action action) {
    long untilMs = nowMs + action.delayMs() % (3 * WindowProvider.MINUTE_MS);
    long earlyMs = nowMs + (untilMs - nowMs) / 8 * (action.b() % 8);
    if (earlyMs > nowMs && earlyMs < engine.nextDeadlineMs()) {
      nowMs = earlyMs;
      handle(new Command.Tick());
    }
    advance(untilMs);
    switch (action.kind()) {
      case REDEFINE:
        String id = quotas.get(action.a() % quotas.size());
        define(definition(id, action.b(), false));
        break;
      case SETTLE:
      case SETTLE_WITH_SIGNAL:
      case REFUSED:
        settle(action);
        break;
      case UNLEASED:
        unleased(action);
        break;
      case RENEW:
      case PASS:
        break;
      default:
        request(action);
        break;
    }
  }

  private void request(Action action) {
    String quota = quotas.get(action.b() % quotas.size());
    long input = action.d() % 9 == 0 ? action.c() % LIMIT : action.c() % 900;
    LeaseRequest.Estimate estimate =
        new LeaseRequest.Estimate(Math.min(input, MOST_INPUT), 0, null, 1L, "test");
    handle(
        new Command.RequestLease(
            new LeaseRequest(
                "r" + requests++,
                Drawn.AGENTS[action.a() % Drawn.AGENTS.length],
                quota,
                null,
                "worker",
                "batch",
                null,
                0,
                null,
                estimate,
                null,
                null,
                null,
                null),
            nowMs));
  }

  private void unleased(Action action) {
    Settlement.Usage usage = new Settlement.Usage((long) (action.c() % 900), null, null, 1L, true);
    handle(
        new Command.SettleLease(
            new Settlement(
                null,
                "u" + requests++,
                Drawn.AGENTS[action.a() % Drawn.AGENTS.length],
                quotas.get(action.b() % quotas.size()),
                Outcome.UNLEASED,
                usage,
                false,
                null),
            nowMs));
  }

  private void settle(Action action) {
    if (grants.isEmpty()) {
      return;
    }
    LeaseGranted lease = grants.get(grants.size() - 1 - action.a() % Math.min(grants.size(), 12));
    WindowProvider provider = providers.get(lease.quotaId());
    long arrivedAtMs = provider == null ? lease.grantedAtMs() : provider.arrivesAtMs(lease);
    advance(Math.max(nowMs, arrivedAtMs));
    boolean sent = preset == Preset.SEED || WindowProvider.isSent(lease.leaseId());
    Settlement.Usage usage =
        new Settlement.Usage(
            used(lease, lease.charged()).get(Dimension.INPUT_TOKENS), 0L, 0L, 1L, true);
    handle(
        new Command.SettleLease(
            new Settlement(
                lease.leaseId(),
                lease.requestId(),
                lease.agentId(),
                lease.quotaId(),
                sent ? Outcome.SUCCEEDED : Outcome.NOT_SENT,
                sent ? usage : null,
                false,
                headers && sent && provider != null ? signal(lease, provider, action) : null),
            nowMs));
  }

  private Amounts used(LeaseGranted lease, Amounts charged) {
    return preset == Preset.SEED ? charged : WindowProvider.used(lease.leaseId(), charged);
  }

  /** The provider's own numbers, read at most 300 ms ago and not before the call arrived. */
  private Signal signal(LeaseGranted lease, WindowProvider provider, Action action) {
    long arrivedAtMs = provider.arrivesAtMs(lease);
    long readAtMs = Math.max(arrivedAtMs, nowMs - action.b() % 300);
    long resetMs = provider.lastResetMs(readAtMs) + WindowProvider.MINUTE_MS - readAtMs;
    Amounts limits = definitions.get(lease.quotaId()).limits();
    Map<Dimension, Signal.Reading> readings = new EnumMap<>(Dimension.class);
    for (Dimension d : List.of(Dimension.INPUT_TOKENS, Dimension.REQUESTS)) {
      if (limits.has(d)) {
        long left = Math.max(0, limits.get(d) - provider.used(d, readAtMs));
        readings.put(d, new Signal.Reading(limits.get(d), left, resetMs));
      }
    }
    return new Signal(
        200, Signal.Kind.OK, null, null, nowMs - readAtMs, nowMs - arrivedAtMs, readings);
  }

  private void define(QuotaDefinition definition) {
    definitions.put(definition.id(), definition);
    handle(new Command.DefineQuota(definition, EngineRun.SALT));
  }

  private void advance(long untilMs) {
    while (engine.nextDeadlineMs() <= untilMs) {
      nowMs = Math.max(nowMs, engine.nextDeadlineMs());
      handle(new Command.Tick());
    }
    nowMs = untilMs;
  }

  private void finish() {
    while (quotas.stream().map(id -> engine.show(id, nowMs)).anyMatch(WindowRun::isBusy)) {
      nowMs = Math.max(nowMs, engine.nextDeadlineMs());
      handle(new Command.Tick());
    }
  }

  private static boolean isBusy(QuotaSnapshot quota) {
    return quota.waiting() > 0 || quota.openLeases() > 0;
  }

  private void handle(Command command) {
    var handled = engine.handle(EngineRun.KEY, command, nowMs);
    for (Event event : handled.events()) {
      if (event instanceof LeaseGranted e) {
        grants.add(e);
        arrive(e, e.quotaId(), e.charged());
        e.taken().also().forEach((id, charged) -> arrive(e, id, charged));
      }
    }
    List<QuotaSnapshot> snapshots =
        engine.quotaIds(EngineRun.KEY).stream().map(id -> engine.show(id, nowMs)).toList();
    steps.add(
        new Step(command, handled, engine.rows(EngineRun.KEY), snapshots, engine.nextDeadlineMs()));
  }

  private void arrive(LeaseGranted e, String quotaId, Amounts charged) {
    WindowProvider provider = providers.get(quotaId);
    if (provider != null && (preset == Preset.SEED || WindowProvider.isSent(e.leaseId()))) {
      provider.arrive(provider.arrivesAtMs(e), used(e, charged));
    }
  }
}
