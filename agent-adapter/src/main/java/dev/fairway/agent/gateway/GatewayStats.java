package dev.fairway.agent.gateway;

/**
 * Counters of one gateway since its start. A consistent snapshot is not promised across fields.
 *
 * @param open calls that it has now
 * @param calls requests taken: calls, counted or not, and those of the gateway's own API
 * @param uncounted calls passed without a lease, because they take from no quota or no route knows
 *     them
 * @param refused calls answered by the gateway itself, with an error
 * @param retries calls that repeat an earlier one
 * @param requeues calls put back in line after the provider's 429
 * @param budgetsSpent logical calls that failed for good because their retry budget was spent
 * @param keptAlive streams that began before their grant
 * @param clientsGone calls whose client hung up
 * @param upstreamFailures calls whose upstream could not be reached or broke off
 */
public record GatewayStats(
    int open,
    long calls,
    long uncounted,
    long refused,
    long retries,
    long requeues,
    long budgetsSpent,
    long keptAlive,
    long clientsGone,
    long upstreamFailures) {}
