/**
 * The engine: a pure state machine that decides for every key of one partition.
 *
 * <h2>Shape</h2>
 *
 * {@link dev.fairway.admission.engine.AdmissionEngine#handle} takes a {@link
 * dev.fairway.admission.engine.Command} and the time. A handler reads the state and emits {@link
 * dev.fairway.admission.engine.Event}s; the state package applies each as it is emitted, so that
 * one drain grants many. Rows that changed come back with the events. Nobody outside {@code state}
 * can change state: what changes it is package-private there.
 *
 * <h2>Buckets</h2>
 *
 * A balance is a whole number of tokens plus a carried remainder in units of 1/600 000 000 token
 * (one token a minute at one basis point refills one unit a millisecond), so a refill neither loses
 * nor makes a token however often it is computed. Refill is a function of time and state; it is
 * written down only when an event changes a bucket.
 *
 * <h2>The fair queue</h2>
 *
 * Self-clocked fair queueing (Golestani, INFOCOM 1994). With v the virtual time and F_a the finish
 * tag of agent a, a request of cost c and weight w starts at S = max(v, F_a) and finishes at F = S
 * + c/w; the smallest F is served, and v becomes F. SCFQ takes v from the request in service
 * instead of a simulated fluid system, so a tag is computed once, at arrival, and never changes
 * when others come: that is what makes an ETA a sum over a tree. The cost is that of the dominant
 * dimension (dominant resource fairness: Ghodsi et al., NSDI 2011), in tokens of the first limited
 * of input, tokens, output, requests. When a call settles, F_a moves by (actual - charged cost)/w,
 * so that under-estimating does not pay.
 *
 * <p>Costs are measured at the limits as they are defined; a lower limit that is learned from
 * answers changes none. A definition that changes them measures all anew that is compared: calls
 * that are out cost what their estimates cost now, so that their ends move F_a by what they used
 * beyond those, and in the line of an agent each call begins where the one before it ends now. The
 * first keeps its start S; where a call is shorter than it was, none ends before v that did not.
 *
 * <h2>Two levels, and who passes</h2>
 *
 * Tenants are flows of the same rule one level up: with weight W, a tenant that waits since start
 * tag S ends its k-th request at S plus the sum of its first k costs over W, so who of another
 * tenant is served before a tag is a prefix of that tenant's line, and a position and an ETA stay
 * sums over trees. Quotas that take from the same other quota are drained in one order, that of
 * their heads' tags: there the cost is the largest share of a minute's limit that a call takes of
 * any of its quotas, in hundred-millionths, so that all tags count the same. A head that waits for
 * something of its own, its tenant's ceiling or another quota, keeps back only who needs the same.
 * Past a head that waits for tokens go requests that a class's reserve pays for, and, bounded
 * against what the head takes, small ones (backfill, as in EASY: Lifka, JSSPP 1995, with a bound
 * instead of a reservation). Who passes moves no virtual time, and goes in the order of tags within
 * its lane, so that waits can still be told.
 *
 * <h2>Waits</h2>
 *
 * Where nobody coordinates, clients that were refused together come back together, and a random
 * wait, uniform up to an exponential bound, spreads them (full jitter: Brooker, AWS Architecture
 * Blog, 2015). The engine draws nothing: who is rejected is told when it would fit behind all that
 * is in line, and none is called back at once. Those who are rejected together are told about the
 * same time; they come back to a line, where kept places order them, and not to the provider, so
 * that a crowd costs requests and no 429s. What all wait for alike, a long hold, ends in a ramp.
 * Full jitter is what agents fall back to beside a silent coordinator, and the control that
 * simulations are held against.
 *
 * <h2>The margin</h2>
 *
 * The limit is known, the margin is the distance kept from it, and a 429 says that the distance was
 * too small: additive increase, step decrease (after Chiu and Jain, 1989). Calls in flight at a cut
 * were granted before it; their 429s belong to the same episode and do not cut again. RATE scales
 * rate and depth by the margin; RESERVE leaves the rate and keeps a part of the depth, for a bucket
 * shallower than half a minute of its rate has nothing to scale. Both are guesses of how wrong a
 * balance can be that nobody confirms.
 *
 * <h2>Need</h2>
 *
 * ADAPTIVE follows the provider's own level, so only what is uncertain has to be kept free: with s
 * the standard deviation of actual / charge, the error of each call under way that no signal has
 * told of is s_x c_x, and somebody else may take one call, F, in between. The call itself, of
 * estimate e, is off by a factor: z deviations upwards it takes exp(z s) e, and a large one that
 * takes half as much again is what most refusals were made of. Independent errors add up as
 * squares, so a call is granted at
 *
 * <pre>balance &gt;= e + sqrt((e (exp(z s) - 1))^2 + sum_x (z s_x c_x)^2 + F^2)</pre>
 *
 * and charged e: a safety stock of z standard deviations. z is to ADAPTIVE what the margin is to
 * RATE: an episode of 429s raises it by a quarter, a clean minute lowers it by a hundredth. The sum
 * is kept in whole numbers as calls come and go; s is learned per role, and a role can raise it
 * above that of all by half, never lower it.
 *
 * <h2>Resync</h2>
 *
 * A provider's header tells a level P that it had when it answered call l, or at the earliest when
 * l was sent. Calls sent clearly later than l are not in that number; calls sent at about the same
 * time may be. So the level that is ours to use lies in [lo, hi] with hi = P_latest - unseen and lo
 * = P_earliest - unseen - ambiguous, P_earliest and P_latest with the refill since the answer and
 * since the send, and the balance is clamped into it. A call that was sent clearly before l is in P
 * already ("absorbed"): its settlement moves the balance no further. That is kept as one send time
 * a bucket, not as a mark on each lease. What the clamp takes away beyond what we know of is what
 * others use: its mean is taken off the refill. Where the provider's limit is above ours there is
 * no lo: what is left of the larger bounds ours from above alone, and absorbs nothing.
 *
 * <h2>Modes</h2>
 *
 * AUTO is ADAPTIVE for a dimension whose header is younger than a minute, else RESERVE where it is
 * shallow, else RATE. A level without fresh headers drifts, so the way back has a time of its own:
 * a change of mode is an event, due like an expiry, and keeps the balance, clipped to its new cap.
 *
 * <h2>Waves</h2>
 *
 * Whether 429s come in waves is told by the dispersion index of their number in a bin, 1 for a
 * Poisson process. Whether the waves are those of the agents' turns: if a part p of the calls that
 * turns want, chosen by chance, were refused, an index D of theirs would leave 1 + p (D - 1), as of
 * any thinned process. What 429s have beyond that comes from elsewhere.
 *
 * <h2>What is learned</h2>
 *
 * Per role and of all together: bias and spread of estimates, mean input, the upper quartile of the
 * last 200 outputs, how far waits exceed their ETA. These advance with journalled settlements and
 * grants alone, so they replay to the bit.
 */
package dev.fairway.admission.engine;
