package dev.fairway.replay.verify;

import java.util.List;

/**
 * What a verification found.
 *
 * @param inputs commands that were decided again
 * @param events events that were compared
 * @param mismatches commands and snapshots that came out differently
 * @param conserved whether the independent check of balances and leases holds
 * @param keys keys that were verified
 * @param skipped records before the first whole snapshot of their key, where nothing can be said
 * @param firstFindings the first mismatches and violations, for people
 */
public record VerifyReport(
    long inputs,
    long events,
    long mismatches,
    boolean conserved,
    long keys,
    long skipped,
    List<String> firstFindings) {

  /** Whether the journal is what the engine decides. */
  public boolean ok() {
    return mismatches == 0 && conserved;
  }
}
