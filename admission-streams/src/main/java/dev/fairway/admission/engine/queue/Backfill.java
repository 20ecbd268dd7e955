package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Standing;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Waiter;

/**
 * Who may pass a head that waits for tokens: requests of at most 1/32 of the depth and no larger
 * than the mean call, as long as they sum up to at most half of what the head takes, and others up
 * to a tenth of it, counted apart, all in the dimension that the head waits for. Unbounded passing
 * starves large requests; none costs small ones their latency. Who passes does so in order: the
 * next of its lane goes, or nobody of it, so that waits can still be told. Who is ahead of its
 * share already passes nobody: its calls may take more than they say, and what they took shows in
 * its tag alone.
 *
 * @param dimension what the head waits for
 * @param small the most that a small request takes of it
 * @param most the most that anybody who passes takes of it
 */
record Backfill(
    Dimension dimension,
    long small,
    long most,
    QuotaState binding,
    long leftSmall,
    long leftOthers) {
  private static final int DEPTH_SHARE = 32;
  private static final int SMALL_SHARE = 2;
  private static final int OTHERS_SHARE = 10;

  /** The rule behind a head, or null where nobody may pass it. */
  static Backfill behind(Turns.Waiting front) {
    Fit fit = front.fit();
    boolean forTokens = fit.dimension() != null && fit.dimension().refills();
    if (!front.quota().policy().rules().has(Rule.BACKFILL) || !forTokens) {
      return null;
    }
    Dimension d = fit.dimension();
    Standing head = front.head().standing();
    long estimate = charge(front.takes(), fit.binding()).get(d);
    long small = small(fit.binding(), d);
    return new Backfill(
        d,
        small,
        Math.max(small, estimate / OTHERS_SHARE),
        fit.binding(),
        estimate / SMALL_SHARE - head.passedSmall().get(d),
        estimate / OTHERS_SHARE - head.passedOthers().get(d));
  }

  /** In a deep bucket, a part of the depth is no longer small beside the calls there are. */
  private static long small(QuotaState quota, Dimension d) {
    long ofDepth = quota.depth(d) / DEPTH_SHARE;
    boolean input = d == Dimension.INPUT_TOKENS || d == Dimension.TOKENS;
    long usual = Math.round(quota.statistics().meanInput());
    return input && usual > 0 ? Math.min(ofDepth, usual) : ofDepth;
  }

  /** The lane of who takes that, or null for who may not pass at all. */
  Lane lane(Takes takes) {
    long charge = charge(takes, binding).get(dimension);
    if (charge <= small) {
      return Lane.BACKFILL_SMALL;
    }
    return charge <= most ? Lane.BACKFILL_OTHER : null;
  }

  /** Whether there is room left in that lane for who takes that. */
  boolean hasRoom(Lane lane, Takes takes) {
    long charge = charge(takes, binding).get(dimension);
    return charge <= (lane == Lane.BACKFILL_SMALL ? leftSmall : leftOthers);
  }

  /**
   * Whether a request starts at most half of a head behind that head's end: its own tenant's among
   * the agents, and the front among the tenants. That is as far ahead of its share as passing may
   * bring anybody; without it each new head would let the same ones pass again.
   */
  static boolean hasShareLeft(QuotaState quota, Waiter front, Waiter waiter) {
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    Waiter head = tenant.head();
    if (head != null
        && waiter.startTag() > latestStart(head.finishTag(), head.finishTag() - head.startTag())) {
      return false;
    }
    if (!quota.policy().order().hasTenants()) {
      return true;
    }
    AdmissionOrder order = quota.order();
    long start = Amounts.saturatedSubtract(order.topTag(waiter), tenant.length(waiter.cost()));
    long length = quota.tenant(front.standing().tenant()).length(front.cost());
    return start <= latestStart(order.topTag(front), length);
  }

  private static long latestStart(long headEnd, long headLength) {
    return Amounts.saturatedAdd(headEnd, headLength / SMALL_SHARE);
  }

  private static Amounts charge(Takes takes, QuotaState binding) {
    for (Takes.Share share : takes.also()) {
      if (share.quota() == binding) {
        return share.charge();
      }
    }
    return takes.own();
  }
}
