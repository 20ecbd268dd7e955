/**
 * What an agent does where nobody tells it when to call: how long it waits between tries, how often
 * it tries in all, and how much it may use while the coordinator is silent. Pure; time and chance
 * are arguments.
 *
 * <p>The waits are AWS's "full jitter" (Brooker, "Exponential Backoff and Jitter"): a uniform draw
 * below a ceiling that doubles, so that calls refused in the same moment come back spread out. The
 * provider's own retry-after is a floor below it, never the wait itself: agents that all sleep for
 * exactly what the provider said come back as one wave.
 */
package dev.fairway.agent.fallback;
