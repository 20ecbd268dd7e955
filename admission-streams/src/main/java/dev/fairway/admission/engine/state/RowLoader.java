package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.alert.Traffic;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.bucket.Bucket;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.margin.OutsideRate;
import dev.fairway.admission.engine.state.Row.AgentRow;
import dev.fairway.admission.engine.state.Row.AlertRow;
import dev.fairway.admission.engine.state.Row.BalanceRow;
import dev.fairway.admission.engine.state.Row.BreakerRow;
import dev.fairway.admission.engine.state.Row.BucketRow;
import dev.fairway.admission.engine.state.Row.DefinitionRow;
import dev.fairway.admission.engine.state.Row.FlowRow;
import dev.fairway.admission.engine.state.Row.KeyRow;
import dev.fairway.admission.engine.state.Row.LeaseRow;
import dev.fairway.admission.engine.state.Row.OutputsRow;
import dev.fairway.admission.engine.state.Row.RememberedRow;
import dev.fairway.admission.engine.state.Row.ReserveRow;
import dev.fairway.admission.engine.state.Row.RetriesRow;
import dev.fairway.admission.engine.state.Row.RoleRow;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.engine.state.Row.ShareRow;
import dev.fairway.admission.engine.state.Row.TaskRow;
import dev.fairway.admission.engine.state.Row.TenantRow;
import dev.fairway.admission.engine.state.Row.TrafficRow;
import dev.fairway.admission.engine.state.Row.WaiterRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** State of a key to rows and back; what indexes hold is derived again. */
public final class RowLoader {
  private static final Comparator<Row> ORDER =
      Comparator.comparing(
          Row::id,
          Comparator.comparing(RowId::kind)
              .thenComparing(RowId::quotaId)
              .thenComparing(RowId::name));

  private RowLoader() {}

  /** All rows of a key, ordered by kind, quota and name. */
  public static List<Row> rows(KeyState key) {
    List<Row> rows = new ArrayList<>();
    rows.add(key.keyRow());
    for (QuotaState quota : key.quotas.values()) {
      rows.add(new DefinitionRow(quota.definition));
      rows.add(balanceRow(quota));
      for (TenantState tenant : quota.tenants.values()) {
        for (String agent : tenant.flows.agents()) {
          long tag = tenant.flows.tag(agent);
          long shift = tenant.flows.shift(agent);
          long keptUntilMs = tenant.flows.keptUntilMs(agent);
          rows.add(new FlowRow(quota.id(), agent, tag, tenant.name, shift, keptUntilMs));
        }
        if (quota.policy.order().hasTenants()) {
          rows.add(tenantRow(quota, tenant));
        }
      }
      quota.reserves.buckets.keySet().forEach(name -> rows.add(reserveRow(quota, name)));
      if (!quota.breaker.equals(BreakerState.NONE)) {
        rows.add(new BreakerRow(quota.id(), quota.breaker));
      }
      if (!quota.traffic.equals(Traffic.NONE)) {
        rows.add(new TrafficRow(quota.id(), quota.traffic));
      }
      quota.shares.all().forEach((a, share) -> rows.add(new ShareRow(quota.id(), a, share)));
      quota.leases.values().forEach(lease -> rows.add(new LeaseRow(lease)));
      rows.addAll(quota.statistics.rows(quota.id()));
      rows.addAll(quota.alerts.raised());
    }
    for (Waiter waiter : key.waiters.values()) {
      QuotaState quota = key.quotas.get(waiter.request().quotaId());
      rows.add(new WaiterRow(FlowTags.asWritten(quota, waiter)));
    }
    rows.addAll(key.retries.values());
    rows.addAll(key.tasks.values());
    rows.addAll(key.remembered.values());
    rows.sort(ORDER);
    return rows;
  }

  /**
   * The state that those rows hold.
   *
   * @throws IllegalArgumentException if they are not the whole state of that key
   */
  public static KeyState load(String key, List<Row> rows) {
    List<Row> ordered = new ArrayList<>(rows);
    ordered.sort(ORDER);
    if (ordered.isEmpty()
        || !(ordered.get(0) instanceof KeyRow first)
        || !first.key().equals(key)) {
      throw new IllegalArgumentException(
          "Expected the rows of key "
              + key
              + " with its key row, but found "
              + rows.size()
              + " rows without it");
    }
    KeyState state = new KeyState(key);
    for (Row row : ordered) {
      load(state, row);
    }
    return state;
  }

  private static void load(KeyState state, Row row) {
    if (row instanceof KeyRow r) {
      state.sequence = r.sequence();
      state.nowMs = r.nowMs();
      state.epoch = r.epoch();
      state.salt = r.salt();
    } else if (row instanceof DefinitionRow r) {
      QuotaState quota = new QuotaState(state);
      quota.definition = r.definition();
      quota.policy = QuotaPolicy.of(r.definition());
      state.quotas.put(quota.id(), quota);
      state.linkAlso(quota);
      Parts.define(quota);
    } else if (row instanceof BalanceRow r) {
      loadBalance(quotaOf(state, row), r);
    } else if (row instanceof TenantRow r) {
      loadTenant(quotaOf(state, row).tenant(r.tenant()), r);
    } else if (row instanceof ReserveRow r) {
      ShareBuckets reserve = quotaOf(state, row).reserves().of(r.leaseClass());
      load(reserve, r.refilledAtMs(), r.buckets());
    } else if (row instanceof RetriesRow r) {
      state.indexRetries(r);
    } else if (row instanceof BreakerRow r) {
      quotaOf(state, row).breaker = r.state();
    } else if (row instanceof TrafficRow r) {
      quotaOf(state, row).traffic = r.traffic();
    } else if (row instanceof ShareRow r) {
      quotaOf(state, row).shares.set(r.agentId(), r.share());
    } else if (row instanceof TaskRow r) {
      state.indexTask(r);
    } else if (row instanceof RememberedRow r) {
      state.indexRemembered(r);
    } else if (row instanceof FlowRow r) {
      TenantState tenant = quotaOf(state, row).tenant(r.tenant());
      tenant.flows.put(r.agentId(), r.finishTag(), r.shift(), r.keptUntilMs());
    } else if (row instanceof OutputsRow r) {
      quotaOf(state, row).statistics.load(r);
    } else if (row instanceof RoleRow r) {
      quotaOf(state, row).statistics.load(r);
    } else if (row instanceof AgentRow r) {
      quotaOf(state, row).statistics.load(r);
    } else if (row instanceof AlertRow r) {
      QuotaState quota = quotaOf(state, row);
      quota.alerts.put(r);
      if (r.kind() == AlertKind.ESTIMATE_ERROR) {
        quota.statistics.loadAlert(r.subject());
      }
    } else if (row instanceof LeaseRow r) {
      LeaseApplier.indexLease(state, quotaOf(state, row), r.lease());
    } else if (row instanceof WaiterRow r) {
      QuotaState quota = quotaOf(state, row);
      Waiter waiter = FlowTags.asItStands(quota, r.waiter());
      LineApplier.indexWaiter(state, quota, waiter, KeyState.identityOf(waiter));
    }
  }

  private static QuotaState quotaOf(KeyState state, Row row) {
    QuotaState quota = state.quotas.get(row.id().quotaId());
    if (quota == null) {
      throw new IllegalArgumentException(
          "Expected a definition row of quota "
              + row.id().quotaId()
              + " beside "
              + row.id()
              + ", but found none");
    }
    return quota;
  }

  private static void loadTenant(TenantState tenant, TenantRow r) {
    tenant.virtualTime = r.virtualTime();
    tenant.tag = r.tag();
    if (tenant.ceiling != null) {
      load(tenant.ceiling, r.refilledAtMs(), r.buckets());
    }
  }

  private static void load(ShareBuckets share, long refilledAtMs, List<BucketRow> rows) {
    share.refilledAtMs = refilledAtMs;
    for (BucketRow b : rows) {
      share.buckets[b.dimension().ordinal()] = new Bucket(b.balance(), b.remainder(), b.clipped());
    }
  }

  static TenantRow tenantRow(QuotaState quota, TenantState tenant) {
    return new TenantRow(
        quota.id(),
        tenant.name,
        tenant.virtualTime,
        tenant.tag,
        tenant.ceiling == null ? 0 : tenant.ceiling.refilledAtMs,
        tenant.ceiling == null ? List.of() : bucketRows(tenant.ceiling));
  }

  static ReserveRow reserveRow(QuotaState quota, String leaseClass) {
    ShareBuckets reserve = quota.reserves().of(leaseClass);
    return new ReserveRow(quota.id(), leaseClass, reserve.refilledAtMs, bucketRows(reserve));
  }

  private static List<BucketRow> bucketRows(ShareBuckets share) {
    List<BucketRow> rows = new ArrayList<>();
    for (int i = 0; i < Dimension.count(); i++) {
      Bucket bucket = share.buckets[i];
      if (bucket != null) {
        rows.add(
            new BucketRow(
                Dimension.of(i),
                bucket.balance(),
                bucket.remainder(),
                null,
                null,
                bucket.clipped(),
                null,
                null,
                null,
                OutsideRate.NONE,
                null));
      }
    }
    return List.copyOf(rows);
  }

  static BalanceRow balanceRow(QuotaState quota) {
    List<BucketRow> buckets = new ArrayList<>();
    for (int i = 0; i < Dimension.count(); i++) {
      Bucket bucket = quota.buckets[i];
      if (bucket != null) {
        buckets.add(
            new BucketRow(
                Dimension.of(i),
                bucket.balance(),
                bucket.remainder(),
                quota.learnedLimits[i],
                quota.absorbedBeforeMs[i],
                bucket.clipped(),
                quota.modes[i],
                quota.answeredAtMs[i],
                quota.resetAtMs[i],
                quota.outside[i],
                quota.learnedAtMs[i]));
      }
    }
    return new BalanceRow(
        quota.id(),
        quota.removed,
        List.copyOf(buckets),
        quota.refilledAtMs,
        quota.marginBp,
        quota.lastCutAtMs,
        quota.restoreFromMs,
        quota.holdUntilMs,
        quota.holdReason,
        quota.overloads,
        quota.tenant(OrderPolicy.DEFAULT_TENANT).virtualTime,
        quota.arrivals,
        quota.sendDelayMeanUs,
        quota.sendDelayMaxMs,
        quota.lastSignalSentAtMs,
        quota.zMilli,
        quota.zFallsFromMs,
        quota.floorSinceMs,
        quota.calls.row(quota.topVirtualTime));
  }

  private static void loadBalance(QuotaState quota, BalanceRow r) {
    for (BucketRow b : r.buckets()) {
      int i = b.dimension().ordinal();
      quota.buckets[i] = new Bucket(b.balance(), b.remainder(), b.clipped());
      quota.learnedLimits[i] = b.learnedLimit();
      // Rows written before that was noted: from the last command on.
      boolean unnoted = b.learnedLimit() != null && b.learnedAtMs() == null;
      quota.learnedAtMs[i] = unnoted ? (Long) r.refilledAtMs() : b.learnedAtMs();
      quota.absorbedBeforeMs[i] = b.absorbedBeforeMs();
      // Rows written before there were modes: RATE was the only one.
      boolean unnamed = b.mode() == null && b.dimension().refills();
      quota.modes[i] = unnamed ? MarginModeName.RATE : b.mode();
      quota.answeredAtMs[i] = b.answeredAtMs();
      quota.resetAtMs[i] = b.resetAtMs();
      quota.outside[i] = b.outside();
    }
    quota.removed = r.removed();
    quota.refilledAtMs = r.refilledAtMs();
    quota.marginBp = r.marginBp();
    quota.lastCutAtMs = r.lastCutAtMs();
    quota.restoreFromMs = r.restoreFromMs();
    quota.holdUntilMs = r.holdUntilMs();
    quota.holdReason = r.holdReason();
    quota.overloads = r.overloads();
    quota.tenant(OrderPolicy.DEFAULT_TENANT).virtualTime = r.virtualTime();
    quota.topVirtualTime = r.order().topVirtualTime();
    quota.calls.load(r.order());
    quota.arrivals = r.arrivals();
    quota.sendDelayMeanUs = r.sendDelayMeanUs();
    quota.sendDelayMaxMs = r.sendDelayMaxMs();
    quota.lastSignalSentAtMs = r.lastSignalSentAtMs();
    quota.zMilli = r.zMilli();
    quota.zFallsFromMs = r.zFallsFromMs();
    quota.floorSinceMs = r.floorSinceMs();
  }
}
