package dev.fairway.agent;

/**
 * What a grant took from the quota's buckets. Null where the quota does not limit the dimension.
 *
 * @param requests model calls
 * @param inputTokens input tokens
 * @param outputTokens output tokens
 * @param tokens input and output tokens together, where the provider has one combined limit
 * @param concurrentRequests calls open at the same time
 */
public record Charge(
    Long requests, Long inputTokens, Long outputTokens, Long tokens, Long concurrentRequests) {}
