package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.TaskUpdate;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.alert.Traffic;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.capacity.Share;
import dev.fairway.admission.engine.learn.ErrorTrend;
import dev.fairway.admission.engine.learn.RoleStats;
import dev.fairway.admission.engine.lease.Charges;
import dev.fairway.admission.engine.margin.OutsideRate;
import java.util.List;

/**
 * One durable row of the state of a key. The rows of a key are its whole state: loading them gives
 * an engine that decides the same. A command touches a number of rows that does not depend on how
 * long the queue is.
 */
public sealed interface Row {

  /** Identity of the row within its key. */
  RowId id();

  /** Kinds of rows; the order is the order of loading. */
  enum Kind {
    KEY,
    DEFINITION,
    BALANCE,
    TENANT,
    RESERVE,
    RETRIES,
    TASK,
    REMEMBERED,
    FLOW,
    LEASE,
    WAITER,
    OUTPUTS,
    ROLE,
    AGENT,
    ALERT,
    BREAKER,
    SHARE,
    TRAFFIC
  }

  /** Identity of a row within its key: kind, quota ("" where the key owns it) and name. */
  record RowId(Kind kind, String quotaId, String name) {}

  /** One per key. {@code salt} is null until a quota is defined. */
  record KeyRow(String key, long sequence, long nowMs, int epoch, String salt) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.KEY, "", "");
    }
  }

  /** One per quota: as defined. */
  record DefinitionRow(QuotaDefinition definition) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.DEFINITION, definition.id(), "");
    }
  }

  /**
   * One dimension of a quota; boxed fields may be null.
   *
   * @param mode margin mode in force
   * @param answeredAtMs when the provider last told its level
   * @param resetAtMs a reset of the provider's window, as it told it
   * @param learnedAtMs when an answer last named the learned limit, as far as that was noted
   */
  record BucketRow(
      Dimension dimension,
      long balance,
      long remainder,
      Long learnedLimit,
      Long absorbedBeforeMs,
      long clipped,
      MarginModeName mode,
      Long answeredAtMs,
      Long resetAtMs,
      OutsideRate outside,
      Long learnedAtMs) {}

  /**
   * One per quota: what changes with commands. Boxed fields may be null. A removed quota lives on
   * for who still waits or holds a lease.
   */
  record BalanceRow(
      String quotaId,
      boolean removed,
      List<BucketRow> buckets,
      long refilledAtMs,
      int marginBp,
      Long lastCutAtMs,
      Long restoreFromMs,
      Long holdUntilMs,
      HoldReason holdReason,
      int overloads,
      long virtualTime,
      long arrivals,
      long sendDelayMeanUs,
      long sendDelayMaxMs,
      Long lastSignalSentAtMs,
      int zMilli,
      Long zFallsFromMs,
      Long floorSinceMs,
      OrderRow order)
      implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.BALANCE, quotaId, "");
    }
  }

  /** What a quota's order and its retry share go by: the last two minutes' calls. */
  record OrderRow(
      long topVirtualTime,
      long minuteStartMs,
      int callsBefore,
      int retriesBefore,
      int calls,
      int retries) {}

  /** One per tenant of a quota that has any, the default one included. */
  record TenantRow(
      String quotaId,
      String tenant,
      long virtualTime,
      long tag,
      long refilledAtMs,
      List<BucketRow> buckets)
      implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.TENANT, quotaId, tenant);
    }
  }

  /** One per class with a reserve. */
  record ReserveRow(String quotaId, String leaseClass, long refilledAtMs, List<BucketRow> buckets)
      implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.RESERVE, quotaId, leaseClass);
    }
  }

  /**
   * One per agent that retried without a task id in the last hour.
   *
   * @param atMs when, oldest first; without those that successful calls have taken off
   * @param costs what they cost in shares of a minute ({@link Charges#share}), in the same order;
   *     may be the last ones only
   * @param paid what calls that succeeded have paid for the oldest one
   */
  record RetriesRow(String agentId, List<Long> atMs, List<Long> costs, long paid) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.RETRIES, "", agentId);
    }
  }

  /** One per quota that a provider refused since it was defined. */
  record BreakerRow(String quotaId, BreakerState state) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.BREAKER, quotaId, "");
    }
  }

  /** One per quota that was asked for something: what its calls came to. */
  record TrafficRow(String quotaId, Traffic traffic) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.TRAFFIC, quotaId, "");
    }
  }

  /** One per agent that may use a share alone if the coordinator falls silent. */
  record ShareRow(String quotaId, String agentId, Share share) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.SHARE, quotaId, agentId);
    }
  }

  /** One per lease. */
  record LeaseRow(Lease lease) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.LEASE, lease.request().quotaId(), lease.leaseId());
    }
  }

  /** One per waiting request. */
  record WaiterRow(Waiter waiter) implements Row {
    @Override
    public RowId id() {
      return new RowId(
          Kind.WAITER,
          waiter.request().quotaId(),
          waiter.request().agentId() + "/" + waiter.request().requestId());
    }
  }

  /**
   * One per agent, and tenant, whose finish tag is ahead of the virtual time, or is kept.
   *
   * @param shift what settlements moved the agent's waiting requests by; their rows stay as written
   * @param keptUntilMs the tag stays until then, wherever virtual time is: places of rejected
   *     requests are kept behind it; 0 if none is
   */
  record FlowRow(
      String quotaId, String agentId, long finishTag, String tenant, long shift, long keptUntilMs)
      implements Row {
    @Override
    public RowId id() {
      return flowId(quotaId, tenant, agentId);
    }
  }

  /** Identity of a flow's row. */
  static RowId flowId(String quotaId, String tenant, String agentId) {
    boolean one = tenant.equals(OrderPolicy.DEFAULT_TENANT);
    return new RowId(Kind.FLOW, quotaId, one ? agentId : tenant + "/" + agentId);
  }

  /**
   * What an orchestrator told of a task.
   *
   * @param blockedOn tasks it waits for; empty unless it is BLOCKED
   */
  record TaskNode(TaskUpdate.State state, List<String> blockedOn) {}

  /**
   * One per task.
   *
   * @param calls granted or waiting
   * @param retries of these, retries
   * @param role role that works on it, or null
   * @param node null while no orchestrator told of it
   */
  record TaskRow(
      String taskId, int calls, long touchedAtMs, int retries, String role, TaskNode node)
      implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.TASK, "", taskId);
    }
  }

  /**
   * One per role of a quota, and one for all roles together, named "".
   *
   * @param outputs outputs seen so far
   * @param recentOutputs those since the last full chunk, oldest first
   */
  record RoleRow(
      String quotaId, String role, RoleStats stats, long outputs, List<Long> recentOutputs)
      implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.ROLE, quotaId, role);
    }
  }

  /** A chunk of the last outputs of a role. */
  record OutputsRow(String quotaId, String role, int chunk, List<Long> outputs) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.OUTPUTS, quotaId, role + "/" + chunk);
    }
  }

  /**
   * One per agent that settled a call lately.
   *
   * @param estimates how far its estimates lie off
   * @param cacheUnread whether the last call that claimed a cached prefix did not read it
   */
  record AgentRow(
      String quotaId, String agentId, ErrorTrend estimates, boolean cacheUnread, long touchedAtMs)
      implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.AGENT, quotaId, agentId);
    }
  }

  /** One per alert that is raised. */
  record AlertRow(String quotaId, AlertKind kind, String subject, long raisedAtMs) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.ALERT, quotaId, kind.name() + "/" + subject);
    }
  }

  /** How a remembered request ended. */
  enum Ending {
    REJECTED,
    SETTLED,
    EXPIRED,
    CANCELLED,
    UNLEASED
  }

  /**
   * One per request that ended lately. Boxed fields and strings but the ids may be null.
   *
   * @param attempt which attempt of its call it was
   * @param budgetTask task whose retry budget it was counted in
   * @param failed whether its call failed, so that asking again is a retry
   * @param unclaimedBy agent whose next request is taken for the retry of this failed call
   * @param tenant tenant in which its place is kept: tags of others are of other virtual times
   * @param cost what its call cost in shares of a minute ({@link Charges#share}), if it failed;
   *     else 0
   */
  record RememberedRow(
      String quotaId,
      String idHash,
      String contentHash,
      Ending ending,
      String leaseId,
      RejectReason reason,
      Long retryAtMs,
      Long keptTag,
      long forgetAtMs,
      int attempt,
      String budgetTask,
      boolean failed,
      String unclaimedBy,
      String tenant,
      long cost)
      implements Row {
    /** One whose call did not fail. */
    RememberedRow(
        String quotaId,
        String idHash,
        String contentHash,
        Ending ending,
        String leaseId,
        RejectReason reason,
        Long retryAtMs,
        Long keptTag,
        long forgetAtMs,
        int attempt,
        String budgetTask,
        boolean failed,
        String unclaimedBy,
        String tenant) {
      this(
          quotaId,
          idHash,
          contentHash,
          ending,
          leaseId,
          reason,
          retryAtMs,
          keptTag,
          forgetAtMs,
          attempt,
          budgetTask,
          failed,
          unclaimedBy,
          tenant,
          0);
    }

    /** How long after its retry time a rejected request keeps its place and its attempt. */
    public static final long KEPT_MS = 60_000;

    /** Until when its place is kept for who comes back, or null if it is not. */
    Long keptUntilMs() {
      return keptTag == null || retryAtMs == null
          ? null
          : (Long) Math.min(forgetAtMs, Amounts.saturatedAdd(retryAtMs, KEPT_MS));
    }

    /** Whether a place is kept for it in that tenant. */
    boolean keepsPlaceIn(String tenantName) {
      return keptTag != null && tenantName.equals(tenant);
    }

    /** The same without the tag that it kept. */
    RememberedRow withoutTag() {
      return new RememberedRow(
          quotaId,
          idHash,
          contentHash,
          ending,
          leaseId,
          reason,
          retryAtMs,
          null,
          forgetAtMs,
          attempt,
          budgetTask,
          failed,
          unclaimedBy,
          null,
          cost);
    }

    /** The same after its retry came. */
    RememberedRow claimed() {
      return new RememberedRow(
          quotaId,
          idHash,
          contentHash,
          ending,
          leaseId,
          reason,
          retryAtMs,
          keptTag,
          forgetAtMs,
          attempt,
          budgetTask,
          failed,
          null,
          tenant,
          cost);
    }

    @Override
    public RowId id() {
      return new RowId(Kind.REMEMBERED, quotaId, idHash);
    }
  }
}
