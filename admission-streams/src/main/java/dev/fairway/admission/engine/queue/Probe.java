package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.breaker.BreakerState.Phase;
import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.queue.Turns.Turn;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.List;

/**
 * Who probes while a breaker is open: of the first in line, whoever was refused least often. A call
 * that is refused keeps its place, so in a long outage the first in line would be refused at each
 * probe, until its agent gives up what it was about to do.
 */
final class Probe {
  /** Most requests looked at, so that a drain stays short in any queue. */
  private static final int CANDIDATES = 16;

  private final QuotaState quota;
  private final long atMs;
  private Turn best;
  private int seen;

  private Probe(QuotaState quota, Turn head, long atMs) {
    this.quota = quota;
    this.atMs = atMs;
    this.best = head;
  }

  /** The turn of a head that may be granted, or of who goes in its stead. */
  static Turn of(QuotaState quota, List<QuotaState> others, Turn head, long atMs) {
    boolean open = isOpen(quota) || others.stream().anyMatch(Probe::isOpen);
    if (!open || head.waiter().attempt() == 1) {
      return head;
    }
    Probe search = new Probe(quota, head, atMs);
    quota.order().forEach((waiter, ahead) -> search.look(waiter));
    return search.best;
  }

  private static boolean isOpen(QuotaState quota) {
    return quota.breaker().phase() == Phase.OPEN;
  }

  /** Whether to look further. */
  private boolean look(Waiter waiter) {
    if (waiter.attempt() < best.waiter().attempt() && mayGo(waiter)) {
      best = new Turn(quota, waiter, Takes.of(quota, waiter, atMs), Lane.PROBE, null);
    }
    return ++seen < CANDIDATES && best.waiter().attempt() > 1;
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
