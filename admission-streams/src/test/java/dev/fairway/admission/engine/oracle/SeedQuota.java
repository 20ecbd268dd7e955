package dev.fairway.admission.engine.oracle;

import java.util.LinkedHashMap;
import java.util.Map;

/** Quotas of the comparison. Depths are multiples of a hundred: every margin of them is whole. */
enum SeedQuota {
  THREE_LIMITS,
  COMBINED_WITH_SLOTS;

  Map<String, Long> limits() {
    Map<String, Long> limits = new LinkedHashMap<>();
    if (this == THREE_LIMITS) {
      limits.put("requests", 240L);
      limits.put("input_tokens", 6000L);
      limits.put("output_tokens", 5001L);
    } else {
      limits.put("tokens", 4700L);
      limits.put("concurrent_requests", 4L);
    }
    return limits;
  }

  Map<String, Long> depths() {
    return this == THREE_LIMITS
        ? Map.of("requests", 100L, "input_tokens", 1000L, "output_tokens", 700L)
        : Map.of("tokens", 900L);
  }

  Map<String, Long> levels() {
    return this == THREE_LIMITS ? Map.of("requests", 6L, "input_tokens", 800L) : Map.of();
  }
}
