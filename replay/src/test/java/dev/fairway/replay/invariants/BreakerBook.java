package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.breaker.BreakerState;
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
 * waits longer after each refusal, and no probe that vanishes wedges it. After three in a row that
 * told nothing it closes into a trickle, and opens again where it was at the first 429.
 */
final class BreakerBook {
  private static final long WINDOW_MS = 3_000;
  private static final long PROBE_MS = 15_000;
  private static final long LONGEST_WAIT_MS = 30_000;
  private static final int CANDIDATES = 16;
  private static final int MAX_IDLE = 3;
  private static final int TRICKLE_PART = 4;

  private static final class Breaker {
    boolean open;
    long openedAtMs = Long.MIN_VALUE;
    long probeAtMs;
    String probe;
    long probeUntilMs;
    int failures;
    int idle;

    /** Leases of the trickle, and how long each keeps the next one back at the least. */
    Map<String, Long> trickle;

    long nextMs;
    final List<Long> refusedAtMs = new ArrayList<>();
  }

  private final List<String> wrong;
  private final Map<String, Breaker> breakers = new HashMap<>();
  private final Map<String, Long> grantedAtMs = new HashMap<>();
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
   * was refused less often than who probes. In quotas of one level that take from no other, whose
   * line the tags alone make.
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
        .limit(CANDIDATES)
        .filter(w -> w.attempt() < grant.attempt())
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
      ended.remove(e.leaseId());
      checkGrant(step, breaker, e, probes);
      checkTrickle(step, breaker, e);
    } else if (event instanceof Event.LeaseSettled e) {
      ended.add(e.leaseId());
      if (breaker.trickle != null && e.outcome() == Outcome.NOT_SENT) {
        breaker.nextMs -= breaker.trickle.getOrDefault(e.leaseId(), 0L);
      }
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
      breaker.probeUntilMs = e.probeUntilMs();
    } else if (event instanceof Event.BreakerClosed e) {
      close(step, breaker, e);
    } else if (event instanceof Event.QuotaDefined e) {
      boolean has = Definitions.has(e.definition(), Rule.BREAKER);
      breaker.openedAtMs = has ? breaker.openedAtMs : Long.MIN_VALUE;
      // Taken up again after a removal, a quota may start afresh.
      for (QuotaSnapshot quota : step.snapshots()) {
        if (quota.definition().id().equals(event.quotaId())) {
          BreakerState state = quota.breaker();
          breaker.open &= BreakerFacts.isOpen(state);
          breaker.idle = BreakerFacts.isOpen(state) ? breaker.idle : 0;
          breaker.probe = BreakerFacts.isOpen(state) ? breaker.probe : null;
          breaker.failures = BreakerFacts.isUnproven(state) ? breaker.failures : 0;
          breaker.trickle = BreakerFacts.trickles(state) ? breaker.trickle : null;
          breaker.nextMs = Long.MIN_VALUE; // At other limits.
        }
      }
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
    breaker.idle = toldNothing ? breaker.idle + 1 : 0;
    if (breaker.idle >= MAX_IDLE) {
      wrong.add(e.quotaId() + " probes again after " + breaker.idle + " that told nothing");
    }
    boolean probeRefused = e.cause() == Event.BreakerCause.PROBE_REFUSED;
    int failures = probeRefused ? breaker.failures + 1 : toldNothing ? breaker.failures : 0;
    if (e.failures() != failures || (breaker.trickle != null && !probeRefused)) {
      wrong.add(e.quotaId() + " opened by " + e.cause() + " at " + e.failures());
    }
    breaker.failures = e.failures();
    breaker.trickle = null;
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

  private void close(Step step, Breaker breaker, Event.BreakerClosed e) {
    if (e.trickleFromMs() == null) {
      breaker.failures = 0;
      breaker.trickle = null;
    } else {
      if (!breaker.open || breaker.idle != MAX_IDLE - 1) {
        wrong.add(e.quotaId() + " trickles after " + (breaker.idle + 1) + " that told nothing");
      }
      breaker.trickle = new HashMap<>();
      breaker.nextMs = Math.max(step.atMs(), e.trickleFromMs());
    }
    breaker.open = false;
    breaker.probe = null;
    breaker.idle = 0;
    breaker.refusedAtMs.clear();
  }

  /** Grants of a trickle are as far apart as a quarter of the limit makes them, or 15 s. */
  private void checkTrickle(Step step, Breaker breaker, Event.LeaseGranted grant) {
    if (breaker.trickle == null) {
      return;
    }
    if (step.atMs() < breaker.nextMs) {
      wrong.add(grant.leaseId() + " was granted ahead of the trickle's pace");
    }
    long apartMs = 0;
    for (QuotaSnapshot quota : step.snapshots()) {
      if (quota.definition().id().equals(grant.quotaId())) {
        for (Dimension d : Dimension.values()) {
          long limit = quota.definition().limits().get(d);
          if (d.refills() && quota.definition().limits().has(d)) {
            long ms = grant.charged().get(d) * TRICKLE_PART * 60_000 / limit;
            apartMs = Math.max(apartMs, Math.min(PROBE_MS, ms));
          }
        }
      }
    }
    breaker.trickle.put(grant.leaseId(), apartMs);
    breaker.nextMs = Math.max(breaker.nextMs, step.atMs()) + apartMs;
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
