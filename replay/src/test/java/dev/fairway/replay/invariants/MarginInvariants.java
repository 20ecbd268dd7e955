package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.QuotaDefined;
import dev.fairway.admission.engine.Event.SafetyFactorChanged;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What must hold of margins and headers, in every run. Nothing here calls the engine. */
final class MarginInvariants {
  private static final long FRESH_MS = 60_000;
  private static final long GUARD_MS = 120;
  private static final int RAISE_MILLI = 250;
  private static final int MAX_Z_MILLI = 4_000;

  private MarginInvariants() {}

  /** A level that no header confirmed for a minute is not followed any more. */
  static List<String> losingHeadersFallsBack(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (Step step : steps) {
      for (Row.BucketRow b : buckets(step, null)) {
        boolean fresh = b.answeredAtMs() != null && step.atMs() - b.answeredAtMs() < FRESH_MS;
        if (b.mode() == MarginModeName.ADAPTIVE && !fresh) {
          wrong.add(b + " is followed at " + step.atMs());
        }
      }
    }
    return wrong;
  }

  /** A header of a call that was sent clearly before that of the last one applied does nothing. */
  static List<String> staleHeadersDoNothing(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Long> newest = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.QuotaRemoved e) {
          newest.remove(e.quotaId());
        } else if (event instanceof BucketsResynced e) {
          Long before = newest.get(e.quotaId());
          if (before != null && e.sentAtMs() < before - GUARD_MS) {
            wrong.add(e + " after one sent at " + before);
          }
          newest.merge(e.quotaId(), e.sentAtMs(), Math::max);
        }
      }
    }
    return wrong;
  }

  /** What the provider's number holds already, a settlement does not move again. */
  static List<String> whatIsAbsorbedMovesNothing(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Long> sentAtMs = new HashMap<>();
    Map<String, Long> grantedAtMs = new HashMap<>();
    Map<String, Long> absorbedBeforeMs = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof QuotaDefined e) {
          for (Dimension d : Dimension.values()) {
            if (!e.definition().limits().has(d)) {
              absorbedBeforeMs.remove(e.quotaId() + d);
            }
          }
        } else if (event instanceof Event.QuotaRemoved e) {
          absorbedBeforeMs.keySet().removeIf(name -> name.startsWith(e.quotaId()));
        } else if (event instanceof BucketsResynced e) {
          for (Event.Resync r : e.dimensions()) {
            if (r.low() != null) {
              absorbedBeforeMs.merge(e.quotaId() + r.dimension(), e.sentAtMs(), Math::max);
            }
          }
        } else if (event instanceof LeaseGranted e) {
          grantedAtMs.put(e.leaseId(), e.grantedAtMs());
          sentAtMs.remove(e.leaseId());
        } else if (event instanceof LeaseRenewed e && e.sendDelayMs() != null) {
          sentAtMs.put(e.leaseId(), grantedAtMs.get(e.leaseId()) + e.sendDelayMs());
        } else if (event instanceof LeaseSettled e) {
          for (Dimension d : Dimension.values()) {
            Long sent = sentAtMs.get(e.leaseId());
            Long before = absorbedBeforeMs.get(e.quotaId() + d);
            boolean absorbed = sent != null && before != null && sent <= before;
            if (absorbed && d != Dimension.OUTPUT_TOKENS && e.adjusted().get(d) != 0) {
              wrong.add(e + " moves what was sent at " + sent + ", before " + before);
            }
          }
        }
      }
    }
    return wrong;
  }

  /**
   * An episode of 429s raises the safety factor of who follows the provider's level, once; what a
   * breaker's probes are told belongs to it.
   */
  static List<String> episodesRaiseTheSafetyFactor(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Long> grantedAtMs = new HashMap<>();
    Map<String, Long> lastCutAtMs = new HashMap<>();
    Step previous = null;
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseGranted e) {
          grantedAtMs.put(e.leaseId(), e.grantedAtMs());
        } else if (event instanceof LeaseSettled e
            && isEpisode(step, e, grantedAtMs, lastCutAtMs)
            && !isProbe(previous, e.quotaId(), grantedAtMs.get(e.leaseId()))) {
          boolean follows =
              canRise(previous, e.quotaId())
                  && buckets(previous, e.quotaId()).stream()
                      .anyMatch(b -> b.mode() == MarginModeName.ADAPTIVE);
          boolean raised =
              step.handled().events().stream()
                  .anyMatch(
                      x ->
                          x instanceof SafetyFactorChanged s
                              && s.toMilli() == Math.min(MAX_Z_MILLI, s.fromMilli() + RAISE_MILLI));
          if (follows != raised) {
            wrong.add(e + ": raised " + raised + ", follows the level " + follows);
          }
        }
      }
      for (Event event : step.handled().events()) {
        if (event instanceof MarginCut e) {
          lastCutAtMs.put(e.quotaId(), step.atMs());
        } else if (event instanceof SafetyFactorChanged e && e.toMilli() > e.fromMilli()) {
          lastCutAtMs.put(e.quotaId(), step.atMs());
        } else if (event instanceof Event.QuotaRemoved e) {
          // What comes under this id later may be a new quota, or the old one.
          lastCutAtMs.put(e.quotaId(), Long.MAX_VALUE);
        }
      }
      previous = step;
    }
    return wrong;
  }

  /**
   * In episodes a margin is cut, and a safety factor raised, by the first 429 of an episode alone:
   * not by one on a call that was granted before the last cut, and by none of a breaker's probes.
   */
  static List<String> episodesCutOnce(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Long> grantedAtMs = new HashMap<>();
    Map<String, Long> lastCutAtMs = new HashMap<>();
    Step previous = null;
    for (Step step : steps) {
      LeaseSettled refused = null;
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseGranted e) {
          grantedAtMs.put(e.leaseId(), e.grantedAtMs());
        } else if (event instanceof LeaseSettled e) {
          refused = e;
        } else if (event instanceof Event.QuotaRemoved e) {
          lastCutAtMs.remove(e.quotaId()); // It may begin anew.
        } else if (isCut(event) && inEpisodes(step, event.quotaId())) {
          boolean first =
              refused != null
                  && isEpisode(step, refused, grantedAtMs, lastCutAtMs)
                  && !isProbe(previous, event.quotaId(), grantedAtMs.get(refused.leaseId()));
          if (!first) {
            wrong.add(event + " by " + refused + ", after a cut at " + lastCutAtMs);
          }
        }
      }
      for (Event event : step.handled().events()) {
        if (isCut(event)) {
          lastCutAtMs.put(event.quotaId(), step.atMs());
        }
      }
      previous = step;
    }
    return wrong;
  }

  private static boolean isCut(Event event) {
    return event instanceof MarginCut
        || (event instanceof SafetyFactorChanged e && e.toMilli() > e.fromMilli());
  }

  private static boolean inEpisodes(Step step, String quotaId) {
    return Definitions.has(Invariants.snapshot(step, quotaId).definition(), Rule.EPISODES);
  }

  /** A margin is cut by its step at most and never below its floor, and restored to its start. */
  static List<String> marginsStayInBounds(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof MarginCut e) {
          Margin margin = Invariants.snapshot(step, e.quotaId()).definition().margin();
          boolean below = e.toBp() < basisPoints(margin.floor()) && e.toBp() < e.fromBp();
          if (below || e.fromBp() - e.toBp() > basisPoints(margin.cut())) {
            wrong.add(e + ", with " + margin);
          }
        } else if (event instanceof Event.MarginRestored e) {
          Margin margin = Invariants.snapshot(step, e.quotaId()).definition().margin();
          if (e.toBp() > basisPoints(margin.start())) {
            wrong.add(e + ", with " + margin);
          }
        }
      }
    }
    return wrong;
  }

  private static long basisPoints(double part) {
    return Math.round(part * 10_000);
  }

  private static boolean isEpisode(
      Step step, LeaseSettled e, Map<String, Long> grantedAtMs, Map<String, Long> lastCutAtMs) {
    Long last = lastCutAtMs.get(e.quotaId());
    Signal signal =
        step.command() instanceof Command.SettleLease c ? c.settlement().signal() : null;
    return e.outcome() == Outcome.RATE_LIMITED
        && signal != null
        && signal.kind() == Signal.Kind.RATE_LIMITED
        && (last == null || grantedAtMs.get(e.leaseId()) > last);
  }

  private static boolean isProbe(Step before, String quotaId, long grantedAtMs) {
    return before.rows().stream()
        .anyMatch(
            row ->
                row instanceof Row.BreakerRow r
                    && r.quotaId().equals(quotaId)
                    && BreakerFacts.isUnproven(r.state())
                    && !BreakerFacts.predates(r.state(), grantedAtMs));
  }

  private static boolean canRise(Step before, String quotaId) {
    return before.rows().stream()
        .anyMatch(
            row ->
                row instanceof Row.BalanceRow r
                    && r.quotaId().equals(quotaId)
                    && r.zMilli() < MAX_Z_MILLI);
  }

  private static List<Row.BucketRow> buckets(Step step, String quotaId) {
    List<Row.BucketRow> buckets = new ArrayList<>();
    for (Row row : step.rows()) {
      if (row instanceof Row.BalanceRow r && (quotaId == null || r.quotaId().equals(quotaId))) {
        buckets.addAll(r.buckets());
      }
    }
    return buckets;
  }
}
