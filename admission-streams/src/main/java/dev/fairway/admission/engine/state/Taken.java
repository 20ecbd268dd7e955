package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.bucket.Amounts;
import java.util.Map;

/**
 * What a lease took besides the charge of its own quota.
 *
 * @param also charge by quota id, of the other quotas it takes from
 * @param reserve what of the charge came out of the reserve of its class, after adjustments
 * @param ceiling what its tenant's own bucket was charged, if it has one, likewise
 * @param outOfReserve whether the reserve alone paid, so that what the call uses beyond its
 *     estimate is the reserve's debt
 * @param passed identity of the waiting head that it passed by backfill, or null
 * @param passedSmall whether it passed that as a small request
 */
public record Taken(
    Map<String, Amounts> also,
    Amounts reserve,
    Amounts ceiling,
    boolean outOfReserve,
    String passed,
    boolean passedSmall) {
  /** Nothing. */
  public static final Taken NOTHING =
      new Taken(Map.of(), Amounts.NONE, Amounts.NONE, false, null, false);

  Taken holding(Map<String, Amounts> nowAlso, Amounts nowReserve, Amounts nowCeiling) {
    return new Taken(nowAlso, nowReserve, nowCeiling, outOfReserve, passed, passedSmall);
  }
}
