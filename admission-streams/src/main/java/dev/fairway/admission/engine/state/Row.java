package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.capacity.Share;
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
    TASK,
    REMEMBERED,
    FLOW,
    LEASE,
    WAITER,
    BREAKER,
    SHARE
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

  /** One dimension of a quota; {@code learnedLimit} and {@code absorbedBeforeMs} may be null. */
  record BucketRow(
      Dimension dimension,
      long balance,
      long remainder,
      Long learnedLimit,
      Long absorbedBeforeMs,
      long clipped) {}

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
      Long lastSignalSentAtMs)
      implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.BALANCE, quotaId, "");
    }
  }

  /** One per quota that a provider refused since it was defined. */
  record BreakerRow(String quotaId, BreakerState state) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.BREAKER, quotaId, "");
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

  /** One per agent whose finish tag is ahead of the virtual time. */
  record FlowRow(String quotaId, String agentId, long finishTag) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.FLOW, quotaId, agentId);
    }
  }

  /** One per task. */
  record TaskRow(String taskId, int calls, long touchedAtMs) implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.TASK, "", taskId);
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

  /** One per request that ended lately. Boxed fields and strings but the ids may be null. */
  record RememberedRow(
      String quotaId,
      String idHash,
      String contentHash,
      Ending ending,
      String leaseId,
      RejectReason reason,
      Long retryAtMs,
      Long keptTag,
      long forgetAtMs)
      implements Row {
    @Override
    public RowId id() {
      return new RowId(Kind.REMEMBERED, quotaId, idHash);
    }
  }
}
