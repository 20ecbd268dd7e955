package dev.fairway.agent;

import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.agent.provider.LimitReading;
import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ProviderUsage;
import dev.fairway.schemas.SignalClass;
import java.time.Duration;

/**
 * From what a provider's profile read to what a settlement reports. Quotas are per minute, so of
 * the limits only those over a minute are passed on as they are. Of a shorter window the limit is
 * scaled to a minute, and what remained of it is left out. A longer window, such as a day, or one
 * that is unknown, says nothing about a minute.
 */
public final class ProviderReports {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private ProviderReports() {}

  /**
   * The signal of an answer.
   *
   * @param status the answer's HTTP status, or null
   */
  public static ProviderSignal signal(Integer status, ProviderReading reading) {
    ProviderSignal.Builder signal =
        ProviderSignal.builder().kind(SignalClass.valueOf(reading.kind().name()));
    if (status != null) {
      signal.status(status);
    }
    if (reading.binding() != null) {
      signal.binding(dimension(reading.binding()));
    }
    if (reading.waitMs() != null) {
      signal.retryAfter(Duration.ofMillis(reading.waitMs()));
    }
    reading.limits().forEach((dimension, limit) -> add(signal, dimension(dimension), limit));
    return signal.build();
  }

  /**
   * The usage of a call, or null if the provider said nothing of it. The output of a stream that
   * broke off is left out: what is known of it is a lower bound, and the rest would be refunded.
   * Whoever has an estimate puts it in.
   */
  public static UsageReport usage(ProviderUsage usage) {
    return usage == null
        ? null
        : new UsageReport(
            usage.inputTokens(),
            usage.cacheReadTokens(),
            usage.cacheWriteTokens(),
            usage.exact() ? usage.outputTokens() : null,
            usage.exact());
  }

  private static void add(ProviderSignal.Builder signal, Dimension dimension, LimitReading limit) {
    Duration window = limit.window();
    if (window == null || window.compareTo(MINUTE) > 0 || window.isZero()) {
      return;
    }
    if (window.equals(MINUTE)) {
      Duration reset = limit.resetMs() == null ? null : Duration.ofMillis(limit.resetMs());
      if (limit.limit() != null || limit.remaining() != null || reset != null) {
        signal.limit(dimension, limit.limit(), limit.remaining(), reset);
      }
    } else if (limit.limit() != null) {
      signal.limit(dimension, limit.limit() * MINUTE.toMillis() / window.toMillis(), null, null);
    }
  }

  private static Dimension dimension(dev.fairway.agent.provider.Dimension dimension) {
    return Dimension.valueOf(dimension.name());
  }
}
