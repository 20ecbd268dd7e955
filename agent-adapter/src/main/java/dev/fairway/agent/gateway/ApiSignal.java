package dev.fairway.agent.gateway;

import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.agent.gateway.ApiInput.BadInputException;
import dev.fairway.schemas.SignalClass;
import java.time.Duration;
import java.util.EnumSet;

/** A provider's signal as agents tell it over HTTP. */
final class ApiSignal {
  private static final int STATUS_MIN = 100;
  private static final int STATUS_MAX = 599;

  private ApiSignal() {}

  /** The signal, or null if there is none. */
  static ProviderSignal of(ApiInput in) throws BadInputException {
    if (in == null) {
      return null;
    }
    ProviderSignal.Builder signal = ProviderSignal.builder();
    Long status = in.longOrNull("status", STATUS_MIN, STATUS_MAX);
    if (status != null) {
      signal.status(status.intValue());
    }
    signal.kind(in.constantOrNull("class", SignalClass.class, EnumSet.allOf(SignalClass.class)));
    Long retryAfterMs = in.longOrNull("retry_after_ms");
    if (retryAfterMs != null) {
      signal.retryAfter(Duration.ofMillis(retryAfterMs));
    }
    ApiInput limits = in.objectOrNull("limits");
    if (limits != null) {
      for (Dimension dimension : Dimension.values()) {
        limit(signal, dimension, limits.objectOrNull(dimension.wireName()));
      }
      limits.end();
    }
    in.end();
    return signal.build();
  }

  private static void limit(ProviderSignal.Builder signal, Dimension dimension, ApiInput reading)
      throws BadInputException {
    if (reading != null) {
      Long resetMs = reading.longOrNull("reset_ms");
      signal.limit(
          dimension,
          reading.longOrNull("limit"),
          reading.longOrNull("remaining"),
          resetMs == null ? null : Duration.ofMillis(resetMs));
      reading.end();
    }
  }
}
