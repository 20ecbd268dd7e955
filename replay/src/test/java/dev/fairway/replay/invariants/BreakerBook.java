package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What must hold of every breaker: it opens at two 429s in a row, lets one probe through at a time,
 * waits longer after each refusal, and no probe that vanishes wedges it.
 */
final class BreakerBook {
  private static final long WINDOW_MS = 3_000;
  private static final long PROBE_MS = 15_000;
  private static final long LONGEST_WAIT_MS = 30_000;
  private static final int CANDIDATES = 16;

  private static final class Breaker {
    boolean open;
    long openedAtMs = Long.MIN_VALUE;
    long probeAtMs;
    String probe;
    long probeUntilMs;
    String probeAgent;
    final Set<String> idle = new HashSet<>();
    final List<Long> refusedAtMs = new ArrayList<>();
  }

  private final List<String> wrong;
  private final Map<String, Breaker> breakers = new HashMap<>();
  private final Map<String, Long> grantedAtMs = new HashMap<>();
  private final Map<String, String> agents = new HashMap<>();
  private final Set<String> ended = new HashSet<>();
  private final Map<String, Waiter> waiting = new LinkedHashMap<>();

  BreakerBook(List<String> wrong) {
    this.wrong = wrong;
  }

  void read(Step step) {
    Set<String> probes = new HashSet<>();
    for (Event event : step.handled().events()) {
      if (event instanceof Event.BreakerHalfOpen e) {
        probes.add(e.leaseId());
      }
    }
    for (Event event : step.handled().events()) {
      read(step, event, probes);
    }
    breakers.forEach((id, breaker) -> checkNotWedged(step, id, breaker));
    waiting.clear();
    for (Row row : step.rows()) {
      if (row instanceof Row.WaiterRow r) {
        waiting.put(identity(r.waiter()), r.waiter());
      }
    }
  }

  private static String identity(Waiter waiter) {
    return Invariants.id(waiter.request().agentId(), waiter.request().requestId());
  }

  /**
   * Of the first 16 in line nobody who asks for no more, as the same role and in the same class,
   * was refused less often than who probes; and nobody at all, if a probe of the same agent told
   * nothing in this episode. Agents of such probes are not counted. In quotas of one level that
   * take from no other, whose line the tags alone make.
   */
  private void checkWhoProbes(Step step, Breaker breaker, Event.LeaseGranted grant) {
    Waiter probe = waiting.get(Invariants.id(grant.agentId(), grant.requestId()));
    boolean simple =
        step.snapshots().stream()
            .map(QuotaSnapshot::definition)
            .anyMatch(
                d -> d.id().equals(grant.quotaId()) && d.tenants().isEmpty() && d.also().isEmpty());
    if (grant.order().lane() == Event.Lane.PROBE && simple && !breaker.open) {
      wrong.add(grant.leaseId() + " probes though no breaker is open");
    }
    boolean chosen =
        grant.order().lane() == Event.Lane.PROBE || grant.order().lane() == Event.Lane.IN_ORDER;
    if (!breaker.open || !simple || !chosen || probe == null) {
      return;
    }
    waiting.values().stream()
        .filter(w -> w.request().quotaId().equals(grant.quotaId()))
        .sorted(Comparator.comparingLong(Waiter::finishTag).thenComparingLong(Waiter::arrival))
        .filter(w -> !breaker.idle.contains(w.request().agentId()))
        .limit(CANDIDATES)
        .filter(w -> w.attempt() < grant.attempt() || breaker.idle.contains(grant.agentId()))
        .filter(w -> w.deadlineMs() >= step.atMs())
        .filter(w -> asksForNoMore(w, probe))
        .forEach(w -> wrong.add(grant.leaseId() + " probes, and not " + identity(w)));
  }

  private static boolean asksForNoMore(Waiter w, Waiter probe) {
    boolean less = w.standing().role().equals(probe.standing().role());
    less &= w.standing().leaseClass().equals(probe.standing().leaseClass());
    for (Dimension d : Dimension.values()) {
      // What is cached may be charged too.
      long most = w.estimate().get(d) + w.request().estimate().cachedTokens();
      less &= most <= probe.estimate().get(d) || w.estimate().get(d) == 0;
    }
    return less;
  }

  private void read(Step step, Event event, Set<String> probes) {
    Breaker breaker = breakers.computeIfAbsent(event.quotaId(), id -> new Breaker());
    if (event instanceof Event.LeaseEnqueued e) {
      waiting.put(identity(e.waiter()), e.waiter());
    } else if (event instanceof Event.LeaseRejected e) {
      waiting.remove(Invariants.id(e.agentId(), e.requestId()));
    } else if (event instanceof Event.LeaseCancelled e) {
      waiting.remove(Invariants.id(e.agentId(), e.requestId()));
    } else if (event instanceof Event.LeaseGranted e) {
      checkWhoProbes(step, breaker, e);
      waiting.remove(Invariants.id(e.agentId(), e.requestId()));
      grantedAtMs.put(e.leaseId(), step.atMs());
      agents.put(e.leaseId(), e.agentId());
      ended.remove(e.leaseId());
      checkGrant(step, breaker, e, probes);
    } else if (event instanceof Event.LeaseSettled e) {
      ended.add(e.leaseId());
      if (e.outcome() == Outcome.RATE_LIMITED
          && grantedAtMs.get(e.leaseId()) > breaker.openedAtMs
          && !breaker.open) {
        breaker.refusedAtMs.add(step.atMs());
      }
    } else if (event instanceof Event.LeaseExpired e) {
      ended.add(e.leaseId());
    } else if (event instanceof Event.BreakerOpened e) {
      open(step, breaker, e);
    } else if (event instanceof Event.BreakerHalfOpen e) {
      breaker.probe = e.leaseId();
      breaker.probeAgent = agents.get(e.leaseId());
      breaker.probeUntilMs = e.probeUntilMs();
    } else if (event instanceof Event.BreakerClosed) {
      breaker.open = false;
      breaker.probe = null;
      breaker.refusedAtMs.clear();
      breaker.idle.clear();
    } else if (event instanceof Event.QuotaDefined) {
      // Taken up again after a removal, a quota may start afresh.
      boolean isOpen =
          step.snapshots().stream()
              .anyMatch(q -> q.definition().id().equals(event.quotaId()) && q.breaker().isOpen());
      breaker.open &= isOpen;
      breaker.idle.removeIf(agent -> !isOpen);
      breaker.probe = isOpen ? breaker.probe : null;
    }
  }

  private void checkGrant(
      Step step, Breaker breaker, Event.LeaseGranted grant, Set<String> probes) {
    if (!breaker.open) {
      return;
    }
    if (step.atMs() < breaker.probeAtMs) {
      wrong.add(grant.leaseId() + " was granted before the time of the probe");
    }
    if (breaker.probe != null || !probes.contains(grant.leaseId())) {
      wrong.add(grant.leaseId() + " was granted past an open breaker");
    }
  }

  private void open(Step step, Breaker breaker, Event.BreakerOpened e) {
    boolean toldNothing =
        e.cause() == Event.BreakerCause.PROBE_NOT_SENT
            || e.cause() == Event.BreakerCause.PROBE_SILENT;
    if (toldNothing && breaker.probeAgent != null) {
      breaker.idle.add(breaker.probeAgent);
    }
    if (e.cause() == Event.BreakerCause.REFUSALS) {
      int count = breaker.refusedAtMs.size();
      boolean twice = count >= 2 && step.atMs() - breaker.refusedAtMs.get(count - 2) <= WINDOW_MS;
      if (!twice) {
        wrong.add(e.quotaId() + " opened without two 429s in a row");
      }
      breaker.openedAtMs = step.atMs();
    }
    boolean refused =
        e.cause() == Event.BreakerCause.REFUSALS || e.cause() == Event.BreakerCause.PROBE_REFUSED;
    long leastMs = Math.min(LONGEST_WAIT_MS, 1_000L << Math.min(e.failures(), 20));
    if (refused && e.probeAtMs() < step.atMs() + leastMs) {
      wrong.add(e.quotaId() + " probes again after less than " + leastMs + " ms");
    }
    breaker.open = true;
    breaker.probe = null;
    breaker.probeAtMs = e.probeAtMs();
  }

  private void checkNotWedged(Step step, String quotaId, Breaker breaker) {
    if (breaker.probe == null) {
      return;
    }
    if (ended.contains(breaker.probe)) {
      wrong.add(quotaId + " waits for a probe that ended");
    }
    if (step.atMs() >= breaker.probeUntilMs && step.command() instanceof Command.Tick) {
      wrong.add(quotaId + " waits for a probe longer than " + PROBE_MS + " ms");
    }
  }
}
