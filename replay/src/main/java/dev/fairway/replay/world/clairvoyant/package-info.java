/**
 * The reference that policies are measured against: it knows the provider's true level, what every
 * call will really use and what others will send in the next moment, and answers in no time. It
 * shares no class with the engine and none with its order.
 */
package dev.fairway.replay.world.clairvoyant;
