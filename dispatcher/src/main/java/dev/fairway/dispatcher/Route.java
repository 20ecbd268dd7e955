package dev.fairway.dispatcher;

/**
 * Where an agent's decisions go.
 *
 * @param topic reply topic
 * @param partition partition of it
 * @param owned whether it is the topic of this agent alone, which the dispatcher creates; a shared
 *     one is made by whoever registers it
 */
record Route(String topic, int partition, boolean owned) {}
