package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.breaker.Breaker;
import dev.fairway.admission.engine.breaker.Ramps;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Whose turn it is, in quotas that are drained together, and if it is nobody's, when it will be
 * somebody's.
 *
 * <p>Heads of tenants are looked at in order of their tags, whichever quota they wait in. A head
 * that waits for its tenant's own bucket keeps back its tenant alone, and the next tenant of its
 * quota has its turn at its own tag; one that waits for a quota that others take from too keeps
 * back those. Any other waiting head ends the turns of its quota: who is behind it passes only by a
 * reserve, or by backfill.
 */
final class Turns {
  private final Collection<QuotaState> quotas;
  private final long atMs;
  private final Map<QuotaState, QuotaState> heldBy = new HashMap<>();

  /** Those that grant nothing more in order. */
  private final Set<QuotaState> over = new HashSet<>();

  private final List<Waiting> waiting = new ArrayList<>();
  private long dueMs = Long.MAX_VALUE;

  /**
   * A request whose turn it is.
   *
   * @param takes what it takes, or null where it has to leave because a quota that it would take
   *     from is not defined
   * @param lane by which rule it may go
   * @param passed head that it passes by backfill, or null
   */
  record Turn(QuotaState quota, Waiter waiter, Takes takes, Lane lane, Waiter passed) {}

  /** A tenant's head, in order of tags with those of other quotas. */
  private record Front(QuotaState quota, TenantState tenant, long tag) {}

  /** A quota whose head waits, and for what. */
  record Waiting(QuotaState quota, Waiter head, Takes takes, Fit fit) {}

  Turns(KeyState key, QuotaState quota, long atMs) {
    this.quotas = key.sharing(quota);
    this.atMs = atMs;
  }

  /** When it will be somebody's turn, after {@link #next} found nobody's. */
  long dueMs() {
    return dueMs;
  }

  /** Whose turn it is now, or null. To be asked once. */
  Turn next() {
    for (Front front : inOrderOfTags()) {
      Turn turn = over.contains(front.quota()) ? null : inOrder(front.quota(), front.tenant());
      if (turn != null) {
        return turn;
      }
    }
    for (Waiting front : waiting) {
      Turn turn = outOfReserve(front);
      turn = turn != null ? turn : backfill(front);
      if (turn != null) {
        return turn;
      }
    }
    return null;
  }

  /**
   * Whether a request that is not in line yet would go at once, so that the length of the line is
   * no reason to send it away.
   */
  boolean wouldGo(QuotaState quota, Waiter waiter, Takes takes) {
    boolean first = quota.order().ahead(waiter).count() == 0;
    Turn turn = next();
    if (!first && turn != null || !mayGrant(quota, quota.also())) {
      return false;
    }
    if (keptBack(quota, quota, quota.also()) || Fit.of(quota, waiter, takes, atMs).dueMs() > atMs) {
      return false;
    }
    Waiting front = null;
    for (Waiting each : waiting) {
      front = each.quota() == quota ? each : front;
    }
    if (first || front == null) {
      return first || firstOfTenant(quota, waiter);
    }
    Backfill rule = Backfill.behind(front);
    boolean inReserve =
        Fit.reserveClass(quota, waiter) != null
            && quota.order().ahead(waiter).inLanes().isZero()
            && Fit.reserveDueMs(quota, waiter, takes, atMs) <= atMs;
    Lane lane = rule == null ? null : rule.lane(takes);
    return inReserve
        || (lane != null
            && rule.hasRoom(lane, takes)
            && Backfill.hasShareLeft(quota, front.head(), waiter));
  }

  /**
   * The head that waits, or would if nothing were held; null if there is none but such as wait for
   * their tenants' own buckets.
   */
  static Waiting front(QuotaState quota, long atMs) {
    for (TenantState tenant : quota.order().tenants()) {
      Takes takes = Takes.of(quota, tenant.head(), atMs);
      Fit fit = Fit.of(quota, tenant.head(), takes, atMs);
      if (fit.ceilingDueMs() <= atMs) {
        return new Waiting(quota, tenant.head(), takes, fit);
      }
    }
    return null;
  }

  /** Whether a head of another quota keeps back all of this one. To be asked once. */
  boolean keepsBack(QuotaState quota) {
    return quotas.size() > 1 && (next() != null || keptBack(quota, quota, quota.also()));
  }

  /** Everybody ahead waits for a tenant's own bucket. */
  private static boolean firstOfTenant(QuotaState quota, Waiter waiter) {
    Waiter head = quota.tenant(waiter.standing().tenant()).head();
    return head == null || waiter.before(head);
  }

  private List<Front> inOrderOfTags() {
    List<Front> fronts = new ArrayList<>(quotas.size());
    for (QuotaState quota : quotas) {
      if (quota.order().size() > 0 && !quota.removed()) {
        for (TenantState tenant : quota.order().tenants()) {
          fronts.add(new Front(quota, tenant, quota.order().topTag(tenant.head())));
        }
      }
    }
    if (quotas.size() > 1) {
      // Equal tags of one quota stay in its own order.
      fronts.sort(Comparator.comparingLong(Front::tag).thenComparing(front -> front.quota().id()));
    }
    return fronts;
  }

  private Turn inOrder(QuotaState quota, TenantState tenant) {
    List<QuotaState> others = quota.also();
    Waiter head = tenant.head();
    if (others == null) {
      return new Turn(quota, head, null, Lane.IN_ORDER, null);
    }
    if (!mayGrant(quota, others)) {
      over.add(quota);
      return null;
    }
    Takes takes = Takes.of(quota, head, atMs);
    if (head.deadlineMs() < atMs || Limits.neverFits(quota, head, takes) != null) {
      return new Turn(quota, head, takes, Lane.IN_ORDER, null);
    }
    if (keptBack(quota, quota, others)) {
      over.add(quota);
      return null;
    }
    Fit fit = Fit.of(quota, head, takes, atMs);
    if (fit.dueMs() <= atMs) {
      Turn turn = new Turn(quota, head, takes, Lane.IN_ORDER, null);
      return Probe.of(quota, others, turn, atMs);
    }
    dueMs = Math.min(dueMs, fit.dueMs());
    if (fit.ceilingDueMs() <= atMs) {
      over.add(quota);
      waiting.add(new Waiting(quota, head, takes, fit));
      hold(quota, head, takes, fit);
    }
    return null;
  }

  /** Whether states, holds, breakers and ramps let anything be granted. */
  private boolean mayGrant(QuotaState quota, List<QuotaState> others) {
    boolean may = true;
    long until = atMs;
    for (int i = -1; i < others.size(); i++) {
      QuotaState each = i < 0 ? quota : others.get(i);
      if (each.definition().state() == State.PAUSED) {
        return false;
      }
      if (each.holdReason(atMs) != null) {
        may = false;
        until = each.holdUntilMs() == null ? Long.MAX_VALUE : Math.max(until, each.holdUntilMs());
      }
      long paced = Math.max(Breaker.grantDueMs(each, atMs), Ramps.grantDueMs(each, atMs));
      may &= paced <= atMs;
      until = Math.max(until, paced);
    }
    if (!may) {
      dueMs = Math.min(dueMs, until);
    }
    return may;
  }

  /** Whether a head of another quota waits for what this one takes from. */
  private boolean keptBack(QuotaState quota, QuotaState by, List<QuotaState> others) {
    if (heldBy.getOrDefault(quota, by) != by) {
      return true;
    }
    for (QuotaState other : others) {
      if (heldBy.getOrDefault(other, by) != by) {
        return true;
      }
    }
    return false;
  }

  /**
   * A head that has all it needs in its own quota, and waits for another, is that one's next: who
   * takes from it too must not pass.
   */
  private void hold(QuotaState quota, Waiter head, Takes takes, Fit fit) {
    if (fit.ownDueMs() > atMs) {
      heldBy.putIfAbsent(quota, quota);
      return;
    }
    for (Takes.Share share : takes.also()) {
      if (!Fit.isThere(head, share, atMs)) {
        heldBy.putIfAbsent(share.quota(), quota);
      }
    }
  }

  private Turn outOfReserve(Waiting front) {
    QuotaState quota = front.quota();
    List<OrderPolicy.Reserve> reserves = quota.policy().order().reserves();
    for (int lane = 0; lane < reserves.size(); lane++) {
      int seen = 0;
      for (TenantState tenant : quota.order().tenants()) {
        Waiter next = tenant.nextInLane(1L << lane, null);
        while (next != null && seen++ < Passers.CANDIDATES) {
          Takes takes = Takes.of(quota, next, atMs);
          long due =
              keptBack(quota, quota, quota.also())
                  ? Long.MAX_VALUE
                  : Fit.reserveDueMs(quota, next, takes, atMs);
          if (due <= atMs) {
            return new Turn(quota, next, takes, Lane.RESERVE, null);
          }
          dueMs = Math.min(dueMs, due);
          if (due != Long.MAX_VALUE) {
            break; // The first of the lane's tenant that the reserve can carry keeps its place.
          }
          next = tenant.nextInLane(1L << lane, next);
        }
      }
    }
    return null;
  }

  private Turn backfill(Waiting front) {
    QuotaState quota = front.quota();
    Backfill rule = Backfill.behind(front);
    if (rule == null || keptBack(quota, quota, quota.also())) {
      return null;
    }
    Set<Lane> closed = EnumSet.noneOf(Lane.class);
    Passers passers = new Passers(front, rule, atMs);
    Waiter next = passers.next();
    while (next != null && closed.size() < 2) {
      Takes takes = Takes.of(quota, next, atMs);
      Lane lane = rule.lane(takes);
      if (!closed.contains(lane)) {
        Fit fit = Fit.of(quota, next, takes, atMs);
        boolean room = rule.hasRoom(lane, takes);
        if (room && fit.dueMs() <= atMs) {
          return new Turn(quota, next, takes, lane, front.head());
        }
        dueMs = room ? Math.min(dueMs, fit.dueMs()) : dueMs;
        closed.add(lane);
      }
      next = passers.next();
    }
    return null;
  }
}
