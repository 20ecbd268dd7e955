package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.learn.ErrorTrend;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Whose estimates lie far off, and when there is something to say about it: when they have for a
 * while, when they no longer do, and when nothing was heard of them for so long that nobody knows.
 * Derived from what is learned and from the alerts that are raised.
 */
final class Suspects {
  private static final long FAR_OFF_MS = 300_000;
  private static final long UNHEARD_MS = 3_600_000;

  private final Set<String> raised = new HashSet<>();
  private final Map<String, Long> dueMs = new HashMap<>();
  private final DueIndex due = new DueIndex();

  /** The subject with something to say first, or null. */
  String first() {
    return dueMs.isEmpty() ? null : due.firstName();
  }

  long firstMs() {
    return due.firstMs();
  }

  boolean isRaised(String subject) {
    return raised.contains(subject);
  }

  /** An alert about that subject was raised or cleared. */
  void alerted(String subject, boolean nowRaised) {
    if (nowRaised) {
      raised.add(subject);
    } else {
      raised.remove(subject);
    }
  }

  /**
   * What is known of a subject changed.
   *
   * @param estimates null if nothing is known any more
   */
  void update(String subject, ErrorTrend estimates, long touchedAtMs) {
    Long old = dueMs.remove(subject);
    if (old != null) {
      due.remove(old, subject);
    }
    Long next = next(subject, estimates, touchedAtMs);
    if (next != null) {
      dueMs.put(subject, next);
      due.add(next, subject);
    }
  }

  private Long next(String subject, ErrorTrend estimates, long touchedAtMs) {
    if (raised.contains(subject)) {
      boolean over = estimates == null || estimates.aboveSinceMs() == null;
      return over ? 0 : touchedAtMs + UNHEARD_MS;
    }
    return estimates == null || estimates.aboveSinceMs() == null
        ? null
        : (Long) (estimates.aboveSinceMs() + FAR_OFF_MS);
  }
}
