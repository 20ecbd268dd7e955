package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Providers of fixed and rolling windows, fed with what a run granted: none has to refuse a call,
 * whatever was settled, refunded or redefined in between.
 */
final class WindowBook {
  private static final long GUARD_MS = 150;

  private final List<String> wrong = new ArrayList<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();
  private final Map<String, WindowProvider> providers = new HashMap<>();
  private final Map<String, Long> knownFromMs = new HashMap<>();
  private final Map<String, Map<Dimension, Long>> resets = new HashMap<>();
  private final Set<String> notSent = new HashSet<>();
  private final Set<String> removed = new HashSet<>();

  private WindowBook() {}

  /** What an exact provider of {@link WindowRun} adds up never exceeds its limit. */
  static List<String> providersRefuseNothing(List<Step> steps) {
    WindowBook book = new WindowBook();
    boolean headers =
        steps.stream()
            .flatMap(step -> step.handled().events().stream())
            .anyMatch(Event.BucketsResynced.class::isInstance);
    book.providers.put(
        WindowRun.FIXED, new WindowProvider(Window.FIXED, WindowRun.phaseMs(headers)));
    book.providers.put(WindowRun.ROLLING, new WindowProvider(Window.ROLLING, 0));
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e && e.outcome() == Outcome.NOT_SENT) {
          book.notSent.add(e.leaseId());
        }
      }
    }
    for (Step step : steps) {
      step.handled().events().forEach(event -> book.count(step, event, headers));
    }
    return book.wrong;
  }

  private void count(Step step, Event event, boolean headers) {
    if (event instanceof Event.QuotaDefined e) {
      definitions.put(e.quotaId(), e.definition());
      boolean known = !headers || !e.quotaId().equals(WindowRun.FIXED);
      if (known || knownFromMs.containsKey(e.quotaId())) {
        knownFromMs.put(e.quotaId(), step.atMs());
      }
    } else if (event instanceof Event.ResetLearned e) {
      knownFromMs.put(e.quotaId(), step.atMs());
    } else if (event instanceof LeaseGranted e && !notSent.contains(e.leaseId())) {
      arrive(e, e.quotaId(), e.charged());
      e.taken().also().forEach((id, charged) -> arrive(e, id, charged));
    }
  }

  private void arrive(LeaseGranted e, String quotaId, Amounts charged) {
    WindowProvider provider = providers.get(quotaId);
    if (provider == null) {
      return;
    }
    QuotaDefinition definition = definitions.get(quotaId);
    boolean seed = definition.preset() == Preset.SEED;
    long atMs = provider.arrivesAtMs(e);
    provider.arrive(atMs, seed ? charged : WindowProvider.used(e.leaseId(), charged));
    Long known = knownFromMs.get(quotaId);
    boolean fixed = quotaId.equals(WindowRun.FIXED);
    boolean rules =
        definition.window() == (fixed ? Window.FIXED : Window.ROLLING)
            && known != null
            && (!fixed || known < provider.lastResetMs(atMs));
    for (Dimension d : Dimension.values()) {
      long limit = definition.limits().get(d);
      if (rules && d.refills() && definition.limits().has(d) && provider.used(d, atMs) > limit) {
        wrong.add(
            e.leaseId()
                + " at "
                + atMs
                + " makes "
                + provider.used(d, atMs)
                + " "
                + d
                + " of "
                + limit
                + " in the "
                + definition.window()
                + " window of "
                + quotaId);
      }
    }
  }

  /** Nobody is granted anything of a fixed window within the guard after one of its resets. */
  static List<String> nothingGoesRightAfterAReset(List<Step> steps) {
    WindowBook book = new WindowBook();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.QuotaDefined e) {
          book.definitions.put(e.quotaId(), e.definition());
          Map<Dimension, Long> known = book.resets.get(e.quotaId());
          if (known != null) {
            known.keySet().removeIf(d -> !e.definition().limits().has(d));
          }
        } else if (event instanceof Event.QuotaRemoved e) {
          // Whether it begins anew, or lives on with what it knew, events do not tell.
          book.removed.add(e.quotaId());
        } else if (event instanceof Event.ResetLearned e) {
          book.resets
              .computeIfAbsent(e.quotaId(), id -> new HashMap<>())
              .put(e.dimension(), e.resetAtMs());
        } else if (event instanceof LeaseGranted e) {
          book.guard(e, e.quotaId());
          e.taken().also().keySet().forEach(id -> book.guard(e, id));
        }
      }
    }
    return book.wrong;
  }

  private void guard(LeaseGranted e, String quotaId) {
    QuotaDefinition definition = definitions.get(quotaId);
    for (Dimension d : Dimension.values()) {
      boolean known = definition.window() == Window.FIXED && !removed.contains(quotaId);
      if (known && d.refills() && definition.limits().has(d)) {
        long resetAtMs = resets.getOrDefault(quotaId, Map.of()).getOrDefault(d, 0L);
        long sinceMs = Math.floorMod(e.grantedAtMs() - resetAtMs, WindowProvider.MINUTE_MS);
        if (sinceMs < GUARD_MS) {
          wrong.add(e.leaseId() + " was granted " + sinceMs + " ms after a reset of " + quotaId);
        }
      }
    }
  }
}
