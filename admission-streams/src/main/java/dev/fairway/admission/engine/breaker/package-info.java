/**
 * After a 429: holds, the breaker that opens when they come in a row, and the ramp that lets
 * traffic back in.
 *
 * <h2>The breaker</h2>
 *
 * Two 429s within 3 s say that the picture of the provider's level is wrong, so nothing is granted
 * but one probe at a time, after a wait that doubles. Calls that were in flight when it opened say
 * nothing new; only leases granted since then do, and those are its probes. A probe that is given
 * back, expires or stays silent hands its place on, so that none can wedge the breaker.
 *
 * <p>Nothing tells a crowd that loses probes from a provider that hangs, and names cost nothing. So
 * after three probes in a row that told nothing the breaker closes into a trickle, in which others
 * get their turn beside the crowd and each call is a probe: the first answer begins the ramp, one
 * 429 opens the breaker again with the next longer wait.
 *
 * <h2>The ramp</h2>
 *
 * Who waited meanwhile must not be sent all at once, although the bucket may be full by then. So
 * for a while grants are paced, beside the buckets and without draining them: a virtual clock runs
 * at half speed at first and at full speed a minute later, and each grant moves the time of the
 * next one by what its charge takes to refill (the generic cell rate algorithm of ATM, with a clock
 * that speeds up). The clock is a closed form of the time, so the state of a ramp is two numbers,
 * and nothing has to tick while it runs. It goes on to twice the speed, until nothing of a full
 * bucket can be left over: else the end of the ramp would be the burst that it is there to prevent.
 */
package dev.fairway.admission.engine.breaker;
