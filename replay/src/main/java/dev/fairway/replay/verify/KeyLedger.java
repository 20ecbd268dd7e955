package dev.fairway.replay.verify;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.BalanceRow;
import dev.fairway.schemas.BucketsResynced;
import dev.fairway.schemas.DefinitionRow;
import dev.fairway.schemas.Lane;
import dev.fairway.schemas.LeaseCancelled;
import dev.fairway.schemas.LeaseEnqueued;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRenewed;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseRow;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.LeaseStatus;
import dev.fairway.schemas.LimitForgotten;
import dev.fairway.schemas.LimitLearned;
import dev.fairway.schemas.MarginCut;
import dev.fairway.schemas.MarginModeChanged;
import dev.fairway.schemas.MarginRestored;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaDefined;
import dev.fairway.schemas.QuotaRemoved;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.ReserveRow;
import dev.fairway.schemas.ResetLearned;
import dev.fairway.schemas.SettleLease;
import dev.fairway.schemas.SettlementShift;
import dev.fairway.schemas.StateRow;
import dev.fairway.schemas.TenantRow;
import dev.fairway.schemas.UnleasedCharged;
import dev.fairway.schemas.WaiterRow;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** The ledger of one key: its quotas' balances, its leases and who waits. */
final class KeyLedger {
  private record Asked(String agentId, String requestId) {}

  private record Waiting(String quotaId, int attempt) {}

  private final String key;
  private final Consumer<String> wrong;
  private final Map<String, QuotaLedger> quotas = new HashMap<>();
  private final Set<String> removed = new HashSet<>();
  private final Set<String> unknown = new HashSet<>();
  private final Map<Asked, Waiting> waiting = new HashMap<>();
  private final LeaseLedger leases;
  private String who = "";

  KeyLedger(String key, Consumer<String> wrong) {
    this.key = key;
    this.wrong = finding -> wrong.accept(who + finding);
    this.leases = new LeaseLedger(this.wrong);
  }

  /**
   * Loads a snapshot.
   *
   * @param before what was known until now, or null: ids of leases that ended stay taken
   */
  void load(List<StateRow> rows, KeyLedger before) {
    Map<String, Quota> definitions = new HashMap<>();
    for (StateRow row : rows) {
      if (row.getRow() instanceof DefinitionRow r) {
        definitions.put(r.getDefinition().getId(), r.getDefinition());
      }
    }
    for (StateRow row : rows) {
      if (row.getRow() instanceof BalanceRow r) {
        quotas.put(r.getQuota(), new QuotaLedger(definitions.get(r.getQuota()), r, this.wrong));
        if (r.getRemoved()) {
          removed.add(r.getQuota());
        }
      } else if (row.getRow() instanceof LeaseRow r) {
        leases.load(r);
      } else if (row.getRow() instanceof WaiterRow r) {
        waiting.put(asked(r.getRequest()), waiting(r));
      }
    }
    for (StateRow row : rows) {
      if (row.getRow() instanceof TenantRow r) {
        quotas.get(r.getQuota()).load(r);
      } else if (row.getRow() instanceof ReserveRow r) {
        quotas.get(r.getQuota()).load(r);
      }
    }
    if (before != null) {
      leases.keepEndedOf(before.leases);
    }
  }

  void fold(AdmissionEvent record) {
    who = "key " + key + ", sequence " + record.getSequence() + ": ";
    quotas.values().forEach(quota -> quota.advance(record.getAtMs()));
    leases.forget(record.getAtMs());
    for (Object event : record.getEvents()) {
      if (!foldQuestion(record, event) && !foldLease(record, event)) {
        foldQuota(record, event);
      }
    }
  }

  void compare(List<StateRow> rows) {
    who = "key " + key + ": ";
    Set<Asked> waiters = new HashSet<>();
    Map<String, Amounts> open = new HashMap<>();
    for (StateRow row : rows) {
      if (row.getRow() instanceof BalanceRow r) {
        QuotaLedger quota = quotas.get(r.getQuota());
        if (quota != null) {
          quota.compare(r);
        }
      } else if (row.getRow() instanceof TenantRow r) {
        quota(r.getQuota()).ifKnown(q -> q.compare(r));
      } else if (row.getRow() instanceof ReserveRow r) {
        quota(r.getQuota()).ifKnown(q -> q.compare(r));
      } else if (row.getRow() instanceof WaiterRow r) {
        waiters.add(asked(r.getRequest()));
      } else if (row.getRow() instanceof LeaseRow r && r.getStatus() == LeaseStatus.OPEN) {
        open.put(r.getLeaseId(), r.getCharged());
      }
    }
    if (!waiters.equals(waiting.keySet())) {
      wrong.accept("snapshot: expected " + waiting.keySet() + " to wait, but found " + waiters);
    }
    leases.compare(open);
  }

  private boolean foldQuestion(AdmissionEvent record, Object event) {
    if (event instanceof LeaseEnqueued e) {
      enqueue(record, e.getWaiter());
    } else if (event instanceof LeaseRejected e) {
      leave(e.getAgentId(), e.getRequestId(), e.getQuota());
    } else if (event instanceof LeaseCancelled e) {
      boolean waited = leave(e.getAgentId(), e.getRequestId(), e.getQuota()) != null;
      if (waited != e.getWasWaiting()) {
        wrong.accept("expected was_waiting " + waited + ", but found " + e);
      }
    } else {
      return false;
    }
    return true;
  }

  /** Who waited there, or null. */
  private Waiting leave(String agentId, String requestId, String quotaId) {
    Asked asked = new Asked(agentId, requestId);
    Waiting waited = waiting.get(asked);
    return waited != null && waited.quotaId().equals(quotaId) ? waiting.remove(asked) : null;
  }

  private static Waiting waiting(WaiterRow row) {
    return new Waiting(row.getRequest().getQuota(), row.getAttempt());
  }

  private void enqueue(AdmissionEvent record, WaiterRow waiter) {
    LeaseRequest request = waiter.getRequest();
    boolean requested =
        record.getCommand() instanceof RequestLease c && c.getRequest().equals(request);
    boolean requeued =
        record.getCommand() instanceof SettleLease c
            && c.getSettlement().getRequeue()
            && waiter.getAttempt() > 1
            && leases.wasRequestOf(c.getSettlement().getLeaseId(), request);
    if (!requested && !requeued) {
      wrong.accept("expected a request or a requeue before " + asked(request) + " is enqueued");
    }
    if (waiting.put(asked(request), waiting(waiter)) != null) {
      wrong.accept("expected " + asked(request) + " to wait once, but it is enqueued again");
    }
  }

  private boolean foldLease(AdmissionEvent record, Object event) {
    if (event instanceof LeaseGranted e) {
      grant(record, e);
    } else if (event instanceof LeaseRenewed e) {
      LeaseLedger.Held held = leases.renew(e);
      quota(e.getQuota())
          .ifKnown(
              q -> {
                q.adjust(e.getAdjusted());
                if (held != null) {
                  q.shift(held.tenant(), held.leaseClass(), e.getShift());
                }
              });
      adjustAlso(e.getShift());
    } else if (event instanceof LeaseSettled e) {
      settle(record, e);
    } else if (event instanceof LeaseExpired e) {
      LeaseLedger.Held held = leases.expire(e, record.getAtMs());
      if (held != null) {
        expire(e, held);
      }
    } else {
      return false;
    }
    return true;
  }

  private void grant(AdmissionEvent record, LeaseGranted e) {
    String lease = "lease " + e.getLeaseId();
    Waiting waited = leave(e.getAgentId(), e.getRequestId(), e.getQuota());
    if (waited == null) {
      wrong.accept(lease + ": expected a waiting request, but " + e.getRequestId() + " is none");
    }
    if (e.getGrantedAtMs() != record.getAtMs()) {
      wrong.accept(
          lease
              + ": expected a grant at "
              + record.getAtMs()
              + ", but found "
              + e.getGrantedAtMs());
    }
    leases.grant(e);
    if (waited != null) {
      take(lease, e, waited);
    }
  }

  /** All that a lease takes is there, in every quota that it takes from, or none of it is taken. */
  private void take(String lease, LeaseGranted e, Waiting waited) {
    Map<String, Amounts> also = e.getTaken() == null ? Map.of() : e.getTaken().getAlso();
    boolean outOfReserve = e.getOrder() != null && e.getOrder().getLane() == Lane.RESERVE;
    String leaseClass = e.getOrder() == null ? null : e.getOrder().getClass$();
    String tenant = e.getOrder() == null ? null : e.getOrder().getTenant();
    quota(e.getQuota())
        .ifKnown(
            q -> {
              if (!also.keySet().equals(new HashSet<>(q.also()))) {
                wrong.accept(
                    lease + ": expected charges in " + q.also() + " too, but found " + also);
              }
              String reserveOf = waited.attempt() > 1 ? null : leaseClass;
              q.checkFits(lease, e.getCharged(), reserveOf);
              q.take(lease, e.getCharged(), tenant, leaseClass, e.getTaken(), outOfReserve);
              q.charge(e.getCharged());
            });
    also.forEach(
        (id, charge) ->
            quota(id)
                .ifKnown(
                    q -> {
                      q.checkFits(lease + " in " + id, charge, null);
                      q.charge(charge);
                    }));
  }

  private void adjustAlso(SettlementShift shift) {
    if (shift != null) {
      shift.getAlso().forEach((id, adjusted) -> quota(id).ifKnown(q -> q.adjust(adjusted)));
    }
  }

  private void freeSlots(LeaseLedger.Held held) {
    quota(held.quotaId())
        .ifKnown(
            q -> {
              q.freeSlots(held.amounts());
              q.freeCeilingSlot(held.tenant());
            });
    held.also().forEach((id, amounts) -> quota(id).ifKnown(q -> q.freeSlots(amounts)));
  }

  private void expire(LeaseExpired e, LeaseLedger.Held held) {
    quota(e.getQuota())
        .ifKnown(
            q -> {
              if (e.getAdjusted() != null) {
                q.adjust(e.getAdjusted());
              }
              q.shift(
                  held.tenant(),
                  held.leaseClass(),
                  new SettlementShift(
                      e.getAlso(), e.getReserve(), e.getCeiling(), e.getTenantTag()));
            });
    e.getAlso().forEach((id, adjusted) -> quota(id).ifKnown(q -> q.adjust(adjusted)));
    freeSlots(held);
  }

  private static boolean inputTold(AdmissionEvent record) {
    return record.getCommand() instanceof SettleLease c
        && c.getSettlement().getUsage() != null
        && c.getSettlement().getUsage().getInputTokens() != null;
  }

  private void settle(AdmissionEvent record, LeaseSettled e) {
    QuotaLedger quota = quotas.get(e.getQuota());
    LeaseLedger.Held held = leases.settle(e, quotas, inputTold(record), record.getAtMs());
    if (quota != null) {
      quota.adjust(e.getAdjusted());
      if (held != null) {
        quota.shift(held.tenant(), held.leaseClass(), e.getShift());
      }
    }
    adjustAlso(e.getShift());
    if (held != null && held.endedAtMs() == null) {
      freeSlots(held);
    }
  }

  private void foldQuota(AdmissionEvent record, Object event) {
    if (event instanceof QuotaDefined e) {
      define(e.getDefinition(), record.getAtMs());
    } else if (event instanceof QuotaRemoved e) {
      removed.add(e.getQuota());
    } else if (event instanceof UnleasedCharged e) {
      quota(e.getQuota())
          .ifKnown(
              q -> {
                q.charge(e.getCharged());
                q.chargeUnleased(e);
              });
      e.getAlso().forEach((id, charge) -> quota(id).ifKnown(q -> q.charge(charge)));
    } else if (event instanceof MarginCut e) {
      quota(e.getQuota()).ifKnown(q -> q.margin("margin cut", e.getFromBp(), e.getToBp()));
    } else if (event instanceof MarginRestored e) {
      quota(e.getQuota()).ifKnown(q -> q.margin("margin restored", e.getFromBp(), e.getToBp()));
    } else if (event instanceof LimitLearned e) {
      quota(e.getQuota()).ifKnown(q -> q.learn(e.getDimension(), e.getLimit()));
    } else if (event instanceof LimitForgotten e) {
      quota(e.getQuota()).ifKnown(q -> q.forget("limit forgotten", e.getDimension()));
    } else if (event instanceof MarginModeChanged e) {
      quota(e.getQuota()).ifKnown(q -> q.mode("margin mode", e));
    } else if (event instanceof ResetLearned e) {
      quota(e.getQuota()).ifKnown(q -> q.reset(e.getDimension(), e.getResetAtMs()));
    } else if (event instanceof BucketsResynced e) {
      quota(e.getQuota()).ifKnown(q -> q.resync("resync", e));
    }
  }

  private void define(Quota definition, long atMs) {
    String id = definition.getId();
    if (removed.remove(id)) {
      // Its old state may or may not have been swept by now; the next snapshot will tell. It has
      // not where leases are open, and those take slots as in any other definition.
      QuotaLedger old = quotas.remove(id);
      if (old != null) {
        old.redefine(definition, leases);
      }
      unknown.add(id);
    }
    if (unknown.contains(id)) {
      return;
    }
    if (quotas.containsKey(id)) {
      quotas.get(id).redefine(definition, leases);
    } else {
      quotas.put(id, new QuotaLedger(definition, atMs, this.wrong));
    }
  }

  private Known quota(String id) {
    return new Known(quotas.get(id));
  }

  private static Asked asked(LeaseRequest request) {
    return new Asked(request.getAgentId(), request.getRequestId());
  }

  /** A quota's ledger, or none while its balance is not known. */
  private record Known(QuotaLedger ledger) {
    void ifKnown(Consumer<QuotaLedger> action) {
      if (ledger != null) {
        action.accept(ledger);
      }
    }
  }
}
