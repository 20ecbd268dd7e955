package dev.fairway.agent;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * What this agent may use of a quota alone, while the coordinator is silent: a share that no other
 * agent holds, of what stays safe of the limit. Immutable.
 *
 * @param requestsPerMinute requests, empty where they are not limited
 * @param inputTokensPerMinute input tokens, empty where they are not limited
 * @param outputTokensPerMinute output tokens, empty where they are not limited
 * @param tokensPerMinute input and output tokens together, empty where they are not limited
 * @param remaining time left in which it may be used, positive
 */
public record SafeCapacity(
    OptionalLong requestsPerMinute,
    OptionalLong inputTokensPerMinute,
    OptionalLong outputTokensPerMinute,
    OptionalLong tokensPerMinute,
    Duration remaining) {}
