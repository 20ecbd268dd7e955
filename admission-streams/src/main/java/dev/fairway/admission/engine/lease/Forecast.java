package dev.fairway.admission.engine.lease;

/**
 * What a call is expected to use, as it counts, fixed when it is enqueued: what is learned later
 * does not change what its charge is made of.
 *
 * @param inputTokens uncached input, corrected by what is learned of its role
 * @param outputTokens output that is reserved, times the quota's burndown
 */
public record Forecast(long inputTokens, long outputTokens) {}
