package dev.fairway.agent.gateway;

/**
 * Who makes a call, and what weight it claims.
 *
 * @param member agent, within the gateway's: one flow of the queue
 * @param triesOf who its tries are counted for: the agent, or, where that is no more than a
 *     connection, its host, as a retry may come over another one
 * @param task what several flows work on together, or null
 * @param role role
 * @param leaseClass class
 * @param tenant tenant, or null for that of the agent's pattern
 * @param repeatFailures how often the same step failed before
 * @param cacheTtlMs how long the provider keeps this agent's prompt cache, or null if not said
 */
record Asker(
    String member,
    String triesOf,
    String task,
    String role,
    String leaseClass,
    String tenant,
    int repeatFailures,
    Long cacheTtlMs) {}
