package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.alert.Traffic;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.state.Row.KeyRow;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import dev.fairway.admission.engine.state.Row.RetriesRow;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.engine.state.Row.TaskNode;
import dev.fairway.admission.engine.state.Row.TaskRow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Whole state of one key. Everybody may read it; only this package changes it, by applying events
 * and by loading rows.
 */
public final class KeyState {
  /** Most requests remembered after their end; beyond it the oldest is forgotten early. */
  static final int MAX_REMEMBERED = 200_000;

  /** Most tasks counted; beyond it the one unused for longest is forgotten. */
  static final int MAX_TASKS = 100_000;

  /** How long a request is remembered after its end. */
  public static final long REMEMBER_MS = 600_000;

  /** The hour in which retries of an agent without a task id are counted. */
  public static final long RETRY_MS = 3_600_000;

  /** Most retries noted of an agent; a larger budget is not told apart from this one. */
  public static final int MAX_RETRIES_NOTED = 100;

  /** Successful calls of an agent, as large as it, that take one of these retries off. */
  static final int SUCCESSES_PER_RETRY = 3;

  /** Most failed calls of an agent of which a request is taken for the retry. */
  private static final int MAX_UNCLAIMED = 16;

  static final TreeSet<String> NOBODY = new TreeSet<>();

  /** How long a task's count lives without use. */
  static final long TASK_MS = 24L * 3_600_000;

  final String key;
  final TreeMap<String, QuotaState> quotas = new TreeMap<>();
  final Map<String, Waiter> waiters = new HashMap<>();
  final Map<String, String> leaseOfRequest = new HashMap<>();
  final Map<String, RememberedRow> remembered = new HashMap<>();
  final Map<String, String> rememberedLeases = new HashMap<>();
  final DueIndex forgets = new DueIndex();
  final Map<String, TaskRow> tasks = new HashMap<>();
  final TaskGraph graph = new TaskGraph(tasks);
  final DueIndex taskUse = new DueIndex();
  final Map<String, TreeSet<String>> waitersOfTask = new HashMap<>();
  final Map<String, RetriesRow> retries = new HashMap<>();
  final DueIndex retryUse = new DueIndex();
  final UnclaimedFailures unclaimed = new UnclaimedFailures();
  final Map<String, TreeSet<String>> takers = new HashMap<>();
  final RowChanges changes = new RowChanges();
  final Set<String> touched = new TreeSet<>();

  long sequence;
  long nowMs;
  int epoch = 1;
  String salt;

  /** A key without any quota, before its first command. */
  public KeyState(String key) {
    this.key = key;
  }

  /** The key; never null. */
  public String key() {
    return key;
  }

  /** Sequence of the last command handled. */
  public long sequence() {
    return sequence;
  }

  /** Ownership epoch, from 1; written into every record. */
  public int epoch() {
    return epoch;
  }

  /** Time of the last command handled. */
  public long nowMs() {
    return nowMs;
  }

  /** Salt of lease ids, or null before the first quota. */
  public String salt() {
    return salt;
  }

  /** The quota, also while it is being removed, or null. */
  public QuotaState quota(String quotaId) {
    return quotas.get(quotaId);
  }

  /** Quotas in order of id. */
  public Collection<QuotaState> quotas() {
    return quotas.values();
  }

  /** The waiting request of that {@link Identity#ofRequest identity}, or null. */
  public Waiter waiter(String identity) {
    return waiters.get(identity);
  }

  /** Id of the open lease of that request identity, or null. */
  public String openLeaseOf(String identity) {
    return leaseOfRequest.get(identity);
  }

  /** How the request of that identity ended, or null if it did not, or is forgotten. */
  public RememberedRow remembered(String identity) {
    return remembered.get(identity);
  }

  /** How the request of that lease ended, or null. */
  public RememberedRow rememberedByLease(String leaseId) {
    String identity = rememberedLeases.get(leaseId);
    return identity == null ? null : remembered.get(identity);
  }

  /** Calls of a task, granted or waiting. */
  public int callsOf(String taskId) {
    TaskRow task = tasks.get(taskId);
    return task == null ? 0 : task.calls();
  }

  /** Retries of a task, granted or waiting. */
  public int retriesOf(String taskId) {
    TaskRow task = tasks.get(taskId);
    return task == null ? 0 : task.retries();
  }

  /**
   * When an agent retried without a task id in the hour up to now, oldest first; without those that
   * its successful calls have taken off since.
   */
  public List<Long> retriesOfAgent(String agentId) {
    RetriesRow row = retries.get(agentId);
    return row == null
        ? List.of()
        : row.atMs().stream().filter(atMs -> atMs > nowMs - RETRY_MS).toList();
  }

  /** Which tasks wait for which. */
  public TaskGraph graph() {
    return graph;
  }

  /** Identities of the requests of a task that wait, in order of identity. */
  public Set<String> waitersOf(String taskId) {
    return waitersOfTask.getOrDefault(taskId, NOBODY);
  }

  /** Failed calls of an agent that no request has retried, the latest first; a few at most. */
  public List<RememberedRow> unclaimedFailures(String agentId) {
    return unclaimed.latest(agentId, MAX_UNCLAIMED).stream().map(remembered::get).toList();
  }

  /** Those of one of its tasks, by whose budget they count, however many others there are. */
  public List<RememberedRow> unclaimedFailures(String agentId, String taskId) {
    return unclaimed.latestOfTask(agentId, taskId, MAX_UNCLAIMED).stream()
        .map(remembered::get)
        .toList();
  }

  /** How many failed calls of an agent no request has retried. */
  public int unclaimedCount(String agentId) {
    return unclaimed.count(agentId);
  }

  /** The oldest of them, or null. */
  public RememberedRow oldestUnclaimed(String agentId) {
    String identity = unclaimed.oldest(agentId);
    return identity == null ? null : remembered.get(identity);
  }

  /** The quotas that a lease of this one takes from too; null where one is not defined. */
  public List<QuotaState> alsoOf(QuotaState quota) {
    List<String> names = quota.policy.order().also();
    if (names.isEmpty()) {
      return List.of();
    }
    List<QuotaState> also = new ArrayList<>(names.size());
    for (String name : names) {
      QuotaState other = quotas.get(name);
      if (other == null || other.removed) {
        return null;
      }
      also.add(other);
    }
    return also;
  }

  /**
   * Those of them that are known, be one removed by now: what a call costs goes by the limits that
   * it was granted at.
   */
  List<QuotaState> knownAlsoOf(QuotaState quota) {
    return quota.policy.order().also().stream().map(quotas::get).filter(Objects::nonNull).toList();
  }

  /**
   * Quotas that are drained together with this one, itself included, in order of id: those that
   * take from the same quotas, directly or through others.
   */
  public Collection<QuotaState> sharing(QuotaState quota) {
    if (!quota.inSharedOrder()) {
      return List.of(quota);
    }
    TreeMap<String, QuotaState> group = new TreeMap<>();
    Deque<String> next = new ArrayDeque<>(List.of(quota.id()));
    while (!next.isEmpty()) {
      QuotaState member = quotas.get(next.poll());
      if (member != null && group.put(member.id(), member) == null) {
        next.addAll(member.policy.order().also());
        next.addAll(takers.getOrDefault(member.id(), NOBODY));
      }
    }
    return group.values();
  }

  /** Whether any quota takes from this one too. */
  boolean isTakenFrom(QuotaState quota) {
    return takers.containsKey(quota.id());
  }

  /** Quotas that take from this one too, in order of id. */
  List<QuotaState> takersOf(QuotaState quota) {
    TreeSet<String> ids = takers.get(quota.id());
    return ids == null ? List.of() : ids.stream().map(quotas::get).toList();
  }

  static String identityOf(Waiter waiter) {
    return Identity.ofRequest(waiter.request().agentId(), waiter.request().requestId());
  }

  static String identityOf(Lease lease) {
    return Identity.ofRequest(lease.request().agentId(), lease.request().requestId());
  }

  KeyRow keyRow() {
    return new KeyRow(key, sequence, nowMs, epoch, salt);
  }

  /** Starts a command: time moves, and what is past its time is forgotten. */
  void begin(long atMs) {
    nowMs = Math.max(nowMs, atMs);
    sequence++;
    while (forgets.firstMs() <= nowMs || forgets.size() > MAX_REMEMBERED) {
      forget(forgets.firstName());
    }
    while (taskUse.firstMs() <= nowMs - TASK_MS || taskUse.size() > MAX_TASKS) {
      TaskRow task = tasks.remove(taskUse.firstName());
      graph.unlink(task.taskId(), task.node());
      taskUse.remove(task.touchedAtMs(), task.taskId());
      changes.delete(task.id());
    }
    while (retryUse.firstMs() <= nowMs - RETRY_MS || retryUse.size() > MAX_TASKS) {
      RetriesRow row = retries.remove(retryUse.firstName());
      retryUse.remove(last(row), row.agentId());
      changes.delete(row.id());
    }
    for (QuotaState quota : quotas.values()) {
      ShareApplier.sweep(this, quota);
      while (quota.sweeps.firstMs() <= nowMs) {
        Lease lease = quota.leases.remove(quota.sweeps.firstName());
        quota.sweeps.remove(quota.sweeps.firstMs(), lease.leaseId());
        quota.sent.remove(lease.sentByMs(), lease.leaseId());
        quota.unleased -= lease.isUnleased() ? 1 : 0;
        LeaseApplier.countInLastMinute(this, quota, lease, false);
        changes.delete(new Row.LeaseRow(lease).id());
      }
      quota.statistics.forget(this, quota.id());
    }
    quotas.values().removeIf(this::isGone);
  }

  private static long last(RetriesRow row) {
    return row.atMs().get(row.atMs().size() - 1);
  }

  /** Ends a command: the rows it changed. */
  Map<RowId, Row> end() {
    for (String quotaId : touched) {
      QuotaState quota = quotas.get(quotaId);
      if (quota != null) {
        changes.put(RowLoader.balanceRow(quota));
      }
    }
    touched.clear();
    changes.put(keyRow());
    return changes.take();
  }

  private boolean isGone(QuotaState quota) {
    if (!quota.removed || quota.waiting > 0 || !quota.leases.isEmpty() || quota.heldByOthers > 0) {
      return false;
    }
    touched.remove(quota.id());
    changes.delete(new RowId(Row.Kind.DEFINITION, quota.id(), ""));
    changes.delete(new RowId(Row.Kind.BALANCE, quota.id(), ""));
    ShareApplier.forgetAll(this, quota);
    if (!quota.traffic.equals(Traffic.NONE)) {
      changes.delete(new RowId(Row.Kind.TRAFFIC, quota.id(), ""));
    }
    if (!quota.breaker.equals(BreakerState.NONE)) {
      changes.delete(new RowId(Row.Kind.BREAKER, quota.id(), ""));
    }
    quota.tenants.values().forEach(tenant -> deleteTenant(quota, tenant));
    quota
        .reserves
        .buckets
        .keySet()
        .forEach(name -> changes.delete(new RowId(Row.Kind.RESERVE, quota.id(), name)));
    quota.statistics.deleteRows(this, quota.id());
    quota.alerts.raised().forEach(row -> changes.delete(row.id()));
    unlinkAlso(quota);
    SharedOrder.left(this, quota.policy.order().also());
    return true;
  }

  /** A tenant ends, with the places that are kept in it. */
  void deleteTenant(QuotaState quota, TenantState tenant) {
    endPlaces(quota, tenant);
    changes.delete(new RowId(Row.Kind.TENANT, quota.id(), tenant.name));
    for (String agent : tenant.flows.agents()) {
      changes.delete(Row.flowId(quota.id(), tenant.name, agent));
    }
  }

  /** Whoever comes back to a place that was kept in a tenant comes anew. */
  void endPlaces(QuotaState quota, TenantState tenant) {
    LeaseApplier.endPlaces(this, quota, tenant.name);
    remembered.values().stream()
        .filter(row -> row.quotaId().equals(quota.id()) && row.keepsPlaceIn(tenant.name))
        .sorted(Comparator.comparing(RememberedRow::idHash))
        .toList()
        .forEach(row -> remember(row.withoutTag()));
  }

  /** Writes a tenant's row, where the quota has tenants. */
  void putTenant(QuotaState quota, TenantState tenant) {
    if (quota.policy.order().hasTenants()) {
      changes.put(RowLoader.tenantRow(quota, tenant));
    }
  }

  void linkAlso(QuotaState quota) {
    for (String name : quota.policy.order().also()) {
      takers.computeIfAbsent(name, other -> new TreeSet<>()).add(quota.id());
    }
  }

  void unlinkAlso(QuotaState quota) {
    for (String name : quota.policy.order().also()) {
      TreeSet<String> ids = takers.get(name);
      if (ids != null && ids.remove(quota.id()) && ids.isEmpty()) {
        takers.remove(name);
      }
    }
  }

  void remember(RememberedRow row) {
    forget(row.idHash());
    indexRemembered(row);
    changes.put(row);
  }

  void indexRemembered(RememberedRow row) {
    remembered.put(row.idHash(), row);
    forgets.add(row.forgetAtMs(), row.idHash());
    if (row.leaseId() != null) {
      rememberedLeases.put(row.leaseId(), row.idHash());
    }
    unclaimed.add(row);
  }

  void forget(String identity) {
    RememberedRow row = remembered.remove(identity);
    if (row != null) {
      forgets.remove(row.forgetAtMs(), identity);
      if (row.leaseId() != null) {
        rememberedLeases.remove(row.leaseId());
      }
      unclaimed.remove(row);
      changes.delete(row.id());
    }
  }

  /** Counts calls of a task; {@code role} may be null. */
  void countCall(String taskId, int calls, int retriesOfTask, String role) {
    TaskRow old = tasks.get(taskId);
    putTask(
        new TaskRow(
            taskId,
            Math.max(0, (old == null ? 0 : old.calls()) + calls),
            nowMs,
            Math.max(0, (old == null ? 0 : old.retries()) + retriesOfTask),
            role != null ? role : old == null ? null : old.role(),
            old == null ? null : old.node()));
  }

  void updateTask(String taskId, String role, TaskNode node) {
    TaskRow old = tasks.get(taskId);
    putTask(
        new TaskRow(
            taskId,
            old == null ? 0 : old.calls(),
            nowMs,
            old == null ? 0 : old.retries(),
            role != null ? role : old == null ? null : old.role(),
            node));
  }

  private void putTask(TaskRow row) {
    indexTask(row);
    changes.put(row);
  }

  void indexTask(TaskRow row) {
    TaskRow old = tasks.put(row.taskId(), row);
    if (old != null) {
      taskUse.remove(old.touchedAtMs(), row.taskId());
      graph.unlink(row.taskId(), old.node());
    }
    taskUse.add(row.touchedAtMs(), row.taskId());
    graph.link(row.taskId(), row.node());
  }

  /** Notes a retry of an agent without a task id, and what it costs. */
  void addRetry(String agentId, long cost) {
    List<Long> times = new ArrayList<>(retriesOfAgent(agentId));
    List<Long> costs = costsOfRetries(agentId);
    times.add(nowMs);
    costs.add(cost);
    putRetries(agentId, times, costs, paidOf(agentId));
  }

  /** Takes the last such retry back. */
  void takeBackRetry(String agentId) {
    List<Long> times = new ArrayList<>(retriesOfAgent(agentId));
    if (!times.isEmpty()) {
      List<Long> costs = costsOfRetries(agentId);
      times.remove(times.size() - 1);
      costs.remove(costs.size() - 1);
      putRetries(agentId, times, costs, paidOf(agentId));
    }
  }

  /**
   * A call of an agent succeeded. So a few per cent of failures never add up, and a loop of
   * failures has its retries of an hour and no more. It pays what it cost, and at most what the
   * retry cost: neither many small calls nor a large one are worth more than they are. Costs are
   * shares of a minute here, since they may be of several quotas.
   */
  void succeeded(String agentId, long cost) {
    List<Long> times = new ArrayList<>(retriesOfAgent(agentId));
    if (times.isEmpty()) {
      return; // What is not retried yet is not paid for in advance.
    }
    List<Long> costs = costsOfRetries(agentId);
    long oldest = Math.max(1, costs.get(0));
    long paid = paidOf(agentId) + Math.max(1, Math.min(cost, oldest));
    if (paid >= SUCCESSES_PER_RETRY * oldest) {
      times.remove(0);
      costs.remove(0);
      paid = 0;
    }
    putRetries(agentId, times, costs, paid);
  }

  /** In the order of {@link #retriesOfAgent}; those of which none is known cost next to nothing. */
  private List<Long> costsOfRetries(String agentId) {
    int size = retriesOfAgent(agentId).size();
    RetriesRow row = retries.get(agentId);
    List<Long> known = row == null ? List.of() : row.costs();
    int kept = Math.min(size, known.size());
    List<Long> costs = new ArrayList<>(Collections.nCopies(size - kept, 1L));
    costs.addAll(known.subList(known.size() - kept, known.size()));
    return costs;
  }

  private long paidOf(String agentId) {
    RetriesRow row = retries.get(agentId);
    return row == null ? 0 : row.paid();
  }

  private void putRetries(String agentId, List<Long> times, List<Long> costs, long paid) {
    int excess = Math.max(0, times.size() - MAX_RETRIES_NOTED);
    RetriesRow row =
        new RetriesRow(
            agentId,
            List.copyOf(times.subList(excess, times.size())),
            List.copyOf(costs.subList(excess, costs.size())),
            paid);
    if (row.atMs().isEmpty()) {
      RetriesRow old = retries.remove(agentId);
      retryUse.remove(last(old), agentId);
      changes.delete(row.id());
    } else {
      indexRetries(row);
      changes.put(row);
    }
  }

  void indexRetries(RetriesRow row) {
    RetriesRow old = retries.put(row.agentId(), row);
    if (old != null) {
      retryUse.remove(last(old), row.agentId());
    }
    retryUse.add(last(row), row.agentId());
  }
}
