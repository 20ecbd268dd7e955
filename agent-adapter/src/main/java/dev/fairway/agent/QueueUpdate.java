package dev.fairway.agent;

import java.time.Duration;
import java.util.Optional;

/**
 * Where a waiting call stands; a later update replaces an earlier one.
 *
 * @param position place in line, from 1
 * @param eta expected wait from the coordinator's decision on
 * @param etaP90 the wait that nine of ten stay under; empty while it is not learned
 */
public record QueueUpdate(int position, Duration eta, Optional<Duration> etaP90) {}
