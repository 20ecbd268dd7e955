package dev.fairway.replay.world;

/**
 * An answer 429.
 *
 * @param binding the limit that refused the call; null in an outage
 * @param retryAfterS the provider's {@code retry-after}
 * @param headers what else it told
 */
public record Refusal(Dimension binding, long retryAfterS, Headers headers) {}
