package dev.fairway.replay.verify;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRenewed;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseRow;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.LeaseStatus;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The leases of one key: what each holds, and how it ended. */
final class LeaseLedger {
  /** How long an ended lease can still be told from a new one; far longer than any late window. */
  private static final long ENDED_KEPT_MS = 26L * 3_600_000;

  /**
   * What a lease holds.
   *
   * @param amounts charged, less what was adjusted since
   * @param expired whether it was reaped
   */
  record Held(
      String quotaId,
      String agentId,
      String requestId,
      long grantedAtMs,
      Amounts amounts,
      boolean expired) {
    Held expire() {
      return new Held(quotaId, agentId, requestId, grantedAtMs, amounts, true);
    }
  }

  private final Map<String, Held> open = new HashMap<>();
  private final Map<String, Held> expired = new HashMap<>();
  private final Map<String, Held> settled = new HashMap<>();
  private final LinkedHashMap<String, Long> endedAtMs = new LinkedHashMap<>();
  private final Consumer<String> wrong;

  LeaseLedger(Consumer<String> wrong) {
    this.wrong = wrong;
  }

  void load(LeaseRow row) {
    Held held =
        new Held(
            row.getRequest().getQuota(),
            row.getRequest().getAgentId(),
            row.getRequest().getRequestId(),
            row.getGrantedAtMs(),
            row.getCharged(),
            row.getStatus() == LeaseStatus.EXPIRED);
    if (row.getStatus() == LeaseStatus.OPEN) {
      open.put(row.getLeaseId(), held);
    } else {
      (held.expired() ? expired : settled).put(row.getLeaseId(), held);
      endedAtMs.put(row.getLeaseId(), row.getEndedAtMs());
    }
  }

  void grant(LeaseGranted e) {
    String id = e.getLeaseId();
    if (open.containsKey(id) || endedAtMs.containsKey(id)) {
      wrong.accept("lease " + id + ": expected a new id, but it was granted before");
    }
    open.put(
        id,
        new Held(
            e.getQuota(),
            e.getAgentId(),
            e.getRequestId(),
            e.getGrantedAtMs(),
            e.getCharged(),
            false));
  }

  void renew(LeaseRenewed e) {
    Held held = open.get(e.getLeaseId());
    if (held == null) {
      wrong.accept("lease " + e.getLeaseId() + ": expected an open lease to renew");
      return;
    }
    Held left =
        new Held(
            held.quotaId(),
            held.agentId(),
            held.requestId(),
            held.grantedAtMs(),
            minus(held.amounts(), e.getAdjusted()),
            false);
    open.put(e.getLeaseId(), left);
  }

  /** What the lease held, or null if it was not open or expired. */
  Held settle(LeaseSettled e, QuotaLedger quota, long atMs) {
    String id = e.getLeaseId();
    Held held = e.getLate() ? expired.remove(id) : open.remove(id);
    if (held == null) {
      wrong.accept(
          "lease "
              + id
              + ": expected an "
              + (e.getLate() ? "expired" : "open")
              + " lease to settle, but it is "
              + (settled.containsKey(id) ? "settled already" : "none"));
      return null;
    }
    for (int d = 0; d < LedgerRules.NAMES.length; d++) {
      checkNet(e, held, quota, d);
    }
    settled.put(id, held);
    end(id, atMs);
    return held;
  }

  /** What the lease held, or null if it was not open. */
  Held expire(LeaseExpired e, long atMs) {
    Held held = open.remove(e.getLeaseId());
    if (held == null) {
      wrong.accept("lease " + e.getLeaseId() + ": expected an open lease to expire");
      return null;
    }
    expired.put(e.getLeaseId(), held.expire());
    end(e.getLeaseId(), atMs);
    return held;
  }

  /** Whether that lease was one of that request. */
  boolean wasRequestOf(String leaseId, LeaseRequest request) {
    Held held = settled.get(leaseId);
    return held != null
        && held.agentId().equals(request.getAgentId())
        && held.requestId().equals(request.getRequestId());
  }

  void compare(Map<String, Amounts> theirs) {
    if (!theirs.keySet().equals(open.keySet())) {
      wrong.accept(
          "snapshot: expected open leases "
              + new TreeMap<>(open).keySet()
              + ", but found "
              + new TreeMap<>(theirs).keySet());
      return;
    }
    theirs.forEach(
        (id, amounts) -> {
          if (!amounts.equals(open.get(id).amounts())) {
            wrong.accept(
                "snapshot: expected lease "
                    + id
                    + " to hold "
                    + open.get(id).amounts()
                    + ", but found "
                    + amounts);
          }
        });
  }

  void forgetEndedBefore(long nowMs) {
    Iterator<Map.Entry<String, Long>> oldest = endedAtMs.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<String, Long> entry = oldest.next();
      if (entry.getValue() > nowMs - ENDED_KEPT_MS) {
        return;
      }
      expired.remove(entry.getKey());
      settled.remove(entry.getKey());
      oldest.remove();
    }
  }

  /** Whether charge and settlement come to what the call used, once. */
  private void checkNet(LeaseSettled e, Held held, QuotaLedger quota, int d) {
    if (d == LedgerRules.CONCURRENCY || quota == null || !quota.limited(d)) {
      return;
    }
    long holds = LedgerRules.amount(held.amounts(), d);
    long actual = LedgerRules.amount(e.getActual(), d);
    long adjusted = LedgerRules.amount(e.getAdjusted(), d);
    boolean absorbed = adjusted == 0 && quota.mayBeAbsorbed(d, held.grantedAtMs());
    if (adjusted != holds - actual && !absorbed) {
      wrong.accept(
          "lease "
              + e.getLeaseId()
              + ": expected an adjustment of "
              + (holds - actual)
              + " "
              + LedgerRules.NAMES[d]
              + " (held "
              + holds
              + ", used "
              + actual
              + "), but found "
              + adjusted);
    }
  }

  private void end(String id, long atMs) {
    endedAtMs.remove(id);
    endedAtMs.put(id, atMs);
  }

  private static Amounts minus(Amounts a, Amounts b) {
    Amounts difference = Amounts.newBuilder(a).build();
    for (int d = 0; d < LedgerRules.NAMES.length; d++) {
      if (LedgerRules.value(a, d) != null || LedgerRules.value(b, d) != null) {
        difference.put(d, LedgerRules.amount(a, d) - LedgerRules.amount(b, d));
      }
    }
    return difference;
  }
}
