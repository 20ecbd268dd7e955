/**
 * A fleet of agents and its provider in virtual time: what the policies of admission are measured
 * in. Deterministic by seed, and the work is the same for every policy: each draw belongs to a
 * place (this agent, this task, this turn) and not to a moment.
 *
 * <p>Shares no class with the engine. What a policy sees of it are the records of the protocol, at
 * their delays; see {@link dev.fairway.replay.world.Admission}.
 */
package dev.fairway.replay.world;
