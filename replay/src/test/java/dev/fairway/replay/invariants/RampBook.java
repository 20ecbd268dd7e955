package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Grants of a ramp: none before it starts, and each as long after the last as that takes to refill
 * by a clock that goes at half speed first and saves up a second. Counted by the whole limit, which
 * refills no slower than what is left of it, and anew after each settlement, which may give back.
 */
final class RampBook {
  private static final double BURST_MS = 1_000;
  private static final double LASTS_MS = 180_000;
  private static final double DOUBLES_MS = 240_000;
  private static final double ROUNDING_MS = 2;

  private static final class Ramp {
    final long fromMs;
    double next;

    Ramp(long fromMs) {
      this.fromMs = fromMs;
    }

    double clock(long atMs) {
      double t = Math.max(0, Math.min((double) (atMs - fromMs), LASTS_MS));
      return t / 2 + t * t / DOUBLES_MS;
    }
  }

  private final List<String> wrong = new ArrayList<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();
  private final Map<String, Ramp> ramps = new HashMap<>();

  private RampBook() {}

  static List<String> rampsPaceGrants(List<Step> steps) {
    RampBook book = new RampBook();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        book.read(step, event);
      }
    }
    return book.wrong;
  }

  private void read(Step step, Event event) {
    if (event instanceof Event.QuotaDefined e) {
      definitions.put(e.quotaId(), e.definition());
      if (Invariants.snapshot(step, e.quotaId()).breaker().ramp() == null) {
        ramps.remove(e.quotaId()); // Taken up again after a removal, it may begin anew.
      }
      forget(e.quotaId());
    } else if (event instanceof Event.RampStarted e) {
      ramps.put(e.quotaId(), new Ramp(e.fromMs()));
    } else if (event instanceof Event.RampEnded || event instanceof Event.BreakerOpened) {
      ramps.remove(event.quotaId());
    } else if (event instanceof Event.BreakerClosed e && e.trickleFromMs() != null) {
      ramps.remove(e.quotaId());
    } else if (event instanceof Event.LeaseSettled e) {
      forget(e.quotaId());
      definitions
          .get(e.quotaId())
          .also()
          .forEach(this::forget); // What it gives back returns there.
    } else if (event instanceof Event.LeaseGranted e) {
      grant(e, e.quotaId(), e.charged());
      e.taken().also().forEach((id, charged) -> grant(e, id, charged));
    }
  }

  private void forget(String quotaId) {
    if (ramps.containsKey(quotaId)) {
      ramps.get(quotaId).next = 0;
    }
  }

  private void grant(Event.LeaseGranted e, String quotaId, Amounts charged) {
    Ramp ramp = ramps.get(quotaId);
    if (ramp == null) {
      return;
    }
    double clock = ramp.clock(e.grantedAtMs());
    if (e.grantedAtMs() < ramp.fromMs || clock + ROUNDING_MS < ramp.next) {
      wrong.add(
          e.leaseId()
              + " was granted at "
              + clock
              + " of the ramp of "
              + quotaId
              + ", not at "
              + ramp.next);
    }
    double takesMs = 0;
    Amounts limits = definitions.get(quotaId).limits();
    for (Dimension d : Dimension.values()) {
      if (d.refills() && limits.has(d)) {
        takesMs = Math.max(takesMs, charged.get(d) * 60_000.0 / limits.get(d));
      }
    }
    ramp.next = Math.max(ramp.next, clock - BURST_MS) + takesMs;
  }
}
