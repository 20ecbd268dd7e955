package dev.fairway.agent.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.agent.gateway.ApiInput.BadInputException;
import dev.fairway.schemas.SignalClass;
import java.time.Duration;
import java.util.EnumSet;

/** A provider's signal as agents tell it over HTTP. */
final class ApiSignal {
  private ApiSignal() {}

  /** The signal, or null if there is none. */
  static ProviderSignal of(JsonNode node) throws BadInputException {
    if (!node.isObject()) {
      return null;
    }
    ApiInput in = ApiInput.of(node);
    ProviderSignal.Builder signal = ProviderSignal.builder();
    Long status = in.longOrNull("status");
    if (status != null) {
      signal.status((int) Math.min(Integer.MAX_VALUE, status));
    }
    if (node.hasNonNull("class")) {
      signal.kind(in.constant("class", SignalClass.class, EnumSet.allOf(SignalClass.class)));
    }
    Long retryAfterMs = in.longOrNull("retry_after_ms");
    if (retryAfterMs != null) {
      signal.retryAfter(Duration.ofMillis(retryAfterMs));
    }
    for (Dimension dimension : Dimension.values()) {
      JsonNode limit = node.path("limits").path(dimension.wireName());
      if (limit.isObject()) {
        ApiInput reading = ApiInput.of(limit);
        Long resetMs = reading.longOrNull("reset_ms");
        signal.limit(
            dimension,
            reading.longOrNull("limit"),
            reading.longOrNull("remaining"),
            resetMs == null ? null : Duration.ofMillis(resetMs));
        reading.end();
      }
    }
    in.end("limits", "class");
    return signal.build();
  }
}
