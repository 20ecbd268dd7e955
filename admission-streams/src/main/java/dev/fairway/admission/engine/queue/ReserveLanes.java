package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.ShareBuckets;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What reserves can really pay for: of those in line that may use one, only calls that are no
 * larger than it. The first of each lane are looked at one by one, fewer of them in a long line;
 * the rest are taken to be like them, so that it costs the same in a line of any length.
 */
final class ReserveLanes {
  private final QuotaState quota;
  private final Map<String, Amounts> inLine = new HashMap<>();
  private final Map<String, Amounts> before = new HashMap<>();
  private Amounts seen = Amounts.NONE;
  private Amounts seenBefore = Amounts.NONE;
  private Amounts rest = Amounts.NONE;
  private Amounts restBefore = Amounts.NONE;
  private int tooLargeBefore;

  private ReserveLanes(QuotaState quota) {
    this.quota = quota;
  }

  /** As they stand for a request, in line or not. */
  static ReserveLanes of(QuotaState quota, Waiter waiter, Ahead ahead) {
    ReserveLanes lanes = new ReserveLanes(quota);
    List<OrderPolicy.Reserve> reserves = quota.policy().order().reserves();
    for (int lane = 0; lane < reserves.size(); lane++) {
      lanes.look(waiter, reserves.get(lane).leaseClass(), 1L << lane);
    }
    lanes.rest = beyond(quota.order().inLanes(), lanes.seen);
    lanes.restBefore = beyond(ahead.inLanes(), lanes.seenBefore);
    return lanes;
  }

  /** What calls in line take that this class's reserve can pay for. */
  long all(String leaseClass, Dimension d) {
    return with(inLine.get(leaseClass), rest, leaseClass, d);
  }

  /** The same of those that are served before the request. */
  long ahead(String leaseClass, Dimension d) {
    return with(before.get(leaseClass), restBefore, leaseClass, d);
  }

  /**
   * Whether so many that no reserve pays for, as it is now, are before the request that a drain
   * does not look at it.
   */
  boolean outOfSight() {
    return tooLargeBefore >= Passers.CANDIDATES;
  }

  private long with(Amounts known, Amounts unseen, String leaseClass, Dimension d) {
    long all = seen.get(d);
    Amounts likeThis = inLine.get(leaseClass);
    long part =
        all <= 0 || likeThis == null
            ? 0
            : FixedPoint.mulDiv(unseen.get(d), Math.max(0, likeThis.get(d)), all);
    return Amounts.saturatedAdd(known == null ? 0 : known.get(d), part);
  }

  private void look(Waiter waiter, String leaseClass, long lane) {
    long topTag = quota.order().topTag(waiter);
    ShareBuckets reserve = quota.reserves().of(leaseClass);
    int most = quota.order().size() <= Eta.LONGEST_WALKED ? Eta.ONE_BY_ONE : Passers.CANDIDATES;
    int looked = 0;
    for (TenantState tenant : quota.order().tenants()) {
      Waiter next = tenant.nextInLane(lane, null);
      while (next != null && looked++ < most) {
        long tag = quota.order().topTag(next);
        boolean first = tag < topTag || (tag == topTag && next.arrival() < waiter.arrival());
        seen = seen.plus(next.estimate());
        seenBefore = first ? seenBefore.plus(next.estimate()) : seenBefore;
        if (carries(reserve, next)) {
          inLine.merge(leaseClass, next.estimate(), Amounts::plus);
          if (first) {
            before.merge(leaseClass, next.estimate(), Amounts::plus);
          }
        } else if (first && leaseClass.equals(waiter.standing().leaseClass())) {
          tooLargeBefore++;
        }
        next = tenant.nextInLane(lane, next);
      }
    }
  }

  private boolean carries(ShareBuckets reserve, Waiter waiter) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (reserve.has(d) && waiter.estimate().get(d) > reserve.cap(quota, d)) {
        return false;
      }
    }
    return true;
  }

  private static Amounts beyond(Amounts all, Amounts seen) {
    Amounts rest = Amounts.NONE;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && all.has(d)) {
        rest = rest.with(d, Math.max(0, all.get(d) - seen.get(d)));
      }
    }
    return rest;
  }
}
