package dev.fairway.admission.engine.capacity;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.Decision;
import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.SafeCapacityTold;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Tells every agent that is told a decision what it may use alone if the coordinator falls silent:
 * a fair share of {@code floor x limit} among the agents seen lately.
 *
 * <p>What was told is not taken back: it counts until it ends. So a share grows only out of what
 * nobody else holds, an eighth of it at a time, because more agents may come; a quarter is kept for
 * them; and it shrinks when there are more. An agent that is told nothing for ten minutes holds
 * nothing.
 *
 * <p>Who asks for a quota with {@code also} takes from each of those too, so it holds a share of
 * each, apart from what it holds by asking for another quota, and is told the smallest in each
 * dimension: agents know nothing of {@code also}.
 */
public final class SafeShares {
  /** How long an agent may use a share, from the decision that told it. */
  public static final long VALID_MS = 600_000;

  /**
   * Most holders of a share of a quota: agents, of an {@code also} quota for each quota through
   * which they take from it. One more is told nothing.
   */
  public static final int MAX_AGENTS = 10_000;

  /** A share counts for so much longer, so that it need not be counted anew at every decision. */
  private static final long COUNTED_LONGER_MS = 60_000;

  private static final int GROWS_BY = 8;
  private static final int KEPT_FOR_NEWCOMERS = 4;

  private SafeShares() {}

  private record Told(String quotaId, String agentId) {}

  /** Adds, for each agent that this command told a decision, what it may use alone. */
  public static void tell(Transaction tx) {
    Set<Told> told = new LinkedHashSet<>();
    for (Event event : tx.events()) {
      Event decided = event instanceof DecisionRepeated again ? again.decision() : event;
      if (decided instanceof Decision decision) {
        told.add(new Told(decision.quotaId(), decision.agentId()));
      }
    }
    for (Told to : told) {
      QuotaState quota = tx.state().quota(to.quotaId());
      if (quota != null && grants(quota)) {
        tell(tx, quota, to.agentId());
      }
    }
  }

  /** Nobody is told what it may use alone of what an operator stopped. */
  private static boolean grants(QuotaState quota) {
    return !quota.removed() && quota.definition().state() == State.ACTIVE;
  }

  /** What a holder gets of a quota, before it is told. */
  private record Offer(
      QuotaState quota, String holder, long part, long countedUntilMs, boolean asBefore) {
    Amounts perMinute() {
      return SafeShares.perMinute(quota, part);
    }
  }

  private static void tell(Transaction tx, QuotaState quota, String agentId) {
    List<QuotaState> also = quota.also();
    Offer own = offer(tx, quota, agentId);
    if (own == null || also == null || !also.stream().allMatch(SafeShares::grants)) {
      return;
    }
    Amounts perMinute = own.perMinute();
    List<Offer> others = new ArrayList<>(also.size());
    for (QuotaState other : also) {
      Offer offer = offer(tx, other, holder(quota.id(), agentId));
      if (offer == null) {
        return;
      }
      perMinute = smallest(perMinute, offer.perMinute());
      others.add(offer);
    }
    if (perMinute.isEmpty()) {
      return;
    }
    for (Offer offer : others) {
      Amounts held = offer.perMinute();
      if (!offer.asBefore() && !held.isEmpty()) {
        tx.emit(told(offer, held, offer.countedUntilMs()));
      }
    }
    tx.emit(told(own, perMinute, tx.nowMs() + VALID_MS));
  }

  /**
   * Under which name an agent holds a share of an {@code also} quota: by a space, which no id has,
   * told from who asks for that quota itself.
   */
  private static String holder(String quotaId, String agentId) {
    return quotaId + " " + agentId;
  }

  private static SafeCapacityTold told(Offer offer, Amounts perMinute, long validUntilMs) {
    return new SafeCapacityTold(
        offer.quota().id(),
        offer.holder(),
        offer.part(),
        perMinute,
        validUntilMs,
        offer.countedUntilMs());
  }

  /** What a holder may have of a quota from now on; null if too many hold a share. */
  private static Offer offer(Transaction tx, QuotaState quota, String holder) {
    Share share = quota.share(holder);
    if (share == null && quota.agentsWithShare() >= MAX_AGENTS) {
      return null;
    }
    int agents = quota.agentsWithShare() + (share == null ? 1 : 0);
    long part = part(share == null ? Share.NONE : share, agents, quota.freeShare());
    boolean lasts = share != null && share.untilMs() >= tx.nowMs() + VALID_MS;
    if (lasts && Math.abs(part - share.part()) <= share.part() / GROWS_BY) {
      return new Offer(quota, holder, share.part(), share.untilMs(), true);
    }
    return new Offer(quota, holder, part, tx.nowMs() + VALID_MS + COUNTED_LONGER_MS, false);
  }

  private static long part(Share share, int agents, long free) {
    int newcomers = (agents + KEPT_FOR_NEWCOMERS - 1) / KEPT_FOR_NEWCOMERS;
    long fair = Share.WHOLE / (agents + newcomers);
    if (fair < share.part()) {
      return share.olderPart() > 0 ? share.part() : fair;
    }
    return Math.max(share.part(), Math.min(fair, share.counted() + free / GROWS_BY));
  }

  private static Amounts perMinute(QuotaState quota, long part) {
    Amounts amounts = Amounts.NONE;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (d.refills() && quota.limits(d)) {
        long all =
            FixedPoint.mulDiv(quota.limit(d), quota.policy().marginFloorBp(), FixedPoint.ONE_BP);
        amounts = amounts.with(d, FixedPoint.mulDiv(all, part, Share.WHOLE));
      }
    }
    return amounts;
  }

  /** The smaller of both in each dimension; one that is absent does not limit. */
  private static Amounts smallest(Amounts one, Amounts other) {
    Amounts smallest = one;
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (other.has(d) && (!one.has(d) || other.get(d) < one.get(d))) {
        smallest = smallest.with(d, other.get(d));
      }
    }
    return smallest;
  }
}
