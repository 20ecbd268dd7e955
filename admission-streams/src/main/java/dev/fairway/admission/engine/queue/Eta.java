package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.OpaqueBytes;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.WaitsFor;
import dev.fairway.admission.engine.WaitsFor.Reason;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.lease.Takes;
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
    return until(key, quota, waiter, ahead, new PassEta.Head(), siblings, false, atMs).ms();
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

    /**
     * Until a request of the line, behind those ahead of it, is granted; 0 where nothing is waited
     * for but a slot, or an operator.
     */
    public Wait until(Waiter waiter, Ahead ahead) {
      return Eta.until(key, quota, waiter, ahead, head, siblings, true, atMs);
    }

    /**
     * What such a wait is for. A pause comes first, for it ends when an operator says so; where no
     * time can be told, it is what the request, or else who is next, finds missing: a slot.
     */
    public WaitsFor waitsFor(Waiter waiter, Wait wait) {
      QuotaState paused = Gates.paused(quota);
      if (paused != null) {
        return new WaitsFor(Reason.PAUSE, paused.id(), null);
      }
      if (wait.ms() > 0 || quota.also() == null) {
        return wait.waitsFor();
      }
      WaitsFor own = Fit.of(quota, waiter, Takes.of(quota, waiter, atMs), atMs).waitsFor(quota);
      Turns.Waiting front = own == null ? head.at(quota, atMs) : null;
      return front == null ? own : front.fit().waitsFor(quota);
    }
  }

  private static Wait until(
      KeyState key,
      QuotaState quota,
      Waiter waiter,
      Ahead ahead,
      PassEta.Head head,
      SiblingLines siblings,
      boolean told,
      long atMs) {
    Wait inOrder = inOrder(quota, waiter, ahead, head, siblings, told, atMs);
    if (ahead.count() == 0 || inOrder.ms() <= 0) {
      return inOrder;
    }
    Wait start = Gates.start(quota, atMs);
    Wait passing = start.then(PassEta.until(key, quota, waiter, head, atMs + start.ms()));
    if (passing.ms() >= inOrder.ms()) {
      return inOrder;
    }
    passing = Gates.outOfGuard(quota, passing.orLonger(Gates.paced(quota, atMs)), atMs);
    for (QuotaState other : quota.also()) {
      passing = Gates.outOfGuard(other, passing.orLonger(Gates.paced(other, atMs)), atMs);
    }
    return inOrder.orShorter(passing);
  }

  private static Wait inOrder(
      QuotaState quota,
      Waiter waiter,
      Ahead ahead,
      PassEta.Head head,
      SiblingLines siblings,
      boolean told,
      long atMs) {
    Wait start = Gates.start(quota, atMs);
    long fromMs = atMs + start.ms();
    Wait wait = Gates.hold(quota, atMs);
    wait = wait.orLonger(start.then(inCeiling(quota, waiter, ahead, fromMs)));
    wait = wait.orLonger(start.then(inQuota(quota, waiter, ahead, head, told, fromMs)));
    wait = wait.orLonger(Gates.ownRamp(quota, ahead, atMs));
    wait = Gates.outOfGuard(quota, wait, atMs);
    if (quota.policy().order().also().isEmpty() || quota.also() == null) {
      return wait.atMost(Gates.LONGEST_MS);
    }
    for (QuotaState other : quota.also()) {
      wait = wait.orLonger(Gates.hold(other, atMs));
      wait = wait.orLonger(Gates.rampOf(other, ahead, atMs));
      wait = wait.orLonger(start.then(inOther(quota, other, waiter, ahead, siblings, fromMs)));
      wait = Gates.outOfGuard(other, wait, atMs);
    }
    return wait.atMost(Gates.LONGEST_MS);
  }

  private static Wait inQuota(
      QuotaState quota, Waiter waiter, Ahead ahead, PassEta.Head head, boolean told, long atMs) {
    // By sums alone who is told its wait may be sent away for another.
    boolean counts = told || quota.policy().rules().has(Rule.EXACT_ETA);
    Wait byTag = counts ? untilFront(quota, waiter, ahead, head, atMs) : Wait.NONE;
    Wait byReserve = Wait.NONE;
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
          byTag = byTag.orLonger(eta.byTagMs(), Reason.LIMIT, quota, d);
          byReserve = byReserve.orLonger(eta.byReserveMs(), Reason.RESERVE, quota, d);
        } else {
          long own = quota.need(d, waiter.standing().role(), waiter.estimate());
          long needed = Amounts.saturatedAdd(ahead.demand().get(d), own);
          long ms =
              WindowEta.applies(quota, d, ahead, own)
                  ? WindowEta.waitMs(quota, d, ahead, first, own, atMs)
                  : quota.expectedMsUntil(d, needed, atMs);
          byTag = byTag.orLonger(ms, Reason.LIMIT, quota, d);
        }
        if (quota.lastMinute().counts(d)) {
          long last =
              told
                  ? RollingEta.waitMs(quota, d, waiter, ahead, first, atMs)
                  : lastMinuteMs(quota, d, waiter, ahead.demand(), atMs);
          byTag = byTag.orLonger(last, Reason.LIMIT, quota, d);
        }
        long lane = lastMinuteMs(quota, d, waiter, ahead.inLanes(), atMs);
        byReserve = byReserve.orLonger(lane, Reason.LIMIT, quota, d);
      }
    }
    return parts ? byTag.orShorter(byReserve) : byTag;
  }

  /**
   * Until the front goes, which ends the turns of all behind it. It may wait for more than sums
   * tell: for what its tenant's ceiling lets its tenant take, or for the part of its need that its
   * charge is not, which is there again for who comes next.
   */
  private static Wait untilFront(
      QuotaState quota, Waiter waiter, Ahead ahead, PassEta.Head head, long atMs) {
    boolean bySums = !quota.policy().rules().has(Rule.EXACT_ETA) && ahead.byTenant().isEmpty();
    if (bySums || quota.also() == null) {
      return Wait.NONE;
    }
    Turns.Waiting front = head.at(quota, atMs);
    if (front == null || front.fit().dueMs() == PassEta.NEVER) {
      return Wait.NONE;
    }
    long tag = quota.order().topTag(waiter);
    long frontTag = quota.order().topTag(front.head());
    boolean behind =
        frontTag < tag || (frontTag == tag && front.head().arrival() < waiter.arrival());
    return behind ? Wait.NONE.orLonger(front.fit().waitFrom(quota, atMs)) : Wait.NONE;
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
    long startMs = Gates.start(quota, atMs).ms();
    Ahead ahead = quota.order().ahead(waiter);
    long ceilingMs = inCeiling(quota, waiter, ahead, atMs + startMs).ms();
    return waitMs > 0 && startMs + ceilingMs >= waitMs;
  }

  /** Its tenant's own bucket serves its tenant alone. */
  private static Wait inCeiling(QuotaState quota, Waiter waiter, Ahead ahead, long atMs) {
    String tenant = waiter.standing().tenant();
    ShareBuckets ceiling = quota.tenant(tenant).ceiling();
    Amounts before = ahead.byTenant().getOrDefault(tenant, Amounts.NONE);
    Wait wait = Wait.NONE;
    for (int i = 0; i < Dimension.count() && ceiling != null; i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && ceiling.has(d)) {
        long own = Math.min(waiter.estimate().get(d), ceiling.cap(quota, d));
        long needed = Amounts.saturatedAdd(before.get(d), own);
        long ms = ceiling.msUntil(quota, d, needed, atMs);
        wait = wait.orLonger(ms, Reason.TENANT_CEILING, quota, d);
      }
    }
    return wait;
  }

  /**
   * Who of any quota that takes from the same one comes before it takes before it: of those that
   * cannot go yet, the ones that can before it goes.
   */
  private static Wait inOther(
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
          && line.opensAtMs() >= atMs + refill(other, waiter, before, atMs).ms()) {
        break; // They are in order of when they open.
      }
      before = before.plus(line.before(topTag, quota).demand());
    }
    return refill(other, waiter, before, atMs);
  }

  /** Until another quota holds what a request takes of it behind that much. */
  private static Wait refill(QuotaState other, Waiter waiter, Amounts before, long atMs) {
    Wait wait = Wait.NONE;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && other.limits(d)) {
        long own = other.need(d, waiter.standing().role(), waiter.demand());
        long kept = other.reserves().any() ? other.reserves().keptForOthers(null, d, atMs) : 0;
        long needed = Amounts.saturatedAdd(before.get(d), Amounts.saturatedAdd(own, kept));
        long ms = other.expectedMsUntil(d, needed, atMs);
        wait = wait.orLonger(ms, Reason.LIMIT, other, d);
      }
    }
    return wait;
  }

  /** What a waiting request is told at that time: its position and its ETA. */
  public static LeaseQueued told(
      KeyState key, QuotaState quota, Waiter waiter, long atMs, OpaqueBytes correlation) {
    Ahead ahead = quota.order().ahead(waiter);
    Review review = new Review(key, quota, atMs);
    Wait wait = review.until(waiter, ahead);
    return new LeaseQueued(
        quota.id(),
        waiter.request().requestId(),
        waiter.request().agentId(),
        ahead.count() + 1,
        wait.ms(),
        p90Ms(quota, waiter, wait.ms()),
        review.waitsFor(waiter, wait),
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
        : (Long) Math.min(Math.round(etaMs * factor), Gates.LONGEST_MS);
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
    return Math.min(longest, Gates.LONGEST_MS);
  }

  private static long twice(long unitsPerMs, long charge) {
    long refillMs = FixedPoint.msUntil(unitsPerMs, charge, 0);
    return Amounts.saturatedAdd(refillMs, refillMs);
  }
}
