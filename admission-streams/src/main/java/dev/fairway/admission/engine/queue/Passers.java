package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.lease.Takes;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.TenantState;
import dev.fairway.admission.engine.state.Waiter;
import java.util.PriorityQueue;

/**
 * Who may pass a waiting head, in order of their places in line. Only so many are looked at, so
 * that a drain stays short in any queue.
 */
final class Passers {
  /** Most requests looked at behind a waiting head. */
  static final int CANDIDATES = 16;

  private final QuotaState quota;
  private final Turns.Waiting front;
  private final Backfill rule;
  private final long atMs;
  private final PriorityQueue<Candidate> candidates = new PriorityQueue<>();
  private int seen;

  Passers(Turns.Waiting front, Backfill rule, long atMs) {
    this.quota = front.quota();
    this.front = front;
    this.rule = rule;
    this.atMs = atMs;
    for (TenantState tenant : quota.order().tenants()) {
      if (!atItsCeiling(quota, tenant, atMs)) {
        add(tenant, null);
      }
    }
  }

  /** The next of them, or null. */
  Waiter next() {
    while (seen < CANDIDATES && !candidates.isEmpty()) {
      seen++;
      Candidate next = candidates.poll();
      add(next.tenant, next.waiter);
      if (next.waiter != front.head()
          && rule.lane(Takes.of(quota, next.waiter, atMs)) != null
          && Backfill.hasShareLeft(quota, front.head(), next.waiter)) {
        return next.waiter;
      }
    }
    return null;
  }

  /** Whether there are more than are looked at. */
  boolean hasMore() {
    return !candidates.isEmpty();
  }

  /** Whether a tenant's head waits for its tenant's own bucket: nobody of it passes. */
  static boolean atItsCeiling(QuotaState quota, TenantState tenant, long atMs) {
    Waiter head = tenant.head();
    return tenant.ceiling() != null
        && head != null
        && Fit.of(quota, head, Takes.of(quota, head, atMs), atMs).ceilingDueMs() > atMs;
  }

  private void add(TenantState tenant, Waiter after) {
    Waiter next = tenant.nextAtMost(rule.dimension(), rule.most(), after);
    if (next != null) {
      candidates.add(new Candidate(quota.order().topTag(next), tenant, next));
    }
  }

  /** The next of a tenant that may pass, by its place in the order of the quota. */
  private record Candidate(long topTag, TenantState tenant, Waiter waiter)
      implements Comparable<Candidate> {
    @Override
    public int compareTo(Candidate other) {
      int byTag = Long.compare(topTag, other.topTag);
      return byTag != 0 ? byTag : Long.compare(waiter.arrival(), other.waiter.arrival());
    }
  }
}
