package dev.fairway.admission.engine;

import dev.fairway.admission.engine.Command.DefineQuota;
import dev.fairway.admission.engine.Command.RefuseRequest;
import dev.fairway.admission.engine.Command.RemoveQuota;
import dev.fairway.admission.engine.Command.RequestLease;
import dev.fairway.admission.engine.Command.SettleLease;
import dev.fairway.admission.engine.Command.UpdateTask;
import dev.fairway.admission.engine.Event.QuotaDefined;
import dev.fairway.admission.engine.Event.QuotaReleased;
import dev.fairway.admission.engine.Event.QuotaRemoved;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.capacity.SafeShares;
import dev.fairway.admission.engine.lease.RequestHandler;
import dev.fairway.admission.engine.lease.SettlementHandler;
import dev.fairway.admission.engine.queue.Drain;
import dev.fairway.admission.engine.queue.Eta;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.RowLoader;
import dev.fairway.admission.engine.state.Transaction;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The pure, deterministic state machine that decides for every key of one partition.
 *
 * <p>Handling the same commands at the same times gives the same events and the same rows. Nothing
 * in here reads a clock, draws a random number, logs or does I/O. Not thread-safe: the owner of the
 * partition is its single caller.
 */
public final class AdmissionEngine {
  /** Written into every journal record; raised whenever a decision can differ. */
  public static final String VERSION = "1";

  /** Most keys of one engine; a definition of one more is refused. */
  public static final int MAX_KEYS = 100_000;

  /**
   * Beyond so many keys only a definition makes a new one: requests for keys that nobody defined
   * must not take the room of keys that somebody will.
   */
  static final int MAX_KEYS_WITHOUT_DEFINITION = MAX_KEYS / 2;

  /** Most quotas of one key; a definition of one more is refused. */
  public static final int MAX_QUOTAS_PER_KEY = 1_000;

  private final Map<String, KeyState> keys = new HashMap<>();
  private final Map<String, Long> dueByKey = new HashMap<>();
  private final TreeMap<Long, TreeSet<String>> keysByDue = new TreeMap<>();

  /**
   * Handles one command.
   *
   * @param key key the command belongs to; created by its first command
   * @param nowMs time, epoch milliseconds; a time before the key's last one counts as that one
   * @throws InvalidCommandException if nothing can be done with the command and nobody can be told;
   *     state is as it was
   * @throws EngineException if the engine cannot go on. State may then be half changed: discard the
   *     engine and restore it from its rows
   */
  public Handled handle(String key, Command command, long nowMs) {
    check(key, command);
    KeyState state = keys.computeIfAbsent(key, KeyState::new);
    try {
      Transaction tx = new Transaction(state, nowMs);
      dispatch(tx, command);
      SafeShares.tell(tx);
      Map<Row.RowId, Row> rows = tx.end();
      schedule(state);
      return new Handled(key, state.sequence(), state.epoch(), state.nowMs(), tx.events(), rows);
    } catch (RuntimeException e) {
      throw new EngineException(
          "The engine failed on a "
              + command.getClass().getSimpleName()
              + " of key "
              + key
              + " at "
              + nowMs,
          e);
    }
  }

  private void check(String key, Command command) {
    int most = command instanceof DefineQuota ? MAX_KEYS : MAX_KEYS_WITHOUT_DEFINITION;
    if (keys.size() >= most && !keys.containsKey(key)) {
      throw new InvalidCommandException(
          "Expected at most "
              + most
              + " keys in a partition, and "
              + Grammar.quoted(key)
              + " is one more; define a quota of it, or use more partitions");
    }
    if (command instanceof DefineQuota c) {
      checkDefinition(key, c.definition());
    } else if (command instanceof RemoveQuota c) {
      checkKey(key, c.quotaId());
    } else if (command instanceof RequestLease c) {
      checkAgent(c.request().agentId());
      if (Grammar.isQuotaId(c.request().quotaId())) {
        checkKey(key, c.request().quotaId());
      }
    } else if (command instanceof RefuseRequest c) {
      checkAgent(c.request().agentId());
    } else if (command instanceof SettleLease c) {
      checkSettlement(key, c.settlement());
    } else if (command instanceof UpdateTask c) {
      if (!Grammar.isId(c.update().taskId())) {
        throw new InvalidCommandException(
            Grammar.expectedId("a task_id", 100, c.update().taskId()));
      }
    }
  }

  private void checkDefinition(String key, QuotaDefinition definition) {
    List<String> violations = DefinitionRules.violations(definition);
    if (!violations.isEmpty()) {
      throw new InvalidCommandException(String.join("; ", violations));
    }
    checkKey(key, definition.id());
    KeyState state = keys.get(key);
    if (state != null
        && state.quota(definition.id()) == null
        && state.quotas().size() >= MAX_QUOTAS_PER_KEY) {
      throw new InvalidCommandException(
          "Expected at most "
              + MAX_QUOTAS_PER_KEY
              + " quotas of a key, and '"
              + definition.id()
              + "' is one more");
    }
  }

  private static void checkSettlement(String key, Settlement settlement) {
    checkAgent(settlement.agentId());
    if (settlement.requestId() != null && !Grammar.isRequestId(settlement.requestId())) {
      throw new InvalidCommandException(
          Grammar.expectedId("a request_id", 64, settlement.requestId()));
    }
    checkKey(key, settlement.quotaId());
    SettlementHandler.check(settlement);
  }

  /** Without a sound agent id there is nobody to tell. */
  private static void checkAgent(String agentId) {
    if (!Grammar.isId(agentId)) {
      throw new InvalidCommandException(Grammar.expectedId("an agent_id", 100, agentId));
    }
  }

  private static void checkKey(String key, String quotaId) {
    if (!Grammar.isQuotaId(quotaId) || !QuotaDefinition.keyOf(quotaId).equals(key)) {
      throw new InvalidCommandException(
          "Expected a quota of key '"
              + key
              + "', but found "
              + Grammar.quoted(quotaId)
              + "; the record key must be the part of the quota id before the slash");
    }
  }

  private static void dispatch(Transaction tx, Command command) {
    if (command instanceof RequestLease c) {
      RequestHandler handler = new RequestHandler(tx, c.request(), c.appendedAtMs());
      String violation = RequestRules.violation(c.request(), c.appendedAtMs());
      if (violation != null) {
        handler.invalid(violation);
      } else {
        handler.handle();
      }
    } else if (command instanceof RefuseRequest c) {
      new RequestHandler(tx, c.request(), tx.nowMs()).invalid(c.detail());
    } else if (command instanceof SettleLease c) {
      new SettlementHandler(tx, c.settlement(), c.appendedAtMs()).handle();
    } else if (command instanceof DefineQuota c) {
      define(tx, c);
    } else if (command instanceof RemoveQuota c) {
      QuotaState quota = tx.state().quota(c.quotaId());
      if (quota != null && !quota.removed()) {
        tx.emit(new QuotaRemoved(quota.id()));
      }
    } else if (command instanceof Command.Tick) {
      TickHandler.handle(tx);
    } else if (command instanceof UpdateTask c) {
      TaskHandler.handle(tx, c.update());
    }
  }

  private static void define(Transaction tx, DefineQuota command) {
    QuotaDefinition definition = command.definition();
    QuotaState quota = tx.state().quota(definition.id());
    if (quota == null || quota.removed() || !quota.definition().equals(definition)) {
      boolean unproven = quota != null && quota.breaker().isUnproven();
      boolean cleared = quota != null && definition.clearCount() > quota.definition().clearCount();
      String salt = tx.state().salt() == null ? command.salt() : null;
      tx.emit(new QuotaDefined(definition, salt, QuotaPolicy.notEnforced(definition)));
      QuotaState defined = tx.state().quota(definition.id());
      if (unproven && !defined.breaker().isUnproven()) {
        Ramps.afterBreaker(tx, defined); // Switched off while it kept a backlog back.
      }
      if (cleared) {
        clear(tx, defined);
      }
      Drain.run(tx, defined);
    }
  }

  private static void clear(Transaction tx, QuotaState quota) {
    boolean held = quota.holdReason(tx.nowMs()) != null;
    boolean open = quota.breaker().isUnproven();
    if (held) {
      tx.emit(new QuotaReleased(quota.id()));
    }
    if (held || open) {
      Ramps.cleared(tx, quota);
    }
  }

  /**
   * Loads a key from its rows, in any order, and replaces what was known of it.
   *
   * @throws IllegalArgumentException if the rows are not the whole state of a key
   */
  public void restore(String key, List<Row> rows) {
    KeyState state = RowLoader.load(key, rows);
    keys.put(key, state);
    schedule(state);
  }

  /** Forgets a key, without a trace. */
  public void discard(String key) {
    keys.remove(key);
    unschedule(key);
  }

  /** All rows of a key, ordered by kind, quota and name; empty if the key is unknown. */
  public List<Row> rows(String key) {
    KeyState state = keys.get(key);
    return state == null ? List.of() : RowLoader.rows(state);
  }

  /** Keys known. */
  public Set<String> keys() {
    return Set.copyOf(keys.keySet());
  }

  /**
   * When the next {@link Command.Tick} is due, over all keys, epoch milliseconds; {@link
   * Long#MAX_VALUE} if none is. A caller submits a tick for every key of {@link #keysDue} at or
   * after that time, and before any other command of that time.
   */
  public long nextDeadlineMs() {
    return keysByDue.isEmpty() ? Long.MAX_VALUE : keysByDue.firstKey();
  }

  /** Keys whose tick is due by then, in order of key. */
  public List<String> keysDue(long nowMs) {
    TreeSet<String> due = new TreeSet<>();
    keysByDue.headMap(nowMs, true).values().forEach(due::addAll);
    return List.copyOf(due);
  }

  private void schedule(KeyState state) {
    long due = Long.MAX_VALUE;
    for (QuotaState quota : state.quotas()) {
      due = Math.min(due, TickHandler.dueMs(state, quota, state.nowMs()));
    }
    Long old = dueByKey.get(state.key());
    if (old != null && old == due) {
      return;
    }
    unschedule(state.key());
    if (due != Long.MAX_VALUE) {
      dueByKey.put(state.key(), due);
      keysByDue.computeIfAbsent(due, ms -> new TreeSet<>()).add(state.key());
    }
  }

  private void unschedule(String key) {
    Long due = dueByKey.remove(key);
    if (due != null) {
      TreeSet<String> sameTime = keysByDue.get(due);
      sameTime.remove(key);
      if (sameTime.isEmpty()) {
        keysByDue.remove(due);
      }
    }
  }

  /** What holds for a quota at that time, refill up to then included; null if it is unknown. */
  public QuotaSnapshot show(String quotaId, long nowMs) {
    QuotaState quota = quota(quotaId);
    return quota == null ? null : QuotaSnapshot.of(quota, nowMs);
  }

  /** Quota ids of a key, sorted. */
  public List<String> quotaIds(String key) {
    KeyState state = keys.get(key);
    return state == null ? List.of() : state.quotas().stream().map(QuotaState::id).toList();
  }

  /** Open leases of a quota in order of grant; empty if the quota is unknown. */
  public List<Lease> openLeases(String quotaId) {
    QuotaState quota = quota(quotaId);
    return quota == null
        ? List.of()
        : quota.leases().stream()
            .filter(lease -> lease.status() == Lease.Status.OPEN)
            .sorted(Comparator.comparing(Lease::grantedAtMs).thenComparing(Lease::leaseId))
            .toList();
  }

  /**
   * Waiting requests of a quota in the order in which they will be served, at most {@code limit}.
   */
  public List<Waiter> waiting(String quotaId, int limit) {
    QuotaState quota = quota(quotaId);
    List<Waiter> waiting = new ArrayList<>();
    if (quota != null && limit > 0) {
      quota
          .order()
          .forEach(
              (waiter, ahead) -> {
                waiting.add(waiter);
                return waiting.size() < limit;
              });
    }
    return List.copyOf(waiting);
  }

  /**
   * The first waiting requests of a quota in the order in which they will be served, each with what
   * it waits for at that time; empty if the quota is unknown.
   */
  public List<Placed> line(String quotaId, int limit, long nowMs) {
    QuotaState quota = quota(quotaId);
    List<Placed> line = new ArrayList<>();
    if (quota != null && limit > 0) {
      Eta.Review etas = new Eta.Review(keys.get(QuotaDefinition.keyOf(quotaId)), quota, nowMs);
      quota
          .order()
          .forEach(
              (waiter, ahead) -> {
                WaitsFor waitsFor = etas.waitsFor(waiter, etas.until(waiter, ahead));
                line.add(new Placed(line.size() + 1, waiter, waitsFor));
                return line.size() < limit;
              });
    }
    return List.copyOf(line);
  }

  /**
   * A request in line.
   *
   * @param position its place, from 1
   * @param waitsFor what it waits for, or null where nothing can be named
   */
  public record Placed(int position, Waiter waiter, WaitsFor waitsFor) {}

  private QuotaState quota(String quotaId) {
    KeyState state = keys.get(QuotaDefinition.keyOf(quotaId));
    return state == null ? null : state.quota(quotaId);
  }
}
