package dev.fairway.agent;

/**
 * Counters of one client since its start, and what it holds now. A consistent snapshot is not
 * promised across fields.
 *
 * @param pendingCalls calls that wait for a decision or in line
 * @param openLeases leases granted and not yet settled
 * @param silentKeys keys whose coordinator does not answer now; above 0 is an alert
 * @param grants leases handed to callers
 * @param rejects calls rejected by the coordinator
 * @param timeouts calls given up by timeout
 * @param cancellations calls given up by their callers or by {@code close()}
 * @param resends requests sent again because no answer came
 * @param renewals leases renewed by the client itself
 * @param returnedGrants grants given back as NOT_SENT because nobody waited for them any more
 * @param lateGrants grants given back as NOT_SENT because they were read after their expiry
 * @param foreignReplies replies to requests that this client does not know, ignored
 * @param duplicateReplies replies seen before, or older than one seen before, ignored
 * @param unreadableReplies replies that could not be decoded, skipped
 * @param silences how often the coordinator of a key fell silent
 * @param unleased calls that went on without a lease meanwhile
 * @param unreported reports of such calls that were lost because the brokers were gone too long
 * @param budgetsSpent calls that were not tried again because their retry budget was spent
 */
public record AdmissionClientStats(
    int pendingCalls,
    int openLeases,
    int silentKeys,
    long grants,
    long rejects,
    long timeouts,
    long cancellations,
    long resends,
    long renewals,
    long returnedGrants,
    long lateGrants,
    long foreignReplies,
    long duplicateReplies,
    long unreadableReplies,
    long silences,
    long unleased,
    long unreported,
    long budgetsSpent) {}
