package dev.fairway.agent.estimate;

/**
 * How good a model's input estimates are, by its last 64 calls whose use the provider told. Shares
 * of what was used: 0.05 is five per cent.
 *
 * @param calls calls seen since the start
 * @param correction factor on the tokenizer's count that was learned, 0.2 to 5
 * @param bias mean error; above 0 estimates are too high
 * @param errorP50 error of half the calls, either way
 * @param errorP90 error of nine calls in ten, either way
 */
public record EstimateQuality(
    long calls, double correction, double bias, double errorP50, double errorP90) {}
