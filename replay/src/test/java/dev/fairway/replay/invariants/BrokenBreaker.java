package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BreakerCause;
import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.BreakerHalfOpen;
import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Settlement.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What engines would have written that take 429s wrong. */
final class BrokenBreaker {
  private BrokenBreaker() {}

  static List<Step> openAtOne429(List<Step> steps) {
    Set<String> opened = new LinkedHashSet<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>(step.handled().events());
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e
            && e.outcome() == Outcome.RATE_LIMITED
            && opened.add(e.quotaId())) {
          events.add(new BreakerOpened(e.quotaId(), BreakerCause.REFUSALS, 0, step.atMs() + 1_000));
        }
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  static List<Step> cutOnEvery429(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>(step.handled().events());
      boolean cut = events.stream().anyMatch(MarginCut.class::isInstance);
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e && e.outcome() == Outcome.RATE_LIMITED && !cut) {
          int bp = Invariants.snapshot(step, e.quotaId()).marginBp();
          events.add(new MarginCut(e.quotaId(), bp, bp - 700));
        }
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  /** However many probes told nothing, the next one is a probe. */
  static List<Step> probeAgain(List<Step> steps) {
    return Tamper.each(
        steps,
        BreakerClosed.class,
        e ->
            e.trickleFromMs() == null
                ? e
                : new BreakerOpened(e.quotaId(), BreakerCause.PROBE_SILENT, 0, e.trickleFromMs()));
  }

  /** A trickle lets two go in place of one. */
  static List<Step> flood(List<Step> steps) {
    Set<String> trickling = new LinkedHashSet<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        events.add(event);
        if (event instanceof BreakerClosed e && e.trickleFromMs() != null) {
          trickling.add(e.quotaId());
        } else if (event instanceof BreakerClosed || event instanceof BreakerOpened) {
          trickling.remove(event.quotaId());
        } else if (event instanceof LeaseGranted e && trickling.contains(e.quotaId())) {
          events.add(Tamper.asLease(e, e.leaseId() + "-twin"));
        }
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  /** A probe that is refused begins the waits anew. */
  static List<Step> beginAnew(List<Step> steps) {
    return Tamper.each(
        steps,
        BreakerOpened.class,
        e ->
            e.cause() == BreakerCause.PROBE_REFUSED
                ? new BreakerOpened(e.quotaId(), e.cause(), 0, e.probeAtMs())
                : e);
  }

  /** Beside each probe goes another one. */
  static List<Step> twoProbes(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>();
      LeaseGranted last = null;
      for (Event event : step.handled().events()) {
        events.add(event);
        last = event instanceof LeaseGranted e ? e : last;
        if (event instanceof BreakerHalfOpen e && last != null) {
          events.add(Tamper.asLease(last, last.leaseId() + "-twin"));
          events.add(new BreakerHalfOpen(e.quotaId(), e.leaseId() + "-twin", e.probeUntilMs()));
        }
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }
}
