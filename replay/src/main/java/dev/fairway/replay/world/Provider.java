package dev.fairway.replay.world;

import dev.fairway.replay.world.WorldOptions.ProviderModel;
import dev.fairway.replay.world.WorldOptions.Window;
import java.util.EnumMap;
import java.util.Map;

/**
 * The provider's side of the limits. A call is admitted if there is room for its input (a call
 * larger than the depth needs a full meter), and any room for output; it is charged its input on
 * arrival and its output at its end. Not thread-safe.
 */
public final class Provider {
  private static final long SECOND_MS = 1000;

  private final ProviderModel model;
  private final Limits limits;
  private final Map<Dimension, Meter> meters = new EnumMap<>(Dimension.class);

  /**
   * A provider with full meters.
   *
   * @param firstWindowEndMs where the fixed windows end first
   */
  Provider(ProviderModel model, Limits limits, long firstWindowEndMs) {
    this.model = model;
    this.limits = limits;
    for (Dimension d : Dimension.values()) {
      meters.put(d, meter(limits.of(d), firstWindowEndMs));
    }
  }

  private Meter meter(long limit, long firstWindowEndMs) {
    switch (model.window()) {
      case FIXED:
        return new FixedWindowMeter(limit, firstWindowEndMs);
      case ROLLING:
        return new RollingWindowMeter(limit);
      default:
        return new BucketMeter(limit, model.depthS());
    }
  }

  /** Its answer to a call. */
  sealed interface Answer {
    /** Admitted, and charged its input. */
    record Admitted(Headers headers) implements Answer {}

    /** 429. */
    record Refused(Refusal refusal) implements Answer {}
  }

  /** A call arrives with that much input that counts. */
  Answer arrive(long nowMs, long input, long maxTokens) {
    if (isOut(nowMs)) {
      return new Answer.Refused(new Refusal(null, 1, Headers.NONE));
    }
    Dimension binding = null;
    long readyMs = nowMs;
    for (Dimension d : Dimension.values()) {
      long need = need(d, input, maxTokens);
      if (room(d, nowMs) < need) {
        long whenMs = meters.get(d).whenRoom(nowMs, need);
        if (binding == null || whenMs > readyMs) {
          binding = d;
          readyMs = whenMs;
        }
      }
    }
    if (binding != null) {
      refuse(nowMs);
      long waitS = Math.max(1, (readyMs - nowMs + SECOND_MS - 1) / SECOND_MS);
      return new Answer.Refused(new Refusal(binding, waitS, headers(nowMs)));
    }
    meters.get(Dimension.REQUESTS).charge(nowMs, 1);
    meters.get(Dimension.INPUT_TOKENS).charge(nowMs, input);
    if (model.maxTokensCharged()) {
      meters.get(Dimension.OUTPUT_TOKENS).charge(nowMs, maxTokens);
    }
    return new Answer.Admitted(headers(nowMs));
  }

  /** A refusal costs a request where there is one left. */
  private void refuse(long nowMs) {
    if (room(Dimension.REQUESTS, nowMs) > 0) {
      meters.get(Dimension.REQUESTS).charge(nowMs, 1);
    }
  }

  /** A call ends, as planned or not. */
  void finish(long nowMs, long maxTokens, long output) {
    Meter meter = meters.get(Dimension.OUTPUT_TOKENS);
    if (model.maxTokensCharged()) {
      meter.refund(nowMs, maxTokens - output);
    } else {
      meter.charge(nowMs, output);
    }
  }

  /** Somebody else's call: charged whatever the room is. */
  void outside(long nowMs, long input) {
    meters.get(Dimension.REQUESTS).charge(nowMs, 1);
    meters.get(Dimension.INPUT_TOKENS).charge(nowMs, input);
  }

  private Headers headers(long nowMs) {
    if (!model.headers()) {
      return Headers.NONE;
    }
    Map<Dimension, Headers.Reading> readings = new EnumMap<>(Dimension.class);
    for (Dimension d : Dimension.values()) {
      Meter meter = meters.get(d);
      readings.put(
          d,
          new Headers.Reading(limits.of(d), Math.max(0, meter.room(nowMs)), meter.resetMs(nowMs)));
    }
    return new Headers(readings);
  }

  // ---- the truth, for whoever may know it

  /** The limits. */
  public Limits limits() {
    return limits;
  }

  /** Most that there is ever room for. */
  public long depth(Dimension dimension) {
    return meters.get(dimension).depth();
  }

  /** What may still be charged; negative after an overdraft. */
  public long room(Dimension dimension, long nowMs) {
    return meters.get(dimension).room(nowMs);
  }

  /** Room at which a call is admitted. */
  public long need(Dimension dimension, long input, long maxTokens) {
    switch (dimension) {
      case REQUESTS:
        return 1;
      case INPUT_TOKENS:
        return Math.min(input, depth(dimension));
      default:
        return model.maxTokensCharged() ? Math.min(maxTokens, depth(dimension)) : 1;
    }
  }

  /** When there will be that room, at most the depth, if nothing else happens. */
  public long whenRoom(Dimension dimension, long nowMs, long amount) {
    return Math.max(
        isOut(nowMs) ? model.outageAtMs() + model.outageMs() : nowMs,
        meters.get(dimension).whenRoom(nowMs, amount));
  }

  /** Whether an outage lets no call through. */
  public boolean isOut(long nowMs) {
    return nowMs >= model.outageAtMs() && nowMs < model.outageAtMs() + model.outageMs();
  }

  /** Whether room comes back at its own pace, and not at the end of a window. */
  public boolean refillsSteadily() {
    return model.window() == Window.TOKEN_BUCKET;
  }

  /** Whether a call is charged its max_tokens on arrival. */
  public boolean chargesMaxTokens() {
    return model.maxTokensCharged();
  }
}
