package dev.fairway.agent;

import dev.fairway.schemas.WaitsFor;
import java.time.Duration;
import java.util.Optional;

/**
 * Where a waiting call stands; a later update replaces an earlier one.
 *
 * @param position place in line, from 1
 * @param eta expected wait from the coordinator's decision on
 * @param etaP90 the wait that nine of ten stay under; empty while it is not learned
 * @param waitsFor what it waits for: of all that is in its way, what lasts longest; empty where
 *     nothing can be named, and from a coordinator of a version that did not tell it
 */
public record QueueUpdate(
    int position, Duration eta, Optional<Duration> etaP90, Optional<WaitsFor> waitsFor) {}
