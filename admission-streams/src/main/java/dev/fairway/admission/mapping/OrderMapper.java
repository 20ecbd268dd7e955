package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.TaskUpdate;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.lease.Claims;
import dev.fairway.admission.engine.lease.Told;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Standing;
import dev.fairway.admission.engine.state.Taken;
import dev.fairway.schemas.GrantOrder;
import dev.fairway.schemas.Lane;
import dev.fairway.schemas.OrderRow;
import dev.fairway.schemas.ReserveRow;
import dev.fairway.schemas.Reweighting;
import dev.fairway.schemas.SettlementShift;
import dev.fairway.schemas.SignalClass;
import dev.fairway.schemas.StandingRow;
import dev.fairway.schemas.TakenRow;
import dev.fairway.schemas.TaskNode;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdated;
import dev.fairway.schemas.TenantRow;
import dev.fairway.schemas.WaiterReweighted;
import java.util.List;

/**
 * What the order of requests goes by, both ways. What is the same for every request of a quota
 * without tenants, classes and other quotas is left out of records. Thread-safe.
 */
final class OrderMapper {
  private OrderMapper() {}

  static StandingRow standing(Standing from) {
    return new StandingRow(
        from.tenant(),
        from.role(),
        from.leaseClass(),
        from.budgetTask(),
        from.cacheBumped(),
        orNull(from.passedSmall()),
        orNull(from.passedOthers()),
        Values.amounts(from.demand()));
  }

  /** A record that has none was written before there were tenants. */
  static Standing standing(StandingRow from, LeaseRequest request) {
    return from == null
        ? Standing.of(
            new Claims("default", request.role(), request.leaseClass()), request.taskId(), null)
        : new Standing(
            from.getTenant(),
            from.getRole(),
            from.getClass$(),
            from.getBudgetTask(),
            from.getCacheBumped(),
            orNone(from.getPassedSmall()),
            orNone(from.getPassedOthers()),
            Values.amounts(from.getDemand()));
  }

  static TakenRow taken(Taken from) {
    return from.equals(Taken.NOTHING)
        ? null
        : new TakenRow(
            Values.map(from.also(), Values::amounts),
            Values.amounts(from.reserve()),
            Values.amounts(from.ceiling()),
            from.outOfReserve(),
            from.passed(),
            from.passedSmall());
  }

  static Taken taken(TakenRow from) {
    return from == null
        ? Taken.NOTHING
        : new Taken(
            Values.map(from.getAlso(), Values::amounts),
            Values.amounts(from.getReserve()),
            Values.amounts(from.getCeiling()),
            from.getOutOfReserve(),
            from.getPassed(),
            from.getPassedSmall());
  }

  static GrantOrder order(Event.Order from) {
    return new GrantOrder(
        Values.symbol(from.lane(), Lane.class),
        from.tenant(),
        from.leaseClass(),
        from.passedAgentId(),
        from.passedRequestId(),
        from.topVirtualTime(),
        from.tenantTag());
  }

  static Event.Order order(GrantOrder from, long virtualTime) {
    return from == null
        ? new Event.Order(Event.Lane.IN_ORDER, "default", "batch", null, null, virtualTime, 0)
        : new Event.Order(
            Values.symbol(from.getLane(), Event.Lane.class),
            from.getTenant(),
            from.getClass$(),
            from.getPassedAgentId(),
            from.getPassedRequestId(),
            from.getTopVirtualTime(),
            from.getTenantTag());
  }

  static SettlementShift shift(Event.Shift from) {
    return from.equals(Event.Shift.NONE)
        ? null
        : new SettlementShift(
            Values.map(from.also(), Values::amounts),
            Values.amounts(from.reserve()),
            Values.amounts(from.ceiling()),
            from.tenantTag());
  }

  static Event.Shift shift(SettlementShift from) {
    return from == null
        ? Event.Shift.NONE
        : new Event.Shift(
            Values.map(from.getAlso(), Values::amounts),
            Values.amounts(from.getReserve()),
            Values.amounts(from.getCeiling()),
            from.getTenantTag());
  }

  static Told told(boolean sent, Long input, Long output, SignalClass refusal, Long untilMs) {
    return new Told(sent, input, output, Values.symbol(refusal, Signal.Kind.class), untilMs);
  }

  /** The refusal that was told, or null. */
  static SignalClass refusal(Told told) {
    return Values.symbol(told.refusal(), SignalClass.class);
  }

  static WaiterReweighted reweighted(Event.WaiterReweighted from) {
    return new WaiterReweighted(
        from.quotaId(),
        from.requestId(),
        from.agentId(),
        Values.symbol(from.reason(), Reweighting.class),
        from.weightMilli(),
        from.finishTag());
  }

  static Event.WaiterReweighted reweighted(WaiterReweighted from) {
    return new Event.WaiterReweighted(
        from.getQuota(),
        from.getRequestId(),
        from.getAgentId(),
        Values.symbol(from.getReason(), Event.Reweighting.class),
        from.getWeightMilli(),
        from.getFinishTag());
  }

  static TaskUpdated updated(Event.TaskUpdated from) {
    return new TaskUpdated(
        from.quotaId(),
        from.taskId(),
        from.role(),
        Values.symbol(from.state(), TaskState.class),
        from.blockedOn());
  }

  static Event.TaskUpdated updated(TaskUpdated from) {
    return new Event.TaskUpdated(
        from.getQuota(),
        from.getTaskId(),
        from.getRole(),
        Values.symbol(from.getState(), TaskUpdate.State.class),
        List.copyOf(from.getBlockedOn()));
  }

  static OrderRow order(Row.OrderRow from) {
    return new OrderRow(
        from.topVirtualTime(),
        from.minuteStartMs(),
        from.callsBefore(),
        from.retriesBefore(),
        from.calls(),
        from.retries());
  }

  static Row.OrderRow order(OrderRow from) {
    return from == null
        ? new Row.OrderRow(0, 0, 0, 0, 0, 0)
        : new Row.OrderRow(
            from.getTopVirtualTime(),
            from.getMinuteStartMs(),
            from.getCallsBefore(),
            from.getRetriesBefore(),
            from.getCalls(),
            from.getRetries());
  }

  static TenantRow tenant(Row.TenantRow from) {
    return new TenantRow(
        from.quotaId(),
        from.tenant(),
        from.virtualTime(),
        from.tag(),
        from.refilledAtMs(),
        Values.list(from.buckets(), RowMapper::bucket));
  }

  static Row.TenantRow tenant(TenantRow from) {
    return new Row.TenantRow(
        from.getQuota(),
        from.getTenant(),
        from.getVirtualTime(),
        from.getTag(),
        from.getRefilledAtMs(),
        Values.list(from.getBuckets(), RowMapper::bucket));
  }

  static ReserveRow reserve(Row.ReserveRow from) {
    return new ReserveRow(
        from.quotaId(),
        from.leaseClass(),
        from.refilledAtMs(),
        Values.list(from.buckets(), RowMapper::bucket));
  }

  static Row.ReserveRow reserve(ReserveRow from) {
    return new Row.ReserveRow(
        from.getQuota(),
        from.getClass$(),
        from.getRefilledAtMs(),
        Values.list(from.getBuckets(), RowMapper::bucket));
  }

  static TaskNode node(Row.TaskNode from) {
    return from == null
        ? null
        : new TaskNode(Values.symbol(from.state(), TaskState.class), from.blockedOn());
  }

  static Row.TaskNode node(TaskNode from) {
    return from == null
        ? null
        : new Row.TaskNode(
            Values.symbol(from.getState(), TaskUpdate.State.class),
            List.copyOf(from.getBlockedOn()));
  }

  private static dev.fairway.schemas.Amounts orNull(Amounts from) {
    return from.isEmpty() ? null : Values.amounts(from);
  }

  private static Amounts orNone(dev.fairway.schemas.Amounts from) {
    return from == null ? Amounts.NONE : Values.amounts(from);
  }
}
