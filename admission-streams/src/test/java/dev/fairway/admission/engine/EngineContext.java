package dev.fairway.admission.engine;

import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * One engine with one quota in virtual time: due ticks run before each command, and {@link #sleep}
 * returns what happened meanwhile. After each command the state must be what its own rows restore.
 */
public final class EngineContext {
  static final String QUOTA = "k/q";
  public static final String KEY = "k";
  static final String SALT = "00112233445566778899aabbccddeeff";

  public final AdmissionEngine engine = new AdmissionEngine();
  final List<Handled> journal = new ArrayList<>();
  public long nowMs;

  /** Off in long runs: it takes time with every row. */
  boolean restoring = true;

  EngineContext(long startMs) {
    nowMs = startMs;
  }

  /** A context with a quota of these limits at margin 1, levels as given (or full). */
  static EngineContext with(Amounts limits, Amounts level) {
    return with(quota(limits, level));
  }

  public static EngineContext with(QuotaDefinition definition) {
    EngineContext context = new EngineContext(1_000_000);
    context.submit(new Command.DefineQuota(definition, SALT));
    return context;
  }

  static QuotaDefinition quota(Amounts limits, Amounts level) {
    return quota(limits, level, MarginModeName.RATE, 1.0, Window.TOKEN_BUCKET);
  }

  public static QuotaDefinition quota(
      Amounts limits, Amounts level, MarginModeName mode, double start, Window window) {
    return new QuotaDefinition(
        QUOTA,
        "anthropic",
        Preset.FAIRWAY,
        List.of(),
        List.of(),
        window,
        limits,
        null,
        level,
        new Margin(mode, start, 0.6, null, null, null),
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        Map.of(),
        Map.of(),
        Map.of(),
        null,
        State.ACTIVE,
        0);
  }

  static Amounts tokens(long amount) {
    return Amounts.of(Dimension.TOKENS, amount);
  }

  static LeaseRequest request(String id, String agent, long input, long maxOutput) {
    return new LeaseRequest(
        id,
        agent,
        QUOTA,
        null,
        "worker",
        "batch",
        null,
        0,
        null,
        new Estimate(input, 0, null, maxOutput, ""),
        null,
        null,
        null,
        null);
  }

  /** Handles due ticks, then the command; the events of the command. */
  List<Event> submit(Command command) {
    runTicks(nowMs);
    return handle(command);
  }

  public List<Event> ask(String id, String agent, long input) {
    return ask(request(id, agent, input, 0));
  }

  List<Event> ask(LeaseRequest request) {
    return submit(new Command.RequestLease(request, nowMs));
  }

  public List<Event> settle(
      String leaseId, String agent, Outcome outcome, Long input, Long output) {
    return settle(leaseId, agent, outcome, input, output, s -> s);
  }

  List<Event> settle(
      String leaseId,
      String agent,
      Outcome outcome,
      Long input,
      Long output,
      UnaryOperator<Settlement> change) {
    Usage usage = input == null && output == null ? null : new Usage(input, 0L, 0L, output, true);
    Settlement settlement =
        new Settlement(leaseId, null, agent, QUOTA, outcome, usage, false, null);
    return submit(new Command.SettleLease(change.apply(settlement), nowMs));
  }

  /** Settles with a signal: {@code remaining} of the quota's one dimension, sent so long ago. */
  List<Event> settle(
      String leaseId,
      Outcome outcome,
      Long input,
      Long output,
      Dimension d,
      Reading reading,
      long ageMs,
      Long msSinceSend) {
    Kind kind = outcome == Outcome.RATE_LIMITED ? Kind.RATE_LIMITED : Kind.OK;
    Signal signal =
        new Signal(
            kind == Kind.OK ? 200 : 429,
            kind,
            null,
            null,
            ageMs,
            msSinceSend,
            reading == null ? Map.of() : Map.of(d, reading));
    return settle(
        leaseId,
        "a1",
        outcome,
        input,
        output,
        s ->
            new Settlement(
                s.leaseId(), null, s.agentId(), s.quotaId(), outcome, s.usage(), false, signal));
  }

  QuotaSnapshot show() {
    return engine.show(QUOTA, nowMs);
  }

  /** Lets time pass through every deadline; what happened meanwhile. */
  List<Event> sleep(long ms) {
    int from = journal.size();
    long untilMs = nowMs + ms;
    runTicks(untilMs);
    nowMs = untilMs;
    return journal.subList(from, journal.size()).stream()
        .flatMap(handled -> handled.events().stream())
        .toList();
  }

  long level(Dimension dimension) {
    return engine.show(QUOTA, nowMs).levels().get(dimension);
  }

  private void runTicks(long untilMs) {
    while (engine.nextDeadlineMs() <= untilMs) {
      long at = Math.max(nowMs, engine.nextDeadlineMs());
      nowMs = at;
      handle(new Command.Tick());
    }
  }

  private List<Event> handle(Command command) {
    Handled handled = engine.handle(KEY, command, nowMs);
    journal.add(handled);
    if (!restoring) {
      return handled.events();
    }
    AdmissionEngine restored = new AdmissionEngine();
    restored.restore(KEY, engine.rows(KEY));
    if (!restored.rows(KEY).equals(engine.rows(KEY))
        || restored.nextDeadlineMs() != engine.nextDeadlineMs()) {
      throw new AssertionError("Rows do not restore the state after " + command);
    }
    return handled.events();
  }

  public static <T extends Event> T only(List<Event> events, Class<T> type) {
    List<T> found = events.stream().filter(type::isInstance).map(type::cast).toList();
    if (found.size() != 1) {
      throw new AssertionError(
          "Expected one " + type.getSimpleName() + ", but found " + found + " in " + events);
    }
    return found.get(0);
  }

  static Settlement cancel(String requestId, String agent) {
    return new Settlement(null, requestId, agent, QUOTA, Outcome.CANCELLED, null, false, null);
  }
}
