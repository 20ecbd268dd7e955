package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.OpaqueBytes;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.List;

/**
 * When a request will be granted if nobody else comes: the slowest bucket decides, for grants go
 * out in order and each takes from all buckets. A hold, and a breaker, come before all of it. A
 * concurrency slot adds nothing, nobody knows when a call ends, and neither does a pause, which an
 * operator ends. So 0 means that only such is waited for.
 */
public final class Eta {
  /** Longer waits are told as this one. */
  private static final long LONGEST_MS = 366L * 24 * 3_600_000;

  /** Where calls are looked at one by one, so many of those ahead are. */
  static final int ONE_BY_ONE = 64;

  /** Behind more than these, sums tell enough: a review of all ETAs must not cost 64 looks each. */
  static final int LONGEST_WALKED = 256;

  private Eta() {}

  /**
   * Milliseconds that a request waits at least, whether it is in line or not; 0 if no bucket and no
   * hold is in the way. It is what decides who is sent away, and when to come back: in a rolling
   * window what does not fit while large calls wait may be lost, and may be not, and who is told so
   * comes back too late (decision 23).
   */
  public static long leastMs(KeyState key, QuotaState quota, Waiter waiter, long atMs) {
    Ahead ahead = quota.order().ahead(waiter);
    SiblingLines siblings = new SiblingLines(key, quota, atMs);
    return waitMs(key, quota, waiter, ahead, new PassEta.Head(), siblings, false, atMs);
  }

  /** What the line of one quota is told at one time, while nothing changes. */
  public static final class Review {
    private final KeyState key;
    private final QuotaState quota;
    private final long atMs;
    private final PassEta.Head head = new PassEta.Head();
    private final SiblingLines siblings;

    /** A review at that time. */
    public Review(KeyState key, QuotaState quota, long atMs) {
      this.key = key;
      this.quota = quota;
      this.atMs = atMs;
      this.siblings = new SiblingLines(key, quota, atMs);
    }

    /** Milliseconds until a request of the line, behind those ahead of it, is granted. */
    public long waitMs(Waiter waiter, Ahead ahead) {
      return Eta.waitMs(key, quota, waiter, ahead, head, siblings, true, atMs);
    }
  }

  private static long waitMs(
      KeyState key,
      QuotaState quota,
      Waiter waiter,
      Ahead ahead,
      PassEta.Head head,
      SiblingLines siblings,
      boolean told,
      long atMs) {
    long inOrder = inOrderMs(quota, waiter, ahead, head, siblings, told, atMs);
    if (ahead.count() == 0 || inOrder <= 0) {
      return inOrder;
    }
    long startMs = startMs(quota, atMs);
    long passing = PassEta.waitMs(key, quota, waiter, head, atMs + startMs);
    passing = Amounts.saturatedAdd(passing, startMs);
    if (passing >= inOrder) {
      return inOrder;
    }
    passing = outOfGuardMs(quota, Math.max(passing, pacedMs(quota, atMs)), atMs);
    for (QuotaState other : quota.also()) {
      passing = outOfGuardMs(other, Math.max(passing, pacedMs(other, atMs)), atMs);
    }
    return Math.min(inOrder, passing);
  }

  /** Until a hold, a breaker or a ramp lets anybody go. */
  private static long pacedMs(QuotaState quota, long atMs) {
    long held = holdMs(quota, atMs);
    return Math.max(held, Ramps.waitMs(quota, 0, atMs + held, atMs));
  }

  private static long inOrderMs(
      QuotaState quota,
      Waiter waiter,
      Ahead ahead,
      PassEta.Head head,
      SiblingLines siblings,
      boolean told,
      long atMs) {
    long startMs = startMs(quota, atMs);
    long fromMs = atMs + startMs;
    long wait = Math.max(holdMs(quota, atMs), startMs + ceilingMs(quota, waiter, ahead, fromMs));
    wait = Math.max(wait, startMs + inQuotaMs(quota, waiter, ahead, head, told, fromMs));
    wait = Math.max(wait, ownRampMs(quota, ahead, atMs));
    wait = outOfGuardMs(quota, wait, atMs);
    if (quota.policy().order().also().isEmpty() || quota.also() == null) {
      return Math.min(wait, LONGEST_MS);
    }
    for (QuotaState other : quota.also()) {
      wait = Math.max(wait, holdMs(other, atMs));
      wait = Math.max(wait, rampMs(other, ahead, atMs));
      wait = Math.max(wait, startMs + inOtherMs(quota, other, waiter, ahead, siblings, fromMs));
      wait = outOfGuardMs(other, wait, atMs);
    }
    return Math.min(wait, LONGEST_MS);
  }

  /** Right after a reset nothing is granted. */
  private static long outOfGuardMs(QuotaState quota, long waitMs, long atMs) {
    return waitMs >= LONGEST_MS ? waitMs : quota.afterResetsMs(atMs + waitMs) - atMs;
  }

  private static long ownRampMs(QuotaState quota, Ahead ahead, long atMs) {
    List<QuotaState> also = quota.also() == null ? List.of() : quota.also();
    long phase = Ramps.phase(quota, also, ahead.demand());
    return Ramps.waitMs(quota, phase, atMs + holdMs(quota, atMs), atMs);
  }

  private static long rampMs(QuotaState other, Ahead ahead, long atMs) {
    long phase = Ramps.phase(other, ahead.demand());
    return Ramps.waitMs(other, phase, atMs + holdMs(other, atMs), atMs);
  }

  private static long inQuotaMs(
      QuotaState quota, Waiter waiter, Ahead ahead, PassEta.Head head, boolean told, long atMs) {
    // By sums alone who is told its wait may be sent away for another.
    boolean counts = told || quota.policy().rules().has(Rule.EXACT_ETA);
    long byTag = counts ? frontMs(quota, waiter, ahead, head, atMs) : 0;
    long byReserve = 0;
    boolean parts = !ahead.byTenant().isEmpty() || quota.reserves().any();
    boolean windowed =
        quota.policy().rules().has(Rule.EXACT_ETA)
            && quota.policy().window() != Window.TOKEN_BUCKET
            && ahead.count() <= LONGEST_WALKED;
    ReserveLanes lanes = quota.reserves().any() ? ReserveLanes.of(quota, waiter, ahead) : null;
    List<Amounts> first = windowed ? first(quota, ahead) : List.of();
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && quota.limits(d)) {
        if (parts) {
          PartsEta eta = new PartsEta(quota, waiter, ahead, lanes, d, atMs);
          byTag = Math.max(byTag, eta.byTagMs());
          byReserve = Math.max(byReserve, eta.byReserveMs());
        } else {
          long own = quota.need(d, waiter.standing().role(), waiter.estimate());
          long needed = Amounts.saturatedAdd(ahead.demand().get(d), own);
          byTag =
              Math.max(
                  byTag,
                  WindowEta.applies(quota, d, ahead, own)
                      ? WindowEta.waitMs(quota, d, ahead, first, own, atMs)
                      : quota.expectedMsUntil(d, needed, atMs));
        }
        if (quota.lastMinute().counts(d)) {
          long last =
              told
                  ? RollingEta.waitMs(quota, d, waiter, ahead, first, atMs)
                  : lastMinuteMs(quota, d, waiter, ahead.demand(), atMs);
          byTag = Math.max(byTag, last);
        }
        byReserve = Math.max(byReserve, lastMinuteMs(quota, d, waiter, ahead.inLanes(), atMs));
      }
    }
    return parts ? Math.min(byTag, byReserve) : byTag;
  }

  /**
   * Until the front goes, which ends the turns of all behind it. It may wait for more than sums
   * tell: for what its tenant's ceiling lets its tenant take, or for the part of its need that its
   * charge is not, which is there again for who comes next.
   */
  private static long frontMs(
      QuotaState quota, Waiter waiter, Ahead ahead, PassEta.Head head, long atMs) {
    boolean bySums = !quota.policy().rules().has(Rule.EXACT_ETA) && ahead.byTenant().isEmpty();
    if (bySums || quota.also() == null) {
      return 0;
    }
    Turns.Waiting front = head.at(quota, atMs);
    if (front == null || front.fit().dueMs() == PassEta.NEVER) {
      return 0;
    }
    long tag = quota.order().topTag(waiter);
    long frontTag = quota.order().topTag(front.head());
    boolean behind =
        frontTag < tag || (frontTag == tag && front.head().arrival() < waiter.arrival());
    return behind ? Math.max(0, front.fit().dueMs() - atMs) : 0;
  }

  /** What the first of those ahead take, in order. */
  private static List<Amounts> first(QuotaState quota, Ahead ahead) {
    List<Amounts> first = new ArrayList<>();
    int most = Math.min(ahead.count(), ONE_BY_ONE);
    if (most > 0) {
      quota
          .order()
          .forEach(
              (waiter, before) -> {
                first.add(waiter.estimate());
                return first.size() < most;
              });
    }
    return first;
  }

  /** Until who went before has left the last minute; what of the line is more than it refills. */
  private static long lastMinuteMs(
      QuotaState quota, Dimension d, Waiter waiter, Amounts before, long atMs) {
    if (!quota.lastMinute().counts(d)) {
      return 0;
    }
    Amounts charge = before.plus(waiter.estimate());
    return quota.lastMinute().dueMs(d, waiter.standing().role(), charge, atMs) - atMs;
  }

  /** Whether it is its tenant's own bucket that a wait is for. */
  public static boolean atCeiling(QuotaState quota, Waiter waiter, long waitMs, long atMs) {
    long startMs = startMs(quota, atMs);
    Ahead ahead = quota.order().ahead(waiter);
    return waitMs > 0 && startMs + ceilingMs(quota, waiter, ahead, atMs + startMs) >= waitMs;
  }

  /** Its tenant's own bucket serves its tenant alone. */
  private static long ceilingMs(QuotaState quota, Waiter waiter, Ahead ahead, long atMs) {
    String tenant = waiter.standing().tenant();
    ShareBuckets ceiling = quota.tenant(tenant).ceiling();
    Amounts before = ahead.byTenant().getOrDefault(tenant, Amounts.NONE);
    long wait = 0;
    for (int i = 0; i < Dimension.count() && ceiling != null; i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && ceiling.has(d)) {
        long own = Math.min(waiter.estimate().get(d), ceiling.cap(quota, d));
        long needed = Amounts.saturatedAdd(before.get(d), own);
        wait = Math.max(wait, ceiling.msUntil(quota, d, needed, atMs));
      }
    }
    return wait;
  }

  /**
   * Who of any quota that takes from the same one comes before it takes before it: of those that
   * cannot go yet, the ones that can before it goes.
   */
  private static long inOtherMs(
      QuotaState quota,
      QuotaState other,
      Waiter waiter,
      Ahead ahead,
      SiblingLines siblings,
      long atMs) {
    long topTag = quota.order().topTag(waiter);
    Amounts before = ahead.demand();
    for (SiblingLines.Line line : siblings.of(other)) {
      if (line.opensAtMs() > atMs
          && line.opensAtMs() >= atMs + refillMs(other, waiter, before, atMs)) {
        break; // They are in order of when they open.
      }
      before = before.plus(line.before(topTag, quota).demand());
    }
    return refillMs(other, waiter, before, atMs);
  }

  /** Until another quota holds what a request takes of it behind that much. */
  private static long refillMs(QuotaState other, Waiter waiter, Amounts before, long atMs) {
    long wait = 0;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && other.limits(d)) {
        long own = other.need(d, waiter.standing().role(), waiter.demand());
        long kept = other.reserves().any() ? other.reserves().keptForOthers(null, d, atMs) : 0;
        long needed = Amounts.saturatedAdd(before.get(d), Amounts.saturatedAdd(own, kept));
        wait = Math.max(wait, other.expectedMsUntil(d, needed, atMs));
      }
    }
    return wait;
  }

  /** What a waiting request is told at that time: its position and its ETA. */
  public static LeaseQueued told(
      KeyState key, QuotaState quota, Waiter waiter, long atMs, OpaqueBytes correlation) {
    Ahead ahead = quota.order().ahead(waiter);
    SiblingLines siblings = new SiblingLines(key, quota, atMs);
    long etaMs = waitMs(key, quota, waiter, ahead, new PassEta.Head(), siblings, true, atMs);
    return new LeaseQueued(
        quota.id(),
        waiter.request().requestId(),
        waiter.request().agentId(),
        ahead.count() + 1,
        etaMs,
        p90Ms(quota, waiter, etaMs),
        correlation);
  }

  /**
   * What nine of ten such waits did not exceed; null while that is not learned, and where nothing
   * but others is waited for: a slot that one of them frees, or an operator.
   */
  public static Long p90Ms(QuotaState quota, Waiter waiter, long etaMs) {
    Double factor = quota.statistics().etaP90Factor(waiter.standing().role());
    return factor == null || etaMs == 0
        ? null
        : (Long) Math.min(Math.round(etaMs * factor), LONGEST_MS);
  }

  /** The longer of the quota's promise and twice the time in which this charge refills. */
  public static long effectiveMaxWaitMs(QuotaState quota, Waiter waiter) {
    return effectiveMaxWaitMs(
        quota, waiter.standing().tenant(), waiter.estimate(), waiter.demand());
  }

  /** The same for a request that would be served under that tenant. */
  public static long effectiveMaxWaitMs(
      QuotaState quota, String tenant, Amounts charge, Amounts demand) {
    long longest = quota.policy().maxQueueWaitMs();
    ShareBuckets ceiling = quota.tenant(tenant).ceiling();
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && quota.limits(d)) {
        longest = Math.max(longest, twice(quota.unitsPerMs(d), charge.get(d)));
        if (ceiling != null && ceiling.has(d)) {
          longest = Math.max(longest, twice(ceiling.unitsPerMs(quota, d), charge.get(d)));
        }
      }
    }
    if (!quota.policy().order().also().isEmpty() && quota.also() != null) {
      for (QuotaState other : quota.also()) {
        for (int i = 0; i < Dimension.count(); i++) {
          Dimension d = Dimension.of(i);
          if (d.refills() && other.limits(d)) {
            longest = Math.max(longest, twice(other.unitsPerMs(d), demand.get(d)));
          }
        }
      }
    }
    return Math.min(longest, LONGEST_MS);
  }

  private static long twice(long unitsPerMs, long charge) {
    long refillMs = FixedPoint.msUntil(unitsPerMs, charge, 0);
    return Amounts.saturatedAdd(refillMs, refillMs);
  }

  /**
   * Until anything is granted at all: the buckets fill until then, and no further than their caps.
   * Where ETAs are sums, nothing is added up during a hold.
   */
  private static long startMs(QuotaState quota, long atMs) {
    boolean others = !quota.policy().order().also().isEmpty() && quota.also() != null;
    return quota.policy().rules().has(Rule.EXACT_ETA)
        ? opensMs(quota, others ? quota.also() : List.of(), atMs)
        : 0;
  }

  /** Until no hold and no breaker is in the way, in a quota and in those that it takes from. */
  static long opensMs(QuotaState quota, List<QuotaState> others, long atMs) {
    long untilMs = untilOpenMs(quota, atMs);
    for (QuotaState other : others) {
      untilMs = Math.max(untilMs, untilOpenMs(other, atMs));
    }
    return untilMs;
  }

  private static long untilOpenMs(QuotaState quota, long atMs) {
    long probeMs = quota.breaker().isOpen() ? quota.breaker().untilMs() - atMs : 0;
    return Math.max(holdMs(quota, atMs), probeMs);
  }

  private static long holdMs(QuotaState quota, long atMs) {
    if (quota.holdReason(atMs) == null) {
      return 0;
    }
    return quota.holdUntilMs() == null ? LONGEST_MS : quota.holdUntilMs() - atMs;
  }
}
