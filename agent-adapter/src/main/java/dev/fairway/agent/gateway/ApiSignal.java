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
  private static final long AGO_MS_MAX = Duration.ofDays(1).toMillis();

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
    signal.binding(binding(in.idOrNull("binding")));
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

  /** How long ago the call was sent as a signal says it, or null; before {@link #of}. */
  static Duration sinceSent(ApiInput in) throws BadInputException {
    return ago(in, "ms_since_send");
  }

  /** How long ago the answer's headers arrived as a signal says it, or null; before {@link #of}. */
  static Duration sinceAnswered(ApiInput in) throws BadInputException {
    return ago(in, "age_ms");
  }

  private static Duration ago(ApiInput in, String name) throws BadInputException {
    Long ms = in == null ? null : in.longOrNull(name, 0, AGO_MS_MAX);
    return ms == null ? null : Duration.ofMillis(ms);
  }

  private static Dimension binding(String name) throws BadInputException {
    for (Dimension dimension : Dimension.values()) {
      if (dimension.wireName().equals(name)) {
        return dimension;
      }
    }
    if (name == null) {
      return null;
    }
    throw new BadInputException(
        "Expected \"binding\" to be requests, input_tokens, output_tokens or tokens, but found \""
            + name
            + "\".");
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
