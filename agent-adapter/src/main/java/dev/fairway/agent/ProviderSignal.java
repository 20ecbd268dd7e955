package dev.fairway.agent;

import dev.fairway.schemas.DurationText;
import dev.fairway.schemas.SignalClass;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * What the provider said about its limits, read from one HTTP answer. Null is unknown or absent,
 * never zero. The two ages that go with it (since the call was sent, since the answer arrived) are
 * measured by {@link Lease#markSent()} and {@link Lease#markAnswered()}.
 *
 * @param status HTTP status, or null
 * @param kind what the answer means, or null to derive it from the outcome
 * @param binding dimension that refused the call, or null
 * @param retryAfter the provider's retry-after, counted from its answer, or null
 * @param limits rate-limit headers by dimension; never null, immutable
 */
public record ProviderSignal(
    Integer status,
    SignalClass kind,
    Dimension binding,
    Duration retryAfter,
    Map<Dimension, Reading> limits) {

  /** A dimension that providers limit. */
  public enum Dimension {
    /** Model calls. */
    REQUESTS("requests"),
    /** Input tokens. */
    INPUT_TOKENS("input_tokens"),
    /** Output tokens. */
    OUTPUT_TOKENS("output_tokens"),
    /** Input and output tokens under one combined limit. */
    TOKENS("tokens");

    private final String wireName;

    Dimension(String wireName) {
      this.wireName = wireName;
    }

    /** Name in records, such as {@code input_tokens}. */
    public String wireName() {
      return wireName;
    }
  }

  /**
   * The headers of one dimension.
   *
   * @param limit the limit per minute, or null
   * @param remaining what remained when the provider answered, or null
   * @param reset until reset, counted from the answer, or null
   */
  public record Reading(Long limit, Long remaining, Duration reset) {}

  /** Copies the limits, so that the signal is immutable. */
  public ProviderSignal {
    limits = limits == null ? Map.of() : Map.copyOf(limits);
    if (retryAfter != null && retryAfter.isNegative()) {
      throw new IllegalArgumentException(
          "Expected a retryAfter of 0 or more, or null if absent, but found "
              + DurationText.of(retryAfter)
              + ".");
    }
  }

  /** A plain 200 without rate-limit headers. */
  public static ProviderSignal ok() {
    return builder().status(200).kind(SignalClass.OK).build();
  }

  /**
   * A 429.
   *
   * @param retryAfter the provider's retry-after, or null if it sent none
   */
  public static ProviderSignal rateLimited(Duration retryAfter) {
    return builder().status(429).kind(SignalClass.RATE_LIMITED).retryAfter(retryAfter).build();
  }

  /** Starts a signal with nothing known. */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects a signal. Not thread-safe. */
  public static final class Builder {
    private Integer status;
    private SignalClass kind;
    private Dimension binding;
    private Duration retryAfter;
    private final Map<Dimension, Reading> limits = new EnumMap<>(Dimension.class);

    private Builder() {}

    /** HTTP status. */
    public Builder status(int status) {
      this.status = status;
      return this;
    }

    /** What the answer means; null: derived from the outcome. */
    public Builder kind(SignalClass kind) {
      this.kind = kind;
      return this;
    }

    /** Dimension that refused the call; null: unknown. */
    public Builder binding(Dimension binding) {
      this.binding = binding;
      return this;
    }

    /** The provider's retry-after, counted from its answer; null: absent. */
    public Builder retryAfter(Duration retryAfter) {
      this.retryAfter = retryAfter;
      return this;
    }

    /** Headers of one dimension; each number may be null. */
    public Builder limit(Dimension dimension, Long limit, Long remaining, Duration reset) {
      limits.put(dimension, new Reading(limit, remaining, reset));
      return this;
    }

    /** The signal. */
    public ProviderSignal build() {
      return new ProviderSignal(status, kind, binding, retryAfter, limits);
    }
  }
}
