package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.capacity.Share;
import dev.fairway.admission.engine.lease.Forecast;
import dev.fairway.admission.engine.margin.OutsideRate;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Waiter;
import dev.fairway.schemas.BalanceRow;
import dev.fairway.schemas.BreakerRow;
import dev.fairway.schemas.BucketRow;
import dev.fairway.schemas.DefinitionRow;
import dev.fairway.schemas.FlowRow;
import dev.fairway.schemas.HoldReason;
import dev.fairway.schemas.KeyRow;
import dev.fairway.schemas.LeaseRow;
import dev.fairway.schemas.LeaseStatus;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.RememberedRow;
import dev.fairway.schemas.ReserveRow;
import dev.fairway.schemas.RetriesRow;
import dev.fairway.schemas.ShareRow;
import dev.fairway.schemas.StateRow;
import dev.fairway.schemas.TaskRow;
import dev.fairway.schemas.TenantRow;
import dev.fairway.schemas.TrafficRow;
import dev.fairway.schemas.WaiterRow;
import java.util.List;

/** State rows, both ways. Thread-safe. */
public final class RowMapper {
  private RowMapper() {}

  /** The record of one row of a key. */
  public static StateRow toAvro(String key, Row row) {
    return new StateRow(key, row(row));
  }

  /**
   * The row of a record.
   *
   * @throws IllegalArgumentException if it names a dimension or an ending that does not exist
   */
  public static Row toEngine(StateRow from) {
    Object row = from.getRow();
    if (row instanceof WaiterRow r) {
      return new Row.WaiterRow(waiter(r));
    }
    if (row instanceof LeaseRow r) {
      return new Row.LeaseRow(lease(r));
    }
    if (row instanceof BalanceRow r) {
      return balance(r);
    }
    if (row instanceof RememberedRow r) {
      return remembered(r);
    }
    if (row instanceof FlowRow r) {
      return new Row.FlowRow(
          r.getQuota(),
          r.getAgentId(),
          r.getFinishTag(),
          r.getTenant(),
          r.getShift(),
          r.getKeptUntilMs());
    }
    if (row instanceof TaskRow r) {
      return new Row.TaskRow(
          r.getTaskId(),
          r.getCalls(),
          r.getTouchedAtMs(),
          r.getRetries(),
          r.getRole(),
          OrderMapper.node(r.getNode()));
    }
    if (row instanceof TenantRow r) {
      return OrderMapper.tenant(r);
    }
    if (row instanceof ReserveRow r) {
      return OrderMapper.reserve(r);
    }
    if (row instanceof RetriesRow r) {
      return new Row.RetriesRow(
          r.getAgentId(), List.copyOf(r.getAtMs()), List.copyOf(r.getCosts()), r.getPaid());
    }
    if (row instanceof BreakerRow r) {
      return BreakerMapper.row(r);
    }
    if (row instanceof TrafficRow r) {
      return TrafficMapper.row(r);
    }
    if (row instanceof ShareRow r) {
      return new Row.ShareRow(
          r.getQuota(),
          r.getAgentId(),
          new Share(r.getPart(), r.getUntilMs(), r.getOlderPart(), r.getOlderUntilMs()));
    }
    if (row instanceof KeyRow r) {
      return new Row.KeyRow(
          r.getKey(),
          r.getSequence(),
          r.getNowMs(),
          r.getEpoch(),
          r.getSalt().isEmpty() ? null : r.getSalt());
    }
    if (row instanceof DefinitionRow r) {
      return new Row.DefinitionRow(QuotaMapper.toEngine(r.getDefinition()));
    }
    return LearnedRowMapper.toEngine(row);
  }

  private static Object row(Row row) {
    if (row instanceof Row.WaiterRow r) {
      return waiter(r.waiter());
    }
    if (row instanceof Row.LeaseRow r) {
      return lease(r.lease());
    }
    if (row instanceof Row.BalanceRow r) {
      return balance(r);
    }
    if (row instanceof Row.RememberedRow r) {
      return new RememberedRow(
          r.quotaId(),
          r.idHash(),
          r.contentHash(),
          r.ending().name(),
          r.leaseId(),
          Values.symbol(r.reason(), RejectReason.class),
          r.retryAtMs(),
          r.keptTag(),
          r.forgetAtMs(),
          r.attempt(),
          r.budgetTask(),
          r.failed(),
          r.unclaimedBy(),
          r.tenant(),
          r.cost());
    }
    if (row instanceof Row.FlowRow r) {
      return new FlowRow(
          r.quotaId(), r.agentId(), r.finishTag(), r.tenant(), r.shift(), r.keptUntilMs());
    }
    if (row instanceof Row.TaskRow r) {
      return new TaskRow(
          r.taskId(),
          r.calls(),
          r.touchedAtMs(),
          r.retries(),
          r.role(),
          OrderMapper.node(r.node()));
    }
    if (row instanceof Row.TenantRow r) {
      return OrderMapper.tenant(r);
    }
    if (row instanceof Row.ReserveRow r) {
      return OrderMapper.reserve(r);
    }
    if (row instanceof Row.RetriesRow r) {
      return new RetriesRow(r.agentId(), r.atMs(), r.costs(), r.paid());
    }
    if (row instanceof Row.BreakerRow r) {
      return BreakerMapper.row(r);
    }
    if (row instanceof Row.TrafficRow r) {
      return TrafficMapper.row(r);
    }
    if (row instanceof Row.ShareRow r) {
      Share share = r.share();
      return new ShareRow(
          r.quotaId(),
          r.agentId(),
          share.part(),
          share.untilMs(),
          share.olderPart(),
          share.olderUntilMs());
    }
    if (row instanceof Row.KeyRow r) {
      return new KeyRow(
          r.key(), r.sequence(), r.nowMs(), r.epoch(), r.salt() == null ? "" : r.salt());
    }
    if (row instanceof Row.DefinitionRow r) {
      return new DefinitionRow(QuotaMapper.toAvro(r.definition()));
    }
    return LearnedRowMapper.toAvro(row);
  }

  static Waiter waiter(WaiterRow from) {
    LeaseRequest request = CommandMapper.request(from.getRequest());
    return new Waiter(
        request,
        from.getContentHash(),
        from.getAppendedAtMs(),
        from.getAttempt(),
        from.getArrival(),
        from.getEnqueuedAtMs(),
        from.getDeadlineMs(),
        Values.amounts(from.getEstimate()),
        from.getCost(),
        from.getWeightMilli(),
        from.getStartTag(),
        from.getFinishTag(),
        from.getToldAtMs(),
        from.getToldEtaMs(),
        from.getFirstEtaMs(),
        new Forecast(from.getForecastInput(), from.getForecastOutput()),
        OrderMapper.standing(from.getStanding(), request),
        from.getFlowShift());
  }

  static WaiterRow waiter(Waiter from) {
    return new WaiterRow(
        CommandMapper.request(from.request()),
        from.contentHash(),
        from.appendedAtMs(),
        from.attempt(),
        from.arrival(),
        from.enqueuedAtMs(),
        from.deadlineMs(),
        Values.amounts(from.estimate()),
        from.cost(),
        from.weightMilli(),
        from.startTag(),
        from.finishTag(),
        from.toldAtMs(),
        from.toldEtaMs(),
        from.firstEtaMs(),
        from.forecast().inputTokens(),
        from.forecast().outputTokens(),
        OrderMapper.standing(from.standing()),
        from.flowShift());
  }

  private static Lease lease(LeaseRow from) {
    LeaseRequest request = CommandMapper.request(from.getRequest());
    return new Lease(
        request,
        from.getContentHash(),
        from.getAppendedAtMs(),
        from.getDeadlineMs(),
        from.getLeaseId(),
        from.getAttempt(),
        Values.symbol(from.getStatus(), Lease.Status.class),
        from.getGrantedAtMs(),
        from.getExpiresAtMs(),
        from.getEndedAtMs(),
        Values.amounts(from.getCharged()),
        OrderMapper.told(
            from.getToldSent(),
            from.getToldInput(),
            from.getToldOutput(),
            from.getToldRefusal(),
            from.getToldUntilMs()),
        from.getColdCache(),
        from.getCost(),
        from.getWeightMilli(),
        from.getStartTag(),
        from.getSentAtMs(),
        from.getSendKnown(),
        from.getSendGuardMs(),
        new Forecast(from.getForecastInput(), from.getForecastOutput()),
        from.getErrorMilli(),
        from.getSignalled(),
        OrderMapper.standing(from.getStanding(), request),
        OrderMapper.taken(from.getTaken()));
  }

  private static LeaseRow lease(Lease from) {
    return new LeaseRow(
        CommandMapper.request(from.request()),
        from.contentHash(),
        from.appendedAtMs(),
        from.deadlineMs(),
        from.leaseId(),
        from.attempt(),
        Values.symbol(from.status(), LeaseStatus.class),
        from.grantedAtMs(),
        from.expiresAtMs(),
        from.endedAtMs(),
        Values.amounts(from.charged()),
        from.coldCache(),
        from.cost(),
        from.weightMilli(),
        from.startTag(),
        from.sentAtMs(),
        from.sendKnown(),
        from.sendGuardMs(),
        from.forecast().inputTokens(),
        from.forecast().outputTokens(),
        from.errorMilli(),
        from.signalled(),
        OrderMapper.standing(from.standing()),
        OrderMapper.taken(from.taken()),
        from.told().sent(),
        from.told().input(),
        from.told().output(),
        OrderMapper.refusal(from.told()),
        from.told().untilMs());
  }

  private static Row.BalanceRow balance(BalanceRow from) {
    return new Row.BalanceRow(
        from.getQuota(),
        from.getRemoved(),
        Values.list(from.getBuckets(), RowMapper::bucket),
        from.getRefilledAtMs(),
        from.getMarginBp(),
        from.getLastCutAtMs(),
        from.getRestoreFromMs(),
        from.getHoldUntilMs(),
        Values.symbol(from.getHoldReason(), Event.HoldReason.class),
        from.getOverloads(),
        from.getVirtualTime(),
        from.getArrivals(),
        from.getSendDelayMeanUs(),
        from.getSendDelayMaxMs(),
        from.getLastSignalSentAtMs(),
        from.getZMilli(),
        from.getZFallsFromMs(),
        from.getFloorSinceMs(),
        OrderMapper.order(from.getOrder()));
  }

  private static BalanceRow balance(Row.BalanceRow from) {
    return new BalanceRow(
        from.quotaId(),
        from.removed(),
        Values.list(from.buckets(), RowMapper::bucket),
        from.refilledAtMs(),
        from.marginBp(),
        from.lastCutAtMs(),
        from.restoreFromMs(),
        from.holdUntilMs(),
        Values.symbol(from.holdReason(), HoldReason.class),
        from.overloads(),
        from.virtualTime(),
        from.arrivals(),
        from.sendDelayMeanUs(),
        from.sendDelayMaxMs(),
        from.lastSignalSentAtMs(),
        from.zMilli(),
        from.zFallsFromMs(),
        from.floorSinceMs(),
        OrderMapper.order(from.order()));
  }

  static Row.BucketRow bucket(BucketRow from) {
    Dimension dimension = Values.dimension(from.getDimension());
    return new Row.BucketRow(
        dimension,
        from.getBalance(),
        from.getRemainder(),
        from.getLearnedLimit(),
        from.getAbsorbedBeforeMs(),
        from.getClipped(),
        Values.symbol(from.getMode(), MarginModeName.class),
        from.getAnsweredAtMs(),
        from.getResetAtMs(),
        new OutsideRate(
            from.getOutsideMilli(), from.getOutsideSampledAtMs(), from.getOutsidePending()),
        from.getLearnedAtMs());
  }

  static BucketRow bucket(Row.BucketRow from) {
    return new BucketRow(
        from.dimension().wireName(),
        from.balance(),
        from.remainder(),
        from.learnedLimit(),
        from.absorbedBeforeMs(),
        from.clipped(),
        Values.symbol(from.mode(), MarginMode.class),
        from.answeredAtMs(),
        from.resetAtMs(),
        from.outside().perMinuteMilli(),
        from.outside().sampledAtMs(),
        from.outside().pending(),
        from.learnedAtMs());
  }

  private static Row.RememberedRow remembered(RememberedRow from) {
    return new Row.RememberedRow(
        from.getQuota(),
        from.getIdHash(),
        from.getContentHash(),
        Row.Ending.valueOf(from.getEnding()),
        from.getLeaseId(),
        Values.symbol(from.getReason(), dev.fairway.admission.engine.RejectReason.class),
        from.getRetryAtMs(),
        from.getKeptTag(),
        from.getForgetAtMs(),
        from.getAttempt(),
        from.getBudgetTask(),
        from.getFailed(),
        from.getUnclaimedBy(),
        from.getTenant(),
        from.getCost());
  }
}
