package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What must hold of who waits and who goes, in every run. Nothing here calls the engine. */
final class QueueInvariants {
  private QueueInvariants() {}

  /** Who is admitted is granted, or rejected at its deadline at the latest. */
  static List<String> everybodyIsAnswered(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Waiter> waiting = new LinkedHashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.LeaseEnqueued e) {
          waiting.put(
              Invariants.id(e.waiter().request().agentId(), e.waiter().request().requestId()),
              e.waiter());
        } else if (event instanceof Event.LeaseGranted e) {
          leave(waiting, e.agentId(), e.requestId(), step.atMs(), wrong);
        } else if (event instanceof Event.LeaseRejected e) {
          leave(waiting, e.agentId(), e.requestId(), step.atMs(), wrong);
        } else if (event instanceof Event.LeaseCancelled e) {
          leave(waiting, e.agentId(), e.requestId(), step.atMs(), wrong);
        }
      }
      for (Waiter waiter : waiting.values()) {
        if (lastMs(waiter) < step.atMs()) {
          wrong.add(waiter.request().requestId() + " still waits after its deadline");
        }
      }
    }
    if (!waiting.isEmpty()) {
      wrong.add("never answered: " + waiting.keySet());
    }
    return wrong;
  }

  private static void leave(
      Map<String, Waiter> waiting, String agent, String request, long atMs, List<String> wrong) {
    Waiter waiter = waiting.remove(Invariants.id(agent, request));
    if (waiter != null && atMs > lastMs(waiter)) {
      wrong.add(request + " was answered at " + atMs + ", after " + lastMs(waiter));
    }
  }

  /** A call that a 429 brought back after its deadline leaves at once. */
  private static long lastMs(Waiter waiter) {
    return Math.max(waiter.deadlineMs(), waiter.enqueuedAtMs());
  }

  /**
   * Virtual time never falls, a newcomer starts at it and nobody is served below it, a retry keeps
   * its tag, and a reject takes nothing.
   */
  static List<String> tagsAreFair(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    TagBook book = new TagBook(wrong);
    for (Step step : steps) {
      book.read(step);
    }
    return wrong;
  }

  /** What passes a waiting head stays small against it. */
  static List<String> passingIsBounded(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    PassBook book = new PassBook(wrong);
    for (Step step : steps) {
      book.read(step);
    }
    return wrong;
  }

  /** An open breaker has one probe in flight at most, and none that vanishes wedges it. */
  static List<String> oneProbeAtATime(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    BreakerBook book = new BreakerBook(wrong);
    for (Step step : steps) {
      book.read(step);
    }
    return wrong;
  }

  /**
   * What agents may use alone never sums above the margin's floor of the limit, counting for each
   * agent the largest share that it was told and that is not over; of a quota that others take from
   * as well, together with what their agents were told. A quota that was removed tells nobody
   * anything any more.
   */
  static List<String> safeSharesFitTheLimit(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, List<Event.SafeCapacityTold>> toldByQuota = new HashMap<>();
    Map<String, Amounts> limits = new HashMap<>();
    Map<String, List<String>> also = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.QuotaRemoved e) {
          toldByQuota.remove(e.quotaId());
        } else if (event instanceof Event.QuotaDefined e) {
          limits.merge(e.quotaId(), e.definition().limits(), QueueInvariants::larger);
          also.put(e.quotaId(), e.definition().also());
        } else if (event instanceof Event.SafeCapacityTold e) {
          note(toldByQuota, e.quotaId(), e, e.agentId());
          checkShares(toldByQuota.get(e.quotaId()), step.atMs(), limits.get(e.quotaId()), wrong);
          for (String other : also.get(e.quotaId())) {
            note(toldByQuota, other, e, e.quotaId() + " " + e.agentId());
            checkShares(toldByQuota.get(other), step.atMs(), limits.get(other), wrong);
          }
        }
      }
    }
    return wrong;
  }

  private static void note(
      Map<String, List<Event.SafeCapacityTold>> toldByQuota,
      String quotaId,
      Event.SafeCapacityTold e,
      String holder) {
    toldByQuota
        .computeIfAbsent(quotaId, id -> new ArrayList<>())
        .add(
            new Event.SafeCapacityTold(
                quotaId, holder, e.part(), e.perMinute(), e.validUntilMs(), e.countedUntilMs()));
  }

  private static void checkShares(
      List<Event.SafeCapacityTold> told, long atMs, Amounts limits, List<String> wrong) {
    told.removeIf(e -> e.validUntilMs() <= atMs);
    double floor = Definitions.of("k/a", Preset.SEED, 1, State.ACTIVE).margin().floor();
    for (Dimension d : Dimension.values()) {
      if (!d.refills() || !limits.has(d)) {
        continue;
      }
      Map<String, Long> largest = new HashMap<>();
      told.forEach(e -> largest.merge(e.agentId(), e.perMinute().get(d), Math::max));
      long sum = largest.values().stream().mapToLong(Long::longValue).sum();
      if (sum > floor * limits.get(d)) {
        wrong.add("shares of " + sum + " " + d + " of a limit of " + limits.get(d));
      }
    }
  }

  private static Amounts larger(Amounts one, Amounts other) {
    Amounts larger = one;
    for (Dimension d : Dimension.values()) {
      larger = other.get(d) > larger.get(d) ? larger.with(d, other.get(d)) : larger;
    }
    return larger;
  }
}
