package dev.fairway.agent;

import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.agent.ProviderSignal.Reading;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LimitReading;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Signal;
import dev.fairway.schemas.SignalLimits;
import dev.fairway.schemas.Usage;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** Between the client's types and the records on the wire. */
final class Records {
  private Records() {}

  static LeaseRequest request(String agentId, String requestId, LeaseCall call, String retryOf) {
    LeaseCall.Estimate estimate = call.estimate();
    return LeaseRequest.newBuilder()
        .setRequestId(requestId)
        .setAgentId(agentId)
        .setQuota(call.quota())
        .setTaskId(call.taskId())
        .setRole(call.role())
        .setClass$(call.leaseClass())
        .setRetryOf(retryOf)
        .setRepeatFailures(call.repeatFailures())
        .setUnblocks(call.unblocks())
        .setEstimate(
            Estimate.newBuilder()
                .setInputTokens(estimate.inputTokens())
                .setCachedTokens(estimate.cachedTokens())
                .setCacheExpiresAtMs(epochMs(estimate.cacheExpiresAt()))
                .setMaxOutputTokens(estimate.maxOutputTokens())
                .setMethod(estimate.method())
                .build())
        .setTenant(call.tenant())
        .setDeadlineMs(epochMs(call.deadline()))
        .build();
  }

  /** What became of a lease. */
  static Settlement settlement(
      String agentId,
      String quota,
      String requestId,
      String leaseId,
      Outcome outcome,
      boolean requeue,
      UsageReport usage,
      Signal signal) {
    return Settlement.newBuilder()
        .setLeaseId(leaseId)
        .setRequestId(requestId)
        .setAgentId(agentId)
        .setQuota(quota)
        .setOutcome(outcome)
        .setUsage(usage(usage))
        .setRequeue(requeue)
        .setSignal(signal)
        .build();
  }

  /** A request that nobody waits for any more. */
  static Settlement cancellation(String agentId, String quota, String requestId) {
    return settlement(agentId, quota, requestId, null, Outcome.CANCELLED, false, null, null);
  }

  /**
   * A provider's signal with its ages.
   *
   * @param ageMs since the answer's headers arrived, or null
   * @param msSinceSend since the call was sent, or null
   */
  static Signal signal(ProviderSignal signal, Long ageMs, Long msSinceSend) {
    if (signal == null && msSinceSend == null) {
      return null;
    }
    Signal.Builder builder = Signal.newBuilder().setAgeMs(ageMs).setMsSinceSend(msSinceSend);
    if (signal != null) {
      builder
          .setStatus(signal.status())
          .setClass$(signal.kind())
          .setBinding(signal.binding() == null ? null : signal.binding().wireName())
          .setRetryAfterMs(millis(signal.retryAfter()))
          .setLimits(limits(signal.limits()));
    }
    return builder.build();
  }

  static Charge charge(Amounts amounts) {
    return new Charge(
        amounts.getRequests(),
        amounts.getInputTokens(),
        amounts.getOutputTokens(),
        amounts.getTokens(),
        amounts.getConcurrentRequests());
  }

  private static Usage usage(UsageReport usage) {
    return usage == null
        ? null
        : Usage.newBuilder()
            .setInputTokens(usage.inputTokens())
            .setCacheReadTokens(usage.cacheReadTokens())
            .setCacheWriteTokens(usage.cacheWriteTokens())
            .setOutputTokens(usage.outputTokens())
            .setExact(usage.exact())
            .build();
  }

  private static SignalLimits limits(Map<Dimension, Reading> limits) {
    return limits.isEmpty()
        ? null
        : SignalLimits.newBuilder()
            .setRequests(reading(limits.get(Dimension.REQUESTS)))
            .setInputTokens(reading(limits.get(Dimension.INPUT_TOKENS)))
            .setOutputTokens(reading(limits.get(Dimension.OUTPUT_TOKENS)))
            .setTokens(reading(limits.get(Dimension.TOKENS)))
            .build();
  }

  private static LimitReading reading(Reading reading) {
    return reading == null
        ? null
        : LimitReading.newBuilder()
            .setLimit(reading.limit())
            .setRemaining(reading.remaining())
            .setResetMs(millis(reading.reset()))
            .build();
  }

  private static Long millis(Duration duration) {
    return duration == null ? null : duration.toMillis();
  }

  private static Long epochMs(Instant instant) {
    return instant == null ? null : instant.toEpochMilli();
  }
}
