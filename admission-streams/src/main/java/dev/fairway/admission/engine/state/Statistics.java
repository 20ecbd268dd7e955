package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.learn.CallSample;
import dev.fairway.admission.engine.learn.ErrorTrend;
import dev.fairway.admission.engine.learn.RoleStats;
import dev.fairway.admission.engine.state.Row.AgentRow;
import dev.fairway.admission.engine.state.Row.OutputsRow;
import dev.fairway.admission.engine.state.Row.RoleRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is learned of the calls of a quota: per role, of all roles together (the pool, named ""),
 * and how far each agent's estimates lie off. Everybody may read it; only this package changes it.
 * Bounded: a role beyond {@value #MAX_ROLES} is learned in the pool alone, of agents the one unused
 * for longest goes, and what is unused for a day is forgotten.
 */
public final class Statistics {
  /** Roles learned by themselves. */
  static final int MAX_ROLES = 200;

  /** Agents whose estimates are followed. */
  static final int MAX_AGENTS = 1_000;

  static final long FORGET_MS = 24L * 3_600_000;
  static final String POOL = "";
  private static final String ROLE = "role:";
  private static final String AGENT = "agent:";

  /** Fewer calls than these say nothing. */
  private static final int FEW = 4;

  private static final int OUTPUT_PERCENTILE = 75;
  private static final double POOL_FACTOR = 1.5;

  private final Map<String, RoleStats> roles = new HashMap<>();
  private final Map<String, OutputRing> outputs = new HashMap<>();
  private final Map<String, AgentRow> agents = new HashMap<>();
  private final DueIndex roleUse = new DueIndex();
  private final DueIndex agentUse = new DueIndex();
  private final Suspects suspects = new Suspects();

  Statistics() {}

  // ---- what is learned

  /** What is learned of a role, or null if nothing is. */
  public RoleStats role(String role) {
    return roles.get(role);
  }

  /** What is learned of all roles together. */
  public RoleStats pool() {
    RoleStats pool = roles.get(POOL);
    return pool == null ? RoleStats.fresh(0) : pool;
  }

  /**
   * Standard deviation of what a call of that role really takes, as a share of its charge. A role
   * of its own lifts it by half at most, and lowers it never.
   */
  public double sigma(String role) {
    double pool = pool().sigma();
    RoleStats own = roles.get(role);
    return own == null ? pool : Math.max(pool, Math.min(own.sigma(), POOL_FACTOR * pool));
  }

  /** What an estimate of that role is multiplied by. */
  public double correction(String role) {
    RoleStats own = roles.get(role);
    return own == null ? 1 : own.correction();
  }

  /** Mean input of a call of that role, or null while it is unknown. */
  public Double meanInput(String role) {
    RoleStats own = roles.get(role);
    return own == null || own.calls() < FEW ? null : (Double) own.meanInput();
  }

  /** Mean input of a call of the quota; 0 while it is unknown. */
  public double meanInput() {
    return pool().meanInput();
  }

  /** Mean calls of a task of that role, or null while it is unknown. */
  public Double callsPerTask(String role) {
    RoleStats own = roles.get(role);
    return own == null || own.tasks() == 0 ? null : (Double) own.callsPerTask();
  }

  /** Output that three of four calls of that role do not exceed, or null while it is unknown. */
  public Long outputP75(String role) {
    OutputRing ring = outputs.get(role);
    return ring == null || ring.count() < FEW
        ? outputP75()
        : (Long) ring.percentile(OUTPUT_PERCENTILE);
  }

  /** The same of calls of any role. */
  public Long outputP75() {
    OutputRing ring = outputs.get(POOL);
    return ring == null || ring.count() < FEW ? null : (Long) ring.percentile(OUTPUT_PERCENTILE);
  }

  /** 90th percentile of wait / ETA of that role, or null while it is unknown. */
  public Double etaP90Factor(String role) {
    RoleStats own = roles.get(role);
    return own == null ? null : own.etaP90Factor();
  }

  /** How far the estimates of a role lie off. */
  public ErrorTrend estimatesOfRole(String role) {
    RoleStats own = roles.get(role);
    return own == null ? ErrorTrend.NONE : own.estimates();
  }

  /** How far the estimates of an agent lie off. */
  public ErrorTrend estimatesOfAgent(String agentId) {
    AgentRow own = agents.get(agentId);
    return own == null ? ErrorTrend.NONE : own.estimates();
  }

  /** Whether an agent's word for what it has cached is taken: no call has shown it wrong. */
  public boolean believesCache(String agentId) {
    AgentRow own = agents.get(agentId);
    return own == null || !own.cacheUnread();
  }

  /**
   * Somebody whose estimates there is something to say about.
   *
   * @param subject {@code role:} or {@code agent:} and its name
   * @param estimates how far off they lie
   * @param raised whether there is an alert about it
   * @param dueMs when to say it
   */
  public record Suspect(String subject, ErrorTrend estimates, boolean raised, long dueMs) {}

  /** Who is next, or null. */
  public Suspect nextSuspect() {
    String subject = suspects.first();
    return subject == null
        ? null
        : new Suspect(
            subject, estimatesOf(subject), suspects.isRaised(subject), suspects.firstMs());
  }

  private ErrorTrend estimatesOf(String subject) {
    return subject.startsWith(ROLE)
        ? estimatesOfRole(subject.substring(ROLE.length()))
        : estimatesOfAgent(subject.substring(AGENT.length()));
  }

  // ---- learning, by events

  /** An alert about somebody's estimates was raised or cleared. */
  void alerted(KeyState key, String quotaId, String subject, boolean raised) {
    boolean above = estimatesOf(subject).aboveSinceMs() != null;
    suspects.alerted(subject, raised);
    if (!raised && above) {
      // Nothing was heard for so long that what was known is of no use.
      forgive(key, quotaId, subject);
    }
    updateSuspect(subject);
  }

  private void forgive(KeyState key, String quotaId, String subject) {
    if (subject.startsWith(ROLE)) {
      String role = subject.substring(ROLE.length());
      put(key, quotaId, role, roles.get(role).forgiven());
    } else {
      AgentRow old = agents.get(subject.substring(AGENT.length()));
      putAgent(
          key,
          new AgentRow(
              quotaId, old.agentId(), ErrorTrend.NONE, old.cacheUnread(), old.touchedAtMs()));
    }
  }

  private void updateSuspect(String subject) {
    if (subject.startsWith(ROLE)) {
      RoleStats stats = roles.get(subject.substring(ROLE.length()));
      suspects.update(
          subject,
          stats == null ? null : stats.estimates(),
          stats == null ? 0 : stats.touchedAtMs());
    } else {
      AgentRow row = agents.get(subject.substring(AGENT.length()));
      suspects.update(
          subject, row == null ? null : row.estimates(), row == null ? 0 : row.touchedAtMs());
    }
  }

  void learn(KeyState key, String quotaId, String role, String agentId, CallSample sample) {
    learn(key, quotaId, POOL, sample, RoleStats.POOL_SHARE);
    if (hasRoom(role)) {
      learn(key, quotaId, role, sample, RoleStats.ROLE_SHARE);
    }
    if (sample.estimateError() != null) {
      ErrorTrend trend = estimatesOfAgent(agentId).with(sample.estimateError(), key.nowMs);
      boolean unread = !believesCache(agentId);
      putAgent(key, new AgentRow(quotaId, agentId, trend, unread, key.nowMs));
    }
  }

  void learnCache(KeyState key, String quotaId, String agentId, boolean believed) {
    ErrorTrend trend = estimatesOfAgent(agentId);
    putAgent(key, new AgentRow(quotaId, agentId, trend, !believed, key.nowMs));
  }

  private void putAgent(KeyState key, AgentRow row) {
    indexAgent(row);
    key.changes.put(row);
    if (agents.size() > MAX_AGENTS) {
      forgetAgent(key, row.quotaId(), agentUse.firstName());
    }
  }

  private void learn(KeyState key, String quotaId, String role, CallSample sample, double share) {
    RoleStats old = roles.get(role);
    RoleStats next =
        (old == null ? RoleStats.fresh(key.nowMs) : old).with(sample, share, key.nowMs);
    if (sample.output() != null) {
      OutputRing ring = outputs.computeIfAbsent(role, name -> new OutputRing());
      ring.add(sample.output());
      if (ring.filledChunk() >= 0) {
        key.changes.put(outputsRow(quotaId, role, ring, ring.filledChunk()));
      }
    }
    put(key, quotaId, role, next);
  }

  void learnTask(KeyState key, String quotaId, String role, int calls) {
    if (hasRoom(role)) {
      RoleStats old = roles.get(role);
      RoleStats known = old == null ? RoleStats.fresh(key.nowMs) : old;
      put(key, quotaId, role, known.withTask(calls, key.nowMs));
    }
  }

  void learnWait(KeyState key, String quotaId, String role, long etaMs, long waitedMs) {
    if (hasRoom(role)) {
      RoleStats old = roles.get(role);
      RoleStats known = old == null ? RoleStats.fresh(key.nowMs) : old;
      put(key, quotaId, role, known.withWait(etaMs, waitedMs, key.nowMs));
    }
  }

  /** Forgets what is unused for a day. */
  void forget(KeyState key, String quotaId) {
    while (roleUse.firstMs() <= key.nowMs - FORGET_MS) {
      String role = roleUse.firstName();
      roleUse.remove(roleUse.firstMs(), role);
      delete(key, quotaId, role);
      roles.remove(role);
      outputs.remove(role);
      updateSuspect(ROLE + role);
    }
    while (agentUse.firstMs() <= key.nowMs - FORGET_MS) {
      forgetAgent(key, quotaId, agentUse.firstName());
    }
  }

  /** The quota is gone, and with it what was learned. */
  void deleteRows(KeyState key, String quotaId) {
    new TreeMap<>(roles).keySet().forEach(role -> delete(key, quotaId, role));
    new TreeMap<>(agents).values().forEach(row -> key.changes.delete(row.id()));
  }

  private void delete(KeyState key, String quotaId, String role) {
    key.changes.delete(roleRow(quotaId, role).id());
    OutputRing ring = outputs.get(role);
    for (int chunk = 0; ring != null && chunk < OutputRing.SIZE / OutputRing.CHUNK; chunk++) {
      if (ring.hasChunk(chunk)) {
        key.changes.delete(outputsRow(quotaId, role, ring, chunk).id());
      }
    }
  }

  private void forgetAgent(KeyState key, String quotaId, String agentId) {
    AgentRow row = agents.remove(agentId);
    agentUse.remove(row.touchedAtMs(), agentId);
    key.changes.delete(row.id());
    updateSuspect(AGENT + agentId);
  }

  private boolean hasRoom(String role) {
    // The pool is one of the entries and no role.
    return roles.containsKey(role) || roles.size() <= MAX_ROLES;
  }

  private void put(KeyState key, String quotaId, String role, RoleStats stats) {
    index(role, stats);
    key.changes.put(roleRow(quotaId, role));
  }

  // ---- rows

  private void index(String role, RoleStats stats) {
    RoleStats old = roles.put(role, stats);
    if (old != null) {
      roleUse.remove(old.touchedAtMs(), role);
    }
    roleUse.add(stats.touchedAtMs(), role);
    if (!role.equals(POOL)) {
      updateSuspect(ROLE + role);
    }
  }

  private void indexAgent(AgentRow row) {
    AgentRow old = agents.put(row.agentId(), row);
    if (old != null) {
      agentUse.remove(old.touchedAtMs(), row.agentId());
    }
    agentUse.add(row.touchedAtMs(), row.agentId());
    updateSuspect(AGENT + row.agentId());
  }

  void load(OutputsRow row) {
    outputs
        .computeIfAbsent(row.role(), name -> new OutputRing())
        .loadChunk(row.chunk(), row.outputs());
  }

  /** After its outputs. */
  void load(RoleRow row) {
    index(row.role(), row.stats());
    if (row.outputs() > 0) {
      outputs
          .computeIfAbsent(row.role(), name -> new OutputRing())
          .load(row.outputs(), row.recentOutputs());
    }
  }

  void load(AgentRow row) {
    indexAgent(row);
  }

  /** After what is learned: an alert about somebody's estimates that is raised. */
  void loadAlert(String subject) {
    suspects.alerted(subject, true);
    updateSuspect(subject);
  }

  List<Row> rows(String quotaId) {
    List<Row> rows = new ArrayList<>();
    for (String role : roles.keySet()) {
      rows.add(roleRow(quotaId, role));
    }
    outputs.forEach(
        (role, ring) -> {
          for (int chunk = 0; chunk < OutputRing.SIZE / OutputRing.CHUNK; chunk++) {
            if (ring.hasChunk(chunk)) {
              rows.add(outputsRow(quotaId, role, ring, chunk));
            }
          }
        });
    rows.addAll(agents.values());
    return rows;
  }

  private RoleRow roleRow(String quotaId, String role) {
    OutputRing ring = outputs.get(role);
    return new RoleRow(
        quotaId,
        role,
        roles.get(role),
        ring == null ? 0 : ring.total(),
        ring == null ? List.of() : ring.recent());
  }

  private static OutputsRow outputsRow(String quotaId, String role, OutputRing ring, int chunk) {
    return new OutputsRow(quotaId, role, chunk, ring.chunk(chunk));
  }
}
