package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.BreakerState.Phase;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.queue.Turns.Turn;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.List;

/**
 * Who probes while a breaker is open: of the first in line, whoever was refused least often. A call
 * that is refused keeps its place, so in a long outage the first in line would be refused at each
 * probe, until its agent gives up what it was about to do. An agent whose probe was given back or
 * stayed silent comes after all others, and of several the one whose probe is longest ago: a lease
 * that is given back leaves its agent's place as it was, and would be the next probe again.
 */
final class Probe {
  /** Most requests looked at of agents whose probes told something. */
  private static final int CANDIDATES = 16;

  /** Most requests looked at, so that a drain stays short in any queue. */
  private static final int LOOKED_AT = 4_096;

  private final QuotaState quota;
  private final List<BreakerState> open;
  private final long atMs;
  private Turn best;
  private int seen;
  private int looked;

  private Probe(QuotaState quota, List<BreakerState> open, Turn head, long atMs) {
    this.quota = quota;
    this.open = open;
    this.atMs = atMs;
    this.best = head;
  }

  /** The turn of a head that may be granted, or of who goes in its stead. */
  static Turn of(QuotaState quota, List<QuotaState> others, Turn head, long atMs) {
    List<BreakerState> open = new ArrayList<>();
    for (int i = -1; i < others.size(); i++) {
      BreakerState breaker = (i < 0 ? quota : others.get(i)).breaker();
      if (breaker.phase() == Phase.OPEN) {
        open.add(breaker);
      }
    }
    if (open.isEmpty()) {
      return head;
    }
    Probe search = new Probe(quota, open, head, atMs);
    if (!search.isBest()) {
      quota.order().forEach((waiter, ahead) -> search.look(waiter));
    }
    return search.best;
  }

  /** Whether nobody goes before whom was found so far. */
  private boolean isBest() {
    return best.waiter().attempt() == 1 && idle(best.waiter()) < 0;
  }

  /** When its agent's last probe told nothing, as a position among such; below 0 if none did. */
  private int idle(Waiter waiter) {
    int latest = -1;
    for (BreakerState breaker : open) {
      latest = Math.max(latest, breaker.idleProbers().indexOf(waiter.request().agentId()));
    }
    return latest;
  }

  /** Whether to look further. */
  private boolean look(Waiter waiter) {
    int idle = idle(waiter);
    int idleOfBest = idle(best.waiter());
    boolean better =
        idle != idleOfBest ? idle < idleOfBest : waiter.attempt() < best.waiter().attempt();
    if (better && mayGo(waiter)) {
      best = new Turn(quota, waiter, Takes.of(quota, waiter, atMs), Lane.PROBE, null);
    }
    seen += idle < 0 ? 1 : 0;
    return seen < CANDIDATES && ++looked < LOOKED_AT && !isBest();
  }

  private boolean mayGo(Waiter waiter) {
    Takes takes = Takes.of(quota, waiter, atMs);
    TenantState tenant = quota.tenant(waiter.standing().tenant());
    boolean tenantGoes =
        tenant.ceiling() == null
            || Fit.of(quota, tenant.head(), Takes.of(quota, tenant.head(), atMs), atMs)
                    .ceilingDueMs()
                <= atMs;
    return tenantGoes
        && waiter.deadlineMs() >= atMs
        && Limits.neverFits(quota, waiter, takes) == null
        && Fit.of(quota, waiter, takes, atMs).dueMs() <= atMs;
  }
}
