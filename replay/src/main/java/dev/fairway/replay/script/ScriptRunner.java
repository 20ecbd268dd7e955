package dev.fairway.replay.script;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.EngineException;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.InvalidCommandException;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.mapping.CommandMapper;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Runs a script through the engine in virtual time, line by line. Between two lines, time stops at
 * every deadline of the engine on its way. Not thread-safe.
 */
public final class ScriptRunner {
  /** Salt of the lease ids of every script, so that a script gives the same lines each time. */
  static final String SALT = "0123456789abcdef0123456789abcdef";

  /**
   * The engine is given a lease id in any case. This one stands for no lease, is ignored as an
   * unknown one, and is shown as null.
   */
  private static final String NO_LEASE = "none";

  /**
   * How many ticks in a row may change nothing while time is to come to an end: a quota without
   * traffic needs one for each step of its margin.
   */
  private static final int IDLE_TICKS_MAX = 100_000;

  /** How many ticks may fall on one millisecond before they count as a loop. */
  private static final int TICKS_PER_MS_MAX = 100_000;

  /** How far time runs after the last line: longer than any lease or promised wait. */
  private static final long AFTER_LAST_LINE_MS_MAX = 31L * 24 * 3_600_000;

  /** What becomes of the results, in order. */
  public interface Output {
    /** A command was handled, of a line or of a tick. */
    void handled(Handled handled) throws IOException;

    /** A line asked for this; {@code snapshot} is null if there is no such quota. */
    void shown(long atMs, QuotaSnapshot snapshot) throws IOException;

    /** A line did not mean what it says; the text is for people. */
    default void noted(long lineNumber, String text) {}
  }

  private final AdmissionEngine engine = new AdmissionEngine();
  private final ScriptLeases leases = new ScriptLeases();
  private final ScriptReader script;
  private final Output output;
  private long nowMs;

  /** A runner of that script with a fresh engine. */
  public ScriptRunner(ScriptReader script, Output output) {
    this.script = script;
    this.output = output;
  }

  /** Virtual time. */
  public long nowMs() {
    return nowMs;
  }

  /**
   * Takes the next line: lets time pass until the line's, then does what it says. A line in the
   * past happens now.
   *
   * @return false if there is no further line
   * @throws ScriptException if it is no line of a script, or the engine can do nothing with it
   * @throws EngineException if the engine cannot go on; the runner is of no use then
   * @throws IOException if the script cannot be read, or the output throws it
   */
  public boolean step() throws IOException {
    ScriptLine line = script.next();
    if (line == null) {
      return false;
    }
    accept(line);
    return true;
  }

  private void accept(ScriptLine line) throws IOException {
    if (line.atMs() < nowMs) {
      output.noted(
          line.lineNumber(),
          "at_ms " + line.atMs() + " lies before " + nowMs + ", so it happens at " + nowMs);
    }
    advanceTo(line.atMs());
    if (line instanceof ScriptLine.Show show) {
      QuotaSnapshot snapshot = engine.show(show.quotaId(), nowMs);
      if (snapshot == null) {
        output.noted(line.lineNumber(), noSuchQuota(show.quotaId()));
      }
      output.shown(nowMs, snapshot);
      return;
    }
    try {
      command(line);
    } catch (InvalidCommandException e) {
      throw new ScriptException(line.lineNumber(), e.getMessage(), e);
    }
  }

  private String noSuchQuota(String quotaId) {
    List<String> defined =
        engine.keys().stream().flatMap(key -> engine.quotaIds(key).stream()).sorted().toList();
    return "expected a quota that is defined to show, but there is no '"
        + quotaId
        + "'; "
        + (defined.isEmpty() ? "none is defined here" : "defined here are " + defined);
  }

  private void command(ScriptLine line) throws IOException {
    if (line instanceof ScriptLine.DefineQuota define) {
      handle(define.quota().getId(), CommandMapper.toCommand(define.quota(), SALT));
    } else if (line instanceof ScriptLine.RequestLease request) {
      handle(request.request().getQuota(), CommandMapper.toCommand(request.request(), nowMs));
    } else if (line instanceof ScriptLine.Settle settle) {
      Settlement settlement = settlement(settle);
      if (settlement.getRequeue() && settlement.getOutcome() != Outcome.RATE_LIMITED) {
        output.noted(
            line.lineNumber(),
            "requeue changes nothing with "
                + settlement.getOutcome()
                + ", only with RATE_LIMITED; a request of a new id with retry_of asks again");
      }
      Handled handled = engineHandles(settle.quotaId(), CommandMapper.toCommand(settlement, nowMs));
      boolean madeUp = settle.leaseId() == null && NO_LEASE.equals(settlement.getLeaseId());
      output.handled(madeUp ? withoutLease(handled) : handled);
    } else if (line instanceof ScriptLine.UpdateTask task) {
      handle(task.update().getQuota(), CommandMapper.toCommand(task.update()));
    }
  }

  /**
   * Lets time pass until nobody waits and no lease is open.
   *
   * @return empty, or why that never comes
   * @throws EngineException if the engine cannot go on
   * @throws IOException if the output throws it
   */
  public Optional<String> finish() throws IOException {
    long endMs = nowMs + AFTER_LAST_LINE_MS_MAX;
    int idleTicks = 0;
    String busy = busyQuota();
    while (busy != null) {
      long deadlineMs = engine.nextDeadlineMs();
      if (deadlineMs > endMs || idleTicks > IDLE_TICKS_MAX) {
        return Optional.of(stillBusy(busy, deadlineMs));
      }
      nowMs = Math.max(nowMs, deadlineMs);
      idleTicks = tick() ? 0 : idleTicks + 1;
      busy = busyQuota();
    }
    return Optional.empty();
  }

  private void advanceTo(long atMs) throws IOException {
    int ticks = 0;
    while (engine.nextDeadlineMs() <= Math.max(nowMs, atMs)) {
      long dueMs = Math.max(nowMs, engine.nextDeadlineMs());
      ticks = dueMs == nowMs ? ticks + 1 : 0;
      if (ticks > TICKS_PER_MS_MAX) {
        throw new EngineException(
            "Expected time to pass " + nowMs + " ms, but a tick is still due after " + ticks, null);
      }
      nowMs = dueMs;
      tick();
    }
    nowMs = Math.max(nowMs, atMs);
  }

  /** Whether anything happened. */
  private boolean tick() throws IOException {
    boolean changed = false;
    for (String key : engine.keysDue(nowMs)) {
      changed |= handle(key, new Command.Tick());
    }
    return changed;
  }

  private boolean handle(String quotaId, Command command) throws IOException {
    Handled handled = engineHandles(quotaId, command);
    output.handled(handled);
    return !handled.events().isEmpty();
  }

  private Handled engineHandles(String quotaId, Command command) {
    Handled handled = engine.handle(QuotaDefinition.keyOf(quotaId), command, nowMs);
    for (Event event : handled.events()) {
      leases.apply(event);
    }
    return handled;
  }

  /** What was ignored names no lease that the script did not name. */
  private static Handled withoutLease(Handled handled) {
    List<Event> events =
        handled.events().stream()
            .map(
                event ->
                    event instanceof Event.SettlementIgnored e
                        ? new Event.SettlementIgnored(
                            e.quotaId(), e.requestId(), e.agentId(), null, e.reason())
                        : event)
            .toList();
    return new Handled(
        handled.key(),
        handled.sequence(),
        handled.epoch(),
        handled.atMs(),
        events,
        handled.changedRows());
  }

  private Settlement settlement(ScriptLine.Settle settle) throws IOException {
    ScriptLeases.Named named =
        settle.requestId() == null
            ? null
            : leases.find(settle.quotaId(), settle.requestId(), settle.agentId());
    String leaseId = settle.leaseId();
    if (leaseId == null && needsLease(settle)) {
      leaseId = named == null || named.leaseId() == null ? NO_LEASE : named.leaseId();
    }
    return Settlement.newBuilder()
        .setLeaseId(leaseId)
        .setRequestId(settle.requestId())
        .setAgentId(agentOf(settle, named))
        .setQuota(settle.quotaId())
        .setOutcome(settle.outcome())
        .setUsage(settle.usage())
        .setRequeue(settle.requeue())
        .setSignal(settle.signal())
        .build();
  }

  /**
   * The agent that settles: the one of the line, else the one of the request that it names. Where
   * the request itself counts, not its lease, that may be one of a later line: a cancel may
   * overtake its request.
   */
  private String agentOf(ScriptLine.Settle settle, ScriptLeases.Named named) throws IOException {
    String agentId = settle.agentId();
    if (agentId == null && named != null) {
      agentId = named.agentId();
    }
    if (agentId == null && !needsLease(settle) && settle.requestId() != null) {
      agentId = script.agentOfLater(settle.quotaId(), settle.requestId());
    }
    return agentId == null ? ScriptLineJson.DEFAULT_AGENT : agentId;
  }

  private static boolean needsLease(ScriptLine.Settle settle) {
    switch (settle.outcome()) {
      case CANCELLED:
      case UNLEASED:
        return false;
      default:
        return true;
    }
  }

  /** A quota with waiting requests or open leases, or null if there is none. */
  private String busyQuota() {
    for (String key : engine.keys()) {
      for (String quotaId : engine.quotaIds(key)) {
        QuotaSnapshot snapshot = engine.show(quotaId, nowMs);
        if (snapshot.waiting() > 0 || snapshot.openLeases() > 0) {
          return quotaId;
        }
      }
    }
    return null;
  }

  private String stillBusy(String quotaId, long nextMs) {
    QuotaSnapshot snapshot = engine.show(quotaId, nowMs);
    return "expected that nobody waits and no lease is open at the end, but at "
        + nowMs
        + " ms quota "
        + quotaId
        + " has "
        + snapshot.waiting()
        + " waiting and "
        + snapshot.openLeases()
        + " open leases"
        + (nextMs != Long.MAX_VALUE && nextMs > nowMs
            ? "; the run stops "
                + AFTER_LAST_LINE_MS_MAX
                + " ms after its last line, and something would happen at "
                + nextMs
                + " only; add a later line to go on"
            : " that no passing of time ends (state "
                + snapshot.definition().state()
                + (snapshot.holdReason() == null ? "" : ", held: " + snapshot.holdReason())
                + "); define the quota as ACTIVE again, or raise its clear_count, in a later"
                + " line");
  }
}
