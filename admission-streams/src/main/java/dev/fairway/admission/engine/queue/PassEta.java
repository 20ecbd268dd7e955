package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.WaitsFor.Reason;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.List;

/**
 * When a request goes out of its turn, past the head that waits now: by backfill, or by the reserve
 * of its class. It waits for what those take that may do the same before it, and not for the large
 * ones that it passes. Bounded: who is behind more of them than a drain looks at is told its turn.
 */
final class PassEta {
  /** It does not pass, or nobody knows when. */
  static final long NEVER = Long.MAX_VALUE;

  private static final Wait NO_WAY = new Wait(NEVER, null);

  private final QuotaState quota;
  private final Waiter waiter;
  private final long atMs;
  private final Takes takes;
  private final long topTag;

  /** The head that waits, looked up once for all who are told at one time. */
  static final class Head {
    private boolean known;
    private Turns.Waiting waiting;

    Turns.Waiting at(QuotaState quota, long atMs) {
      if (!known) {
        known = true;
        waiting = Turns.front(quota, atMs);
      }
      return waiting;
    }
  }

  private PassEta(QuotaState quota, Waiter waiter, long atMs) {
    this.quota = quota;
    this.waiter = waiter;
    this.atMs = atMs;
    this.takes = slotless(Takes.of(quota, waiter, atMs));
    this.topTag = quota.order().topTag(waiter);
  }

  /**
   * Until a request, in line or not, passes the head, as far as buckets go; {@link #NEVER} where it
   * does not.
   */
  static Wait until(KeyState key, QuotaState quota, Waiter waiter, Head head, long atMs) {
    if (!quota.policy().rules().has(Rule.EXACT_ETA) || quota.also() == null) {
      return NO_WAY;
    }
    Turns.Waiting front = head.at(quota, atMs);
    if (front == null
        || front.head().arrival() == waiter.arrival()
        || front.fit().dueMs() <= atMs) {
      return NO_WAY;
    }
    PassEta eta = new PassEta(quota, waiter, atMs);
    Wait wait = eta.byBackfill(front).orShorter(eta.byReserve());
    // Later than the head it passes nobody.
    return wait.ms() >= front.fit().waitFrom(quota, atMs).ms()
            || new Turns(key, quota, atMs).keepsBack(quota)
        ? NO_WAY
        : wait;
  }

  private Wait byBackfill(Turns.Waiting front) {
    Backfill rule = Backfill.behind(front);
    Lane lane = rule == null ? null : rule.lane(takes);
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    if (lane == null
        || !rule.hasRoom(lane, takes)
        || !Backfill.hasShareLeft(quota, front.head(), waiter)
        || Passers.atItsCeiling(quota, tenant, atMs)) {
      return NO_WAY;
    }
    Passers passers = new Passers(front, rule, atMs);
    Takes ahead = null;
    Takes inLane = takes;
    Wait wait = Wait.NONE;
    Waiter next = passers.next();
    while (next != null && isBefore(next)) {
      Takes taken = slotless(Takes.of(quota, next, atMs));
      ahead = ahead == null ? taken : plus(ahead, taken);
      if (rule.lane(taken) == lane) {
        // Who is next of its lane keeps it closed until it goes itself.
        inLane = plus(inLane, taken);
        wait = wait.orLonger(Fit.of(quota, next, ahead, atMs).waitFrom(quota, atMs));
      }
      if (!rule.hasRoom(lane, inLane)) {
        return NO_WAY;
      }
      next = passers.next();
    }
    if (next == null && passers.hasMore()) {
      return NO_WAY;
    }
    Takes sum = ahead == null ? takes : plus(takes, ahead);
    return wait.orLonger(Fit.of(quota, waiter, sum, atMs).waitFrom(quota, atMs));
  }

  private Wait byReserve() {
    String leaseClass = Fit.reserveClass(quota, waiter);
    if (leaseClass == null || Fit.reserveDueMs(quota, waiter, takes, atMs) == NEVER) {
      return NO_WAY;
    }
    long lane = 1L << quota.policy().order().laneOf(leaseClass);
    Takes sum = takes;
    int seen = 0;
    for (TenantState tenant : quota.order().tenants()) {
      Waiter next = tenant.nextInLane(lane, null);
      while (next != null && isBefore(next)) {
        if (seen++ >= Passers.CANDIDATES) {
          return NO_WAY;
        }
        Takes taken = slotless(Takes.of(quota, next, atMs));
        boolean carried = Fit.reserveDueMs(quota, next, taken, atMs) != NEVER;
        sum = carried ? plus(sum, taken) : sum;
        next = tenant.nextInLane(lane, next);
      }
    }
    ShareBuckets reserve = quota.reserves().of(leaseClass);
    Wait wait = Fit.of(quota, waiter, sum, atMs).waitFrom(quota, atMs);
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (reserve.has(d)) {
        long untilMs = reserve.msUntil(quota, d, sum.own().get(d), atMs);
        wait = wait.orLonger(untilMs, Reason.RESERVE, quota, d);
      }
    }
    return wait;
  }

  private boolean isBefore(Waiter other) {
    long tag = quota.order().topTag(other);
    return tag < topTag || (tag == topTag && other.arrival() < waiter.arrival());
  }

  /** A slot adds nothing to a wait that can be told. */
  private static Takes slotless(Takes takes) {
    List<Takes.Share> also = new ArrayList<>();
    for (Takes.Share share : takes.also()) {
      also.add(new Takes.Share(share.quota(), slotless(share.charge())));
    }
    return new Takes(slotless(takes.own()), also, takes.cold());
  }

  private static Amounts slotless(Amounts charge) {
    Dimension slots = Dimension.CONCURRENT_REQUESTS;
    return charge.has(slots) ? charge.with(slots, 0) : charge;
  }

  private static Takes plus(Takes one, Takes other) {
    List<Takes.Share> also = new ArrayList<>();
    for (int i = 0; i < one.also().size(); i++) {
      Takes.Share share = one.also().get(i);
      Amounts both = share.charge().plus(other.also().get(i).charge());
      also.add(new Takes.Share(share.quota(), both));
    }
    return new Takes(one.own().plus(other.own()), also, one.cold());
  }
}
