package dev.fairway.dispatcher;

/**
 * How much may wait for topics that don't take it yet.
 *
 * @param totalMax most parked replies
 * @param perAgentMax most parked replies of one agent
 * @param bytesMax most bytes of parked replies, their overhead included
 */
record ParkingBounds(int totalMax, int perAgentMax, long bytesMax) {}
