package dev.fairway.it.crash;

/**
 * One process of {@code up}, in epoch milliseconds.
 *
 * @param startedAtMs when it was started
 * @param readyAtMs when it said that it decides; null if it was killed before
 * @param endedAtMs when it was killed; for the last one, when it was looked at
 */
record Life(long startedAtMs, Long readyAtMs, long endedAtMs) {}
