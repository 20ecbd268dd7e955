package dev.fairway.cli.ops.why;

import dev.fairway.schemas.BucketsResynced;
import dev.fairway.schemas.DimensionResync;
import dev.fairway.schemas.WaitsFor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What the provider's headers did to balances while a request waited: to the limit that it waited
 * for one by one, to the others in one sum.
 */
final class Resyncs {

  private record Sum(long count, long first, long last) {}

  private final Map<String, Sum> others = new TreeMap<>();

  /**
   * What of a resync is told by itself; the rest goes into the sum.
   *
   * @param waitsFor what the request waits for, or null if that is not known: then all of it counts
   * @param quota quota of the request
   */
  Optional<String> told(BucketsResynced resynced, WaitsFor waitsFor, String quota) {
    boolean own = resynced.getQuota().equals(quota);
    List<String> parts = new ArrayList<>();
    for (DimensionResync d : resynced.getDimensions()) {
      if (d.getBefore() != d.getAfter()) {
        if (waitsFor == null ? own : isAwaited(resynced, d, waitsFor)) {
          parts.add(d.getDimension() + " from " + d.getBefore() + " to " + d.getAfter());
        } else if (own) {
          Sum so = others.getOrDefault(d.getDimension(), new Sum(0, d.getBefore(), 0));
          others.put(d.getDimension(), new Sum(so.count() + 1, so.first(), d.getAfter()));
        }
      }
    }
    return parts.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "the provider's headers set the balance"
                + (own ? "" : " of quota '" + resynced.getQuota() + "'")
                + ": "
                + String.join(", ", parts));
  }

  private static boolean isAwaited(BucketsResynced resynced, DimensionResync d, WaitsFor waitsFor) {
    return resynced.getQuota().equals(waitsFor.getQuota())
        && d.getDimension().equals(waitsFor.getDimension());
  }

  /** The sum of what concerned other limits; empty if nothing did. */
  Optional<String> sum() {
    if (others.isEmpty()) {
      return Optional.empty();
    }
    List<String> parts = new ArrayList<>();
    others.forEach(
        (dimension, sum) ->
            parts.add(
                dimension
                    + (sum.count() == 1 ? " once" : " " + sum.count() + " times")
                    + ", from "
                    + sum.first()
                    + " to "
                    + sum.last()));
    return Optional.of(
        "the provider's headers set limits that it did not wait for: " + String.join("; ", parts));
  }
}
