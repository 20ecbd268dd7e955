package dev.fairway.agent;

import java.util.concurrent.atomic.LongAdder;

/** What the client counts; see {@link AdmissionClientStats} for the meaning of each. */
final class Counters {
  final LongAdder grants = new LongAdder();
  final LongAdder rejects = new LongAdder();
  final LongAdder timeouts = new LongAdder();
  final LongAdder cancellations = new LongAdder();
  final LongAdder resends = new LongAdder();
  final LongAdder renewals = new LongAdder();
  final LongAdder returnedGrants = new LongAdder();
  final LongAdder lateGrants = new LongAdder();
  final LongAdder foreignReplies = new LongAdder();
  final LongAdder duplicateReplies = new LongAdder();
  final LongAdder unreadableReplies = new LongAdder();
  final LongAdder silences = new LongAdder();
  final LongAdder unleased = new LongAdder();
  final LongAdder unreported = new LongAdder();
  final LongAdder budgetsSpent = new LongAdder();

  AdmissionClientStats snapshot(int pendingCalls, int openLeases, int silentKeys) {
    return new AdmissionClientStats(
        pendingCalls,
        openLeases,
        silentKeys,
        grants.sum(),
        rejects.sum(),
        timeouts.sum(),
        cancellations.sum(),
        resends.sum(),
        renewals.sum(),
        returnedGrants.sum(),
        lateGrants.sum(),
        foreignReplies.sum(),
        duplicateReplies.sum(),
        unreadableReplies.sum(),
        silences.sum(),
        unleased.sum(),
        unreported.sum(),
        budgetsSpent.sum());
  }
}
