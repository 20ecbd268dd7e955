/**
 * The virtual-time study of policies: the same seeds through every policy, each in a world of its
 * own, and what came of it side by side.
 */
package dev.fairway.replay.simulate;
