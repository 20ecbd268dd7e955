package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** When fixed windows were reset: what was taken before came back then, and is not refunded. */
final class ResetBook {
  private static final long MINUTE_MS = 60_000;
  private static final long GUARD_MS = 150;

  private final Map<String, QuotaDefinition> definitions = new HashMap<>();
  private final Map<String, Long> resetAtMs = new HashMap<>();
  private final Map<String, Long> grantedAtMs = new HashMap<>();

  /** Whether those begin anew, or live on with what they knew, events do not tell. */
  private final Set<String> removed = new HashSet<>();

  void read(Step step, Event event) {
    if (event instanceof Event.QuotaDefined e) {
      definitions.put(e.quotaId(), e.definition());
      for (Dimension d : Dimension.values()) {
        if (!e.definition().limits().has(d)) {
          resetAtMs.remove(e.quotaId() + d);
        }
      }
    } else if (event instanceof Event.QuotaRemoved e) {
      removed.add(e.quotaId());
    } else if (event instanceof Event.ResetLearned e) {
      resetAtMs.put(e.quotaId() + e.dimension(), e.resetAtMs());
    } else if (event instanceof LeaseGranted e) {
      grantedAtMs.put(e.leaseId(), step.atMs());
    }
  }

  /** Whether a reset lies between the grant of a lease and its settlement, which is now. */
  boolean cameBack(Step step, LeaseSettled e, Dimension d) {
    QuotaDefinition definition = definitions.get(e.quotaId());
    long phaseMs = resetAtMs.getOrDefault(e.quotaId() + d, 0L) + GUARD_MS;
    return definition.window() == Window.FIXED
        && Definitions.has(definition, Rule.EXACT_WINDOWS)
        && (removed.contains(e.quotaId())
            || Math.floorDiv(step.atMs() - phaseMs, MINUTE_MS)
                > Math.floorDiv(grantedAtMs.get(e.leaseId()) - phaseMs, MINUTE_MS));
  }
}
