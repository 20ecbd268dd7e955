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
 * @param unreadable records that are no journal records, of which nothing can be said
 * @param firstFindings the first mismatches and violations, for people
 */
public record VerifyReport(
    long inputs,
    long events,
    long mismatches,
    boolean conserved,
    long keys,
    long skipped,
    long unreadable,
    List<String> firstFindings) {

  /** Whether what was verified is what the engine decides. */
  public boolean ok() {
    return mismatches == 0 && conserved;
  }

  /** Whether nothing was verified, so that {@link #ok} says nothing. */
  public boolean empty() {
    return inputs == 0 && keys == 0;
  }
}
