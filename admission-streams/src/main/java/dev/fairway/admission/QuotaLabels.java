package dev.fairway.admission;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Bounds the label {@code quota}: the first quotas seen have their own, the rest share {@code
 * other}. Thread-safe.
 */
final class QuotaLabels {
  static final String OTHER = "other";

  private final int max;
  private final Set<String> own = ConcurrentHashMap.newKeySet();

  QuotaLabels(int max) {
    this.max = max;
  }

  /** Label of a quota id; {@code other} too for anything that a metric must not grow by. */
  String of(String quotaId) {
    if (own.contains(quotaId)) {
      return quotaId;
    }
    // Two threads may overshoot by one each; the bound is for memory, not for accounting.
    return own.size() < max && own.add(quotaId) ? quotaId : OTHER;
  }
}
