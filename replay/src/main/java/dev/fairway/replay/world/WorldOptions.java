package dev.fairway.replay.world;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** The world's parameters, each at its default or as it was set. Immutable. */
public final class WorldOptions {
  private static final int MS = 1000;
  private static final double HOUR_MS = 3_600_000;

  private final double[] values;
  private final Fleet fleet;
  private final Harness harness;
  private final ProviderModel provider;
  private final Outside outside;
  private final Network network;

  private WorldOptions(double[] values) {
    this.values = values;
    this.fleet =
        new Fleet(
            (int) of(Parameter.AGENTS),
            of(Parameter.TICK) != 0,
            of(Parameter.CRASH_RATE),
            of(Parameter.ESTIMATE_ERROR),
            UsageAt.values()[(int) of(Parameter.USAGE_AT)]);
    this.harness =
        new Harness(
            (int) of(Parameter.RETRIES),
            of(Parameter.REPLAN_COST_LEAST),
            of(Parameter.REPLAN_COST_MOST),
            (long) of(Parameter.REPLAN_CALL_TOKENS),
            ms(Parameter.PATIENCE_S));
    this.provider =
        new ProviderModel(
            Window.values()[(int) of(Parameter.WINDOW)],
            of(Parameter.RHO),
            of(Parameter.OTPM_SHARE),
            (int) of(Parameter.DEPTH_S),
            of(Parameter.MAX_TOKENS_CHARGED) != 0,
            of(Parameter.HEADERS) != 0,
            ms(Parameter.CACHE_TTL_S),
            (long) of(Parameter.CACHE_TOKENS),
            ms(Parameter.OUTAGE_S),
            ms(Parameter.OUTAGE_AT_S));
    this.outside =
        new Outside(
            of(Parameter.OUTSIDE),
            of(Parameter.OUTSIDE_BURST),
            ms(Parameter.OUTSIDE_BURST_S),
            of(Parameter.OUTSIDE_CALL_TOKENS));
    this.network =
        new Network(
            of(Parameter.PROVIDER_DELAY_MS),
            of(Parameter.PROVIDER_DELAY_SPREAD),
            (long) of(Parameter.COORDINATOR_DELAY_MS));
  }

  /** Every parameter at its default. */
  public static WorldOptions defaults() {
    return new WorldOptions(
        Arrays.stream(Parameter.values()).mapToDouble(Parameter::preset).toArray());
  }

  /**
   * The same with one parameter set.
   *
   * @param text as on the command line
   * @throws IllegalArgumentException if the text is no value of it; the message is for people
   */
  public WorldOptions with(Parameter parameter, String text) {
    return with(parameter, parameter.parse(text));
  }

  WorldOptions with(Parameter parameter, double value) {
    double[] changed = values.clone();
    changed[parameter.ordinal()] = value;
    return new WorldOptions(changed);
  }

  private double of(Parameter parameter) {
    return values[parameter.ordinal()];
  }

  private long ms(Parameter seconds) {
    return Math.round(of(seconds) * MS);
  }

  /** Every parameter by the name it has in results, in a fixed order. */
  public Map<String, Object> parameters() {
    Map<String, Object> all = new LinkedHashMap<>();
    for (Parameter parameter : Parameter.values()) {
      all.put(parameter.wireName(), parameter.json(of(parameter)));
    }
    return all;
  }

  /** Length of a run. */
  public long durationMs() {
    return Math.round(of(Parameter.HOURS) * HOUR_MS);
  }

  /** The agents. */
  public Fleet fleet() {
    return fleet;
  }

  /** What a turn does when it is refused or made to wait. */
  public Harness harness() {
    return harness;
  }

  /** The provider and its limits. */
  public ProviderModel provider() {
    return provider;
  }

  /** Who else uses the provider's limit. */
  public Outside outside() {
    return outside;
  }

  /** Delays. */
  public Network network() {
    return network;
  }

  /** The agents; see the parameters of the same names. */
  public record Fleet(
      int agents, boolean tick, double crashShare, double estimateSd, UsageAt usageAt) {}

  /** When agents tell the input that a call used. */
  public enum UsageAt {
    /** With its output, when it is over. */
    END,
    /** With the headers, as a gateway does when a stream begins. */
    FIRST_TOKEN
  }

  /** What a turn does when it is refused or made to wait; see the parameters. */
  public record Harness(
      int retries, double replanLeast, double replanMost, long replanCallTokens, long patienceMs) {}

  /** How the provider counts. */
  public enum Window {
    TOKEN_BUCKET,
    FIXED,
    ROLLING
  }

  /** The provider and its limits; see the parameters. */
  public record ProviderModel(
      Window window,
      double rho,
      double outputShare,
      int depthS,
      boolean maxTokensCharged,
      boolean headers,
      long cacheTtlMs,
      long cacheTokensMax,
      long outageMs,
      long outageAtMs) {}

  /** Who else uses the provider's limit; see the parameters. */
  public record Outside(double share, double burstShare, long burstMs, double callTokens) {}

  /** Delays; see the parameters. */
  public record Network(double providerMs, double providerSpread, long coordinatorMs) {}
}
