package dev.fairway.cli.demo.fleet;

/**
 * What the fleet would use if nothing ever held it back.
 *
 * @param calls model calls
 * @param inputTokens their input
 * @param outputTokens their output
 */
public record Demand(long calls, long inputTokens, long outputTokens) {}
