package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.schemas.LimitReading;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.SignalClass;
import dev.fairway.schemas.SignalLimits;
import dev.fairway.schemas.Usage;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/** Settlements and the provider signals in them, both ways. Thread-safe. */
final class SettlementMapper {
  private SettlementMapper() {}

  static Settlement toEngine(dev.fairway.schemas.Settlement from) {
    return new Settlement(
        from.getLeaseId(),
        from.getRequestId(),
        from.getAgentId(),
        from.getQuota(),
        Values.symbol(from.getOutcome(), Settlement.Outcome.class),
        usage(from.getUsage()),
        from.getRequeue(),
        signal(from.getSignal()));
  }

  static dev.fairway.schemas.Settlement toAvro(Settlement from) {
    return new dev.fairway.schemas.Settlement(
        from.leaseId(),
        from.requestId(),
        from.agentId(),
        from.quotaId(),
        Values.symbol(from.outcome(), Outcome.class),
        usage(from.usage()),
        from.requeue(),
        signal(from.signal()));
  }

  private static Settlement.Usage usage(Usage from) {
    return from == null
        ? null
        : new Settlement.Usage(
            from.getInputTokens(),
            from.getCacheReadTokens(),
            from.getCacheWriteTokens(),
            from.getOutputTokens(),
            from.getExact());
  }

  private static Usage usage(Settlement.Usage from) {
    return from == null
        ? null
        : new Usage(
            from.inputTokens(),
            from.cacheReadTokens(),
            from.cacheWriteTokens(),
            from.outputTokens(),
            from.exact());
  }

  private static Signal signal(dev.fairway.schemas.Signal from) {
    return from == null
        ? null
        : new Signal(
            from.getStatus(),
            Values.symbol(from.getClass$(), Signal.Kind.class),
            // An agent's word: a name that nobody knows is a binding that nobody knows.
            from.getBinding() == null ? null : Dimension.byWireName(from.getBinding()),
            from.getRetryAfterMs(),
            from.getAgeMs(),
            from.getMsSinceSend(),
            readings(from.getLimits()));
  }

  private static dev.fairway.schemas.Signal signal(Signal from) {
    return from == null
        ? null
        : new dev.fairway.schemas.Signal(
            from.status(),
            Values.symbol(from.kind(), SignalClass.class),
            from.binding() == null ? null : from.binding().wireName(),
            from.retryAfterMs(),
            from.ageMs(),
            from.msSinceSend(),
            readings(from.limits()));
  }

  private static Map<Dimension, Signal.Reading> readings(SignalLimits from) {
    Map<Dimension, Signal.Reading> result = new EnumMap<>(Dimension.class);
    if (from != null) {
      put(result, Dimension.REQUESTS, from.getRequests());
      put(result, Dimension.INPUT_TOKENS, from.getInputTokens());
      put(result, Dimension.OUTPUT_TOKENS, from.getOutputTokens());
      put(result, Dimension.TOKENS, from.getTokens());
    }
    return Collections.unmodifiableMap(result);
  }

  private static void put(
      Map<Dimension, Signal.Reading> to, Dimension dimension, LimitReading reading) {
    if (reading != null) {
      to.put(
          dimension,
          new Signal.Reading(reading.getLimit(), reading.getRemaining(), reading.getResetMs()));
    }
  }

  private static SignalLimits readings(Map<Dimension, Signal.Reading> from) {
    return from.isEmpty()
        ? null
        : new SignalLimits(
            reading(from.get(Dimension.REQUESTS)),
            reading(from.get(Dimension.INPUT_TOKENS)),
            reading(from.get(Dimension.OUTPUT_TOKENS)),
            reading(from.get(Dimension.TOKENS)));
  }

  private static LimitReading reading(Signal.Reading from) {
    return from == null ? null : new LimitReading(from.limit(), from.remaining(), from.resetMs());
  }
}
