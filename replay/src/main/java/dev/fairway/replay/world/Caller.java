package dev.fairway.replay.world;

/**
 * Who makes calls.
 *
 * @param index of the agent in the fleet, from 0
 * @param id of the agent
 * @param role of the agent
 * @param unblocks how many tasks wait for each of its tasks
 */
record Caller(int index, String id, Role role, int unblocks) {}
