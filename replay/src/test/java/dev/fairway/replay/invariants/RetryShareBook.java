package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Of a quota's calls of the last minute, at most ten and a tenth are retries. Counted here by what
 * comes in line and what leaves it without a grant: of this minute all, and of the one before the
 * part that is not over.
 */
final class RetryShareBook {
  private static final long MINUTE_MS = 60_000;
  private static final int FLOOR = 10;
  private static final double SHARE = 0.1;

  /** Counts of a quota by number of the minute. */
  private static final class Minutes {
    final Map<Long, Integer> calls = new HashMap<>();
    final Map<Long, Integer> retries = new HashMap<>();

    void count(long atMs, int number, boolean retry) {
      long minute = atMs / MINUTE_MS;
      calls.merge(minute, number, (a, b) -> Math.max(0, a + b));
      calls.computeIfPresent(minute, (m, n) -> Math.max(0, n));
      if (retry) {
        retries.merge(minute, number, (a, b) -> Math.max(0, a + b));
        retries.computeIfPresent(minute, (m, n) -> Math.max(0, n));
      }
    }

    static double lately(Map<Long, Integer> counts, long atMs) {
      long minute = atMs / MINUTE_MS;
      double part = 1 - (double) (atMs % MINUTE_MS) / MINUTE_MS;
      return counts.getOrDefault(minute, 0) + part * counts.getOrDefault(minute - 1, 0);
    }
  }

  private final List<String> wrong = new ArrayList<>();
  private final Map<String, Minutes> minutes = new HashMap<>();
  private final Map<String, Waiter> waiting = new HashMap<>();

  private RetryShareBook() {}

  static List<String> retriesAreAFewOfAllCalls(List<Step> steps) {
    RetryShareBook book = new RetryShareBook();
    for (Step step : steps) {
      step.handled().events().forEach(event -> book.read(step, event));
      Set<String> known =
          step.snapshots().stream().map(q -> q.definition().id()).collect(Collectors.toSet());
      book.minutes.keySet().retainAll(known);
    }
    return book.wrong;
  }

  private void read(Step step, Event event) {
    if (event instanceof Event.LeaseEnqueued e) {
      enqueued(step, e.waiter());
    } else if (event instanceof Event.LeaseGranted e) {
      waiting.remove(Invariants.id(e.agentId(), e.requestId()));
    } else if (event instanceof Event.LeaseRejected e && e.contentHash() != null) {
      left(step, Invariants.id(e.agentId(), e.requestId()));
    } else if (event instanceof Event.LeaseCancelled e && e.wasWaiting()) {
      left(step, Invariants.id(e.agentId(), e.requestId()));
    }
  }

  private void enqueued(Step step, Waiter waiter) {
    QuotaDefinition quota = definition(step, waiter);
    Minutes counted = minutes.computeIfAbsent(quota.id(), id -> new Minutes());
    boolean retry = isRetry(quota, waiter);
    double calls = Minutes.lately(counted.calls, step.atMs()) + 1;
    double retries = Minutes.lately(counted.retries, step.atMs()) + 1;
    if (retry && retries > FLOOR + SHARE * calls + 1e-6) {
      wrong.add(retries + " retries of " + calls + " calls of " + quota.id());
    }
    counted.count(step.atMs(), 1, retry);
    waiting.put(id(waiter), waiter);
  }

  private void left(Step step, String id) {
    Waiter waiter = waiting.remove(id);
    if (waiter != null) {
      QuotaDefinition quota = definition(step, waiter);
      minutes
          .computeIfAbsent(quota.id(), name -> new Minutes())
          .count(step.atMs(), -1, isRetry(quota, waiter));
    }
  }

  private static boolean isRetry(QuotaDefinition quota, Waiter waiter) {
    return waiter.attempt() > 1 && quota.preset() == Preset.FAIRWAY;
  }

  private static QuotaDefinition definition(Step step, Waiter waiter) {
    return Invariants.snapshot(step, waiter.request().quotaId()).definition();
  }

  private static String id(Waiter waiter) {
    return Invariants.id(waiter.request().agentId(), waiter.request().requestId());
  }
}
