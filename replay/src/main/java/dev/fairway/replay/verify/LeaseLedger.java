package dev.fairway.replay.verify;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRenewed;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseRow;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.LeaseStatus;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.SettlementShift;
import dev.fairway.schemas.TakenRow;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The leases of one key: what each holds, and how it ended. */
final class LeaseLedger {
  /**
   * How long a request is remembered after its end; then its id, and its lease's, may come again.
   */
  private static final long REMEMBERED_MS = 600_000;

  /** Of these a call used what is told of it, and no more. */
  private static final Set<Outcome> NOTHING_USED =
      EnumSet.of(Outcome.NOT_SENT, Outcome.RATE_LIMITED, Outcome.OVERLOADED);

  /** No window for late settlements is longer than this. */
  private static final long LATE_WINDOW_MS_MAX = 24L * 3_600_000;

  /**
   * What a lease holds.
   *
   * @param amounts charged, less what was adjusted since
   * @param endedAtMs when it was reaped or settled, or null while it is open
   */
  record Held(
      String quotaId,
      String agentId,
      String requestId,
      long grantedAtMs,
      Amounts amounts,
      Long endedAtMs,
      String tenant,
      String leaseClass,
      TakenRow taken) {
    Held holding(Amounts now) {
      return holding(now, taken);
    }

    Held holding(Amounts now, TakenRow nowTaken) {
      return new Held(
          quotaId, agentId, requestId, grantedAtMs, now, endedAtMs, tenant, leaseClass, nowTaken);
    }

    Held endedAt(long atMs) {
      return new Held(
          quotaId, agentId, requestId, grantedAtMs, amounts, atMs, tenant, leaseClass, taken);
    }

    /** What it holds of other quotas, by quota id. */
    Map<String, Amounts> also() {
      return taken == null ? Map.of() : taken.getAlso();
    }
  }

  private final Map<String, Held> open = new HashMap<>();
  private final LinkedHashMap<String, Held> expired = new LinkedHashMap<>();
  private final LinkedHashMap<String, Held> settled = new LinkedHashMap<>();
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
            row.getEndedAtMs(),
            row.getStanding() == null ? null : row.getStanding().getTenant(),
            row.getStanding() == null ? null : row.getStanding().getClass$(),
            row.getTaken());
    if (row.getStatus() == LeaseStatus.OPEN) {
      open.put(row.getLeaseId(), held);
    } else {
      (row.getStatus() == LeaseStatus.EXPIRED ? expired : settled).put(row.getLeaseId(), held);
    }
  }

  /** Takes over how leases ended that a snapshot has forgotten. */
  void keepEndedOf(LeaseLedger before) {
    before.expired.forEach(expired::putIfAbsent);
    before.settled.forEach(settled::putIfAbsent);
  }

  void grant(LeaseGranted e) {
    String id = e.getLeaseId();
    boolean spent = remembered(settled.remove(id), e) || remembered(expired.remove(id), e);
    if (spent || open.containsKey(id)) {
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
            null,
            e.getOrder() == null ? null : e.getOrder().getTenant(),
            e.getOrder() == null ? null : e.getOrder().getClass$(),
            e.getTaken()));
  }

  private static boolean remembered(Held ended, LeaseGranted e) {
    return ended != null && e.getGrantedAtMs() < ended.endedAtMs() + REMEMBERED_MS;
  }

  /** What open leases of a quota hold of a dimension. */
  long held(String quotaId, int dimension) {
    long sum = 0;
    for (Held held : open.values()) {
      sum += held.quotaId().equals(quotaId) ? LedgerRules.amount(held.amounts(), dimension) : 0;
      sum += LedgerRules.amount(held.also().get(quotaId), dimension);
    }
    return sum;
  }

  /** Open leases of a tenant. */
  long open(String quotaId, String tenant) {
    return open.values().stream()
        .filter(held -> held.quotaId().equals(quotaId) && tenant.equals(held.tenant()))
        .count();
  }

  /** Each open lease of a quota holds a slot from now on. */
  void takeSlots(String quotaId) {
    open.replaceAll(
        (id, held) ->
            held.quotaId().equals(quotaId) ? held.holding(withSlot(held.amounts())) : held);
  }

  private static Amounts withSlot(Amounts amounts) {
    return new Amounts(
        amounts.getRequests(),
        amounts.getInputTokens(),
        amounts.getOutputTokens(),
        amounts.getTokens(),
        1L);
  }

  /** What the lease held, or null if it was not open. */
  Held renew(LeaseRenewed e) {
    Held held = open.get(e.getLeaseId());
    if (held == null) {
      wrong.accept("lease " + e.getLeaseId() + ": expected an open lease to renew");
      return null;
    }
    open.put(
        e.getLeaseId(),
        held.holding(minus(held.amounts(), e.getAdjusted()), left(held.taken(), e.getShift())));
    return held;
  }

  private void checkNoRefund(LeaseExpired e, Amounts adjusted) {
    for (int d = 0; d < LedgerRules.NAMES.length; d++) {
      if (LedgerRules.amount(adjusted, d) > 0) {
        wrong.accept(
            "lease " + e.getLeaseId() + ": expected no refund when it expires, but found " + e);
      }
    }
  }

  private static TakenRow left(TakenRow taken, SettlementShift shift) {
    return shift == null
        ? taken
        : left(taken, shift.getAlso(), shift.getReserve(), shift.getCeiling());
  }

  private static TakenRow left(
      TakenRow taken, Map<String, Amounts> shifts, Amounts reserve, Amounts ceiling) {
    if (taken == null) {
      return null;
    }
    Map<String, Amounts> also = new TreeMap<>(taken.getAlso());
    shifts.forEach((id, adjusted) -> also.computeIfPresent(id, (i, a) -> minus(a, adjusted)));
    return new TakenRow(
        also,
        reserve == null ? taken.getReserve() : minus(taken.getReserve(), reserve),
        ceiling == null ? taken.getCeiling() : minus(taken.getCeiling(), ceiling),
        taken.getOutOfReserve(),
        taken.getPassed(),
        taken.getPassedSmall());
  }

  /**
   * What the lease held, or null if it was not open or expired.
   *
   * @param quotas ledgers of the key's quotas as far as they are known, by quota id
   * @param inputTold whether the settlement says what input the call used; else each quota keeps
   *     what it holds, which differs once a header of one of them told more
   */
  Held settle(LeaseSettled e, Map<String, QuotaLedger> quotas, boolean inputTold, long atMs) {
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
      checkNet(e, held, quotas.get(e.getQuota()), atMs, d);
      checkShift(e, held, quotas, inputTold, atMs, d);
    }
    settled.remove(id);
    settled.put(id, held.endedAt(atMs));
    return held;
  }

  /** What the lease held, or null if it was not open. */
  Held expire(LeaseExpired e, long atMs) {
    Held held = open.remove(e.getLeaseId());
    if (held == null) {
      wrong.accept("lease " + e.getLeaseId() + ": expected an open lease to expire");
      return null;
    }
    checkNoRefund(e, e.getAdjusted());
    checkNoRefund(e, e.getCeiling());
    checkNoRefund(e, e.getReserve());
    e.getAlso().values().forEach(adjusted -> checkNoRefund(e, adjusted));
    TakenRow left = left(held.taken(), e.getAlso(), e.getReserve(), e.getCeiling());
    Held more = held.holding(minus(held.amounts(), e.getAdjusted()), left);
    expired.put(e.getLeaseId(), more.endedAt(atMs));
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

  /** Forgets what can no longer matter at that time. */
  void forget(long nowMs) {
    forget(settled, nowMs - REMEMBERED_MS);
    forget(expired, nowMs - LATE_WINDOW_MS_MAX - REMEMBERED_MS);
  }

  private static void forget(LinkedHashMap<String, Held> ended, long beforeMs) {
    Iterator<Held> oldest = ended.values().iterator();
    while (oldest.hasNext() && oldest.next().endedAtMs() < beforeMs) {
      oldest.remove();
    }
  }

  /** Whether charge and settlement come to what the call used, once. */
  private void checkNet(LeaseSettled e, Held held, QuotaLedger quota, long atMs, int d) {
    if (d == LedgerRules.CONCURRENCY || quota == null || !quota.limited(d)) {
      return;
    }
    long holds = LedgerRules.amount(held.amounts(), d);
    long actual = LedgerRules.amount(e.getActual(), d);
    long adjusted = LedgerRules.amount(e.getAdjusted(), d);
    boolean absorbed = adjusted == 0 && quota.mayBeAbsorbed(d, held.grantedAtMs());
    long due = holds > actual && quota.cameBack(d, held.grantedAtMs(), atMs) ? 0 : holds - actual;
    if (adjusted != due && !absorbed) {
      wrong.accept(
          "lease "
              + e.getLeaseId()
              + ": expected an adjustment of "
              + due
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

  /**
   * Whether what is moved elsewhere follows from what was taken there and what the call used. No
   * provider tells of a reserve or a ceiling, so that a call of which nobody told the input counts
   * there for as large as calls usually are, and no less than it is charged; of another quota the
   * provider may have told the call already.
   */
  private void checkShift(
      LeaseSettled e,
      Held held,
      Map<String, QuotaLedger> quotas,
      boolean inputTold,
      long atMs,
      int d) {
    Long actual = LedgerRules.value(e.getActual(), d);
    if (d == LedgerRules.CONCURRENCY || held.taken() == null || actual == null) {
      return;
    }
    SettlementShift shift = e.getShift();
    boolean more = !inputTold && !NOTHING_USED.contains(e.getOutcome());
    Long ceiling = LedgerRules.value(held.taken().getCeiling(), d);
    if (ceiling != null) {
      Amounts found = shift == null ? null : shift.getCeiling();
      long due = ceiling - actual;
      long moved = LedgerRules.amount(found, d);
      expect(e, d, "tenant's bucket", more ? Math.min(due, moved) : due, found);
    }
    Long paid = LedgerRules.value(held.taken().getReserve(), d);
    if (paid != null) {
      Amounts found = shift == null ? null : shift.getReserve();
      long used = held.taken().getOutOfReserve() ? actual : Math.min(paid, actual);
      long due = paid - used;
      long moved = LedgerRules.amount(found, d);
      expect(e, d, "reserve", more ? Math.min(due, moved) : due, found);
    }
    held.also()
        .forEach(
            (id, amounts) -> {
              Long holds = LedgerRules.value(amounts, d);
              QuotaLedger other = quotas.get(id);
              boolean known = other != null && shift != null && shift.getAlso().containsKey(id);
              if (holds != null && known) {
                Amounts moved = shift.getAlso().get(id);
                boolean absorbed =
                    LedgerRules.amount(moved, d) == 0 && other.mayBeAbsorbed(d, held.grantedAtMs());
                boolean back = other.limited(d) && other.cameBack(d, held.grantedAtMs(), atMs);
                long own = LedgerRules.amount(held.amounts(), d) - actual;
                boolean kept =
                    !inputTold && LedgerRules.amount(moved, d) == (back ? Math.min(own, 0) : own);
                if (!absorbed && !kept) {
                  long due = back ? Math.min(holds - actual, 0) : holds - actual;
                  expect(e, d, "quota " + id, due, moved);
                }
              }
            });
  }

  private void expect(LeaseSettled e, int d, String where, long adjustment, Amounts found) {
    if (LedgerRules.amount(found, d) != adjustment) {
      wrong.accept(
          "lease "
              + e.getLeaseId()
              + ": expected an adjustment of "
              + adjustment
              + " "
              + LedgerRules.NAMES[d]
              + " in the "
              + where
              + ", but found "
              + found);
    }
  }

  private static Amounts minus(Amounts a, Amounts b) {
    Amounts difference = new Amounts();
    for (int d = 0; d < LedgerRules.NAMES.length; d++) {
      if (LedgerRules.value(a, d) != null || LedgerRules.value(b, d) != null) {
        difference.put(d, LedgerRules.amount(a, d) - LedgerRules.amount(b, d));
      }
    }
    return difference;
  }
}
