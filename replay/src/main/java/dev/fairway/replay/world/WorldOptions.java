package dev.fairway.replay.world;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * All that the world can be told besides its seed. The defaults are the world that the goals of the
 * policy are stated in.
 *
 * @param durationMs length of a run
 * @param fleet the agents
 * @param harness what a turn does when it is refused or made to wait
 * @param provider the provider and its limits
 * @param outside who else uses the provider's limit
 * @param network delays
 */
public record WorldOptions(
    long durationMs,
    Fleet fleet,
    Harness harness,
    ProviderModel provider,
    Outside outside,
    Network network) {

  /** The defaults for a fleet of that size. */
  public static WorldOptions defaults(int agents, double rho) {
    return new WorldOptions(
        3 * 3_600_000L,
        Fleet.defaults(agents),
        Harness.defaults(),
        ProviderModel.defaults(rho),
        Outside.defaults(),
        Network.defaults());
  }

  /**
   * The agents.
   *
   * @param agents how many, a multiple of 10: groups of a planner, six workers, a reviewer and two
   *     lint leaves
   * @param tick whether tools end on a common beat of 90 s instead of in their own time
   * @param crashShare of calls whose agent dies in the middle, 0 to 1
   * @param estimateSd standard deviation of the logarithm of estimate over actual input
   */
  public record Fleet(int agents, boolean tick, double crashShare, double estimateSd) {
    static Fleet defaults(int agents) {
      return new Fleet(agents, false, 0.005, 0.15);
    }
  }

  /**
   * What a turn does when it is refused or made to wait.
   *
   * @param retries refusals of one turn that it survives; the next one makes the agent plan again
   * @param replanLeast least cost of planning again, in inputs of the failed call
   * @param replanMost most cost
   * @param replanCallTokens largest call of a new plan
   * @param patienceMs how long a turn waits before its agent gives up and plans again
   */
  public record Harness(
      int retries, double replanLeast, double replanMost, long replanCallTokens, long patienceMs) {
    static Harness defaults() {
      return new Harness(6, 5, 20, 80_000, 600_000);
    }
  }

  /** How the provider counts. */
  public enum Window {
    TOKEN_BUCKET,
    FIXED,
    ROLLING
  }

  /**
   * The provider and its limits.
   *
   * @param window how it counts
   * @param rho unthrottled demand of the fleet over the input limit
   * @param outputShare output limit over input limit
   * @param depthS depth of a token bucket, in seconds of its rate
   * @param maxTokensCharged whether max_tokens is charged at admission and the rest given back
   * @param headers whether answers tell limit, remaining and reset
   * @param cacheTtlMs how long a prefix stays cached after its last use
   * @param cacheTokensMax longest prefix
   * @param outageMs length of an outage in which every call is answered 429; 0: none
   * @param outageAtMs its begin
   */
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
      long outageAtMs) {
    static ProviderModel defaults(double rho) {
      return new ProviderModel(
          Window.TOKEN_BUCKET, rho, 0.2, 60, false, true, 300_000, 90_000, 0, 5_400_000);
    }
  }

  /**
   * Who else uses the provider's limit.
   *
   * @param share of the input limit, on average, outside of bursts
   * @param burstShare the same within a burst; there is one an hour
   * @param burstMs length of a burst
   * @param callTokens mean input of a call
   */
  public record Outside(double share, double burstShare, long burstMs, double callTokens) {
    static Outside defaults() {
      return new Outside(0.05, 0.25, 300_000, 2000);
    }

    /** Mean share over all time. */
    double meanShare() {
      return share + (burstShare - share) * burstMs / 3_600_000.0;
    }
  }

  /**
   * Delays.
   *
   * @param providerMs one way to the provider
   * @param providerSpread of that, up and down, as a share
   * @param coordinatorMs one way to the coordinator
   */
  public record Network(double providerMs, double providerSpread, long coordinatorMs) {
    static Network defaults() {
      return new Network(60, 0.5, 20);
    }
  }

  /** The same with another fleet size or behaviour. */
  public WorldOptions with(Fleet other) {
    return new WorldOptions(durationMs, other, harness, provider, outside, network);
  }

  /** The same with another harness. */
  public WorldOptions with(Harness other) {
    return new WorldOptions(durationMs, fleet, other, provider, outside, network);
  }

  /** The same with another provider. */
  public WorldOptions with(ProviderModel other) {
    return new WorldOptions(durationMs, fleet, harness, other, outside, network);
  }

  /** The same with other outside traffic. */
  public WorldOptions with(Outside other) {
    return new WorldOptions(durationMs, fleet, harness, provider, other, network);
  }

  /** The same for another length of time. */
  public WorldOptions lasting(long otherMs) {
    return new WorldOptions(otherMs, fleet, harness, provider, outside, network);
  }

  /** Every parameter by the name it has in results, in a fixed order. */
  public Map<String, Object> parameters() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("duration_ms", durationMs);
    all.put("tick", fleet.tick());
    all.put("crash_share", fleet.crashShare());
    all.put("estimate_sd", fleet.estimateSd());
    all.put("retries", harness.retries());
    all.put("replan_cost_least", harness.replanLeast());
    all.put("replan_cost_most", harness.replanMost());
    all.put("replan_call_tokens", harness.replanCallTokens());
    all.put("patience_ms", harness.patienceMs());
    all.put("window", provider.window().name());
    all.put("output_share", provider.outputShare());
    all.put("depth_s", provider.depthS());
    all.put("max_tokens_charged", provider.maxTokensCharged());
    all.put("headers", provider.headers());
    all.put("cache_ttl_ms", provider.cacheTtlMs());
    all.put("cache_tokens_max", provider.cacheTokensMax());
    all.put("outage_ms", provider.outageMs());
    all.put("outage_at_ms", provider.outageAtMs());
    all.put("outside_share", outside.share());
    all.put("outside_burst_share", outside.burstShare());
    all.put("outside_burst_ms", outside.burstMs());
    all.put("outside_call_tokens", outside.callTokens());
    all.put("provider_delay_ms", network.providerMs());
    all.put("provider_delay_spread", network.providerSpread());
    all.put("coordinator_delay_ms", network.coordinatorMs());
    return all;
  }
}
