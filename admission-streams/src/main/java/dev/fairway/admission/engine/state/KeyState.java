package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.alert.Traffic;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.state.Row.KeyRow;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.engine.state.Row.TaskRow;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
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
  final DueIndex taskUse = new DueIndex();
  final RowChanges changes = new RowChanges();
  final Set<String> touched = new TreeSet<>();

  long sequence;
  long nowMs;
  int epoch = 1;
  String salt;

  public KeyState(String key) {
    this.key = key;
  }

  public String key() {
    return key;
  }

  /** Sequence of the last command handled. */
  public long sequence() {
    return sequence;
  }

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
      taskUse.remove(task.touchedAtMs(), task.taskId());
      changes.delete(task.id());
    }
    for (QuotaState quota : quotas.values()) {
      ShareApplier.sweep(this, quota);
      while (quota.sweeps.firstMs() <= nowMs) {
        Lease lease = quota.leases.remove(quota.sweeps.firstName());
        quota.sweeps.remove(quota.sweeps.firstMs(), lease.leaseId());
        quota.sent.remove(lease.sentAtMs(), lease.leaseId());
        changes.delete(new Row.LeaseRow(lease).id());
      }
      quota.statistics.forget(this, quota.id());
    }
    quotas.values().removeIf(this::isGone);
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
    if (!quota.removed || quota.order.size() > 0 || !quota.leases.isEmpty()) {
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
    quota.flows.all().keySet().stream()
        .sorted()
        .forEach(agent -> changes.delete(new RowId(Row.Kind.FLOW, quota.id(), agent)));
    quota.statistics.deleteRows(this, quota.id());
    quota.alerts.raised().forEach(row -> changes.delete(row.id()));
    return true;
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
  }

  void forget(String identity) {
    RememberedRow row = remembered.remove(identity);
    if (row != null) {
      forgets.remove(row.forgetAtMs(), identity);
      if (row.leaseId() != null) {
        rememberedLeases.remove(row.leaseId());
      }
      changes.delete(row.id());
    }
  }

  void countCall(String taskId, int calls) {
    TaskRow old = tasks.get(taskId);
    if (old != null) {
      taskUse.remove(old.touchedAtMs(), taskId);
    }
    int count = Math.max(0, (old == null ? 0 : old.calls()) + calls);
    TaskRow row = new TaskRow(taskId, count, nowMs);
    indexTask(row);
    changes.put(row);
  }

  void indexTask(TaskRow row) {
    tasks.put(row.taskId(), row);
    taskUse.add(row.touchedAtMs(), row.taskId());
  }
}
