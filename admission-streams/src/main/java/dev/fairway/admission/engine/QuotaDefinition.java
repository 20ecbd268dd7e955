package dev.fairway.admission.engine;

import dev.fairway.admission.engine.bucket.Amounts;
import java.util.List;
import java.util.Map;

/**
 * A quota as its operator wrote it: a null knob takes the value of its preset. {@link QuotaPolicy}
 * is the resolved form. Collections are never null.
 *
 * @param id {@code key} or {@code key/name}
 * @param provider provider profile
 * @param preset values of the null knobs
 * @param models model patterns, for routing
 * @param also other quotas of the key that a lease takes from too
 * @param window how the provider counts
 * @param limits per minute (concurrency: at a time); absent dimensions are not limited
 * @param depth bucket depth where it is not derived, or null
 * @param level level to start with, taken as it is, or null for full
 * @param margin margin knobs, or null
 * @param leaseTtlMs life of a lease, or null
 * @param maxQueueWaitMs longest promised wait, or null
 * @param outputReservation what is reserved for output, or null
 * @param defaultEstimate input charged for a missing estimate, or null
 * @param outputBurndown how many tokens of the quota one output token takes, or null for 1
 * @param cacheReadsCount whether what is read from the prompt cache counts as input, or null for
 *     what the provider does
 * @param lateSettlementWindowMs how long an expired lease may be settled, or null
 * @param queueMax most waiting requests, or null
 * @param queueMaxPerAgent most waiting requests of one agent, or null
 * @param budgets call and retry budgets, or null
 * @param classes classes by name
 * @param tenants tenants by name
 * @param roles base weight by role; empty for the default
 * @param rules rules that are switched on or off, or null
 * @param state what the quota does with requests
 * @param clearCount raised to end a hold that waits for an operator
 */
public record QuotaDefinition(
    String id,
    String provider,
    Preset preset,
    List<String> models,
    List<String> also,
    Window window,
    Amounts limits,
    Amounts depth,
    Amounts level,
    Margin margin,
    Long leaseTtlMs,
    Long maxQueueWaitMs,
    OutputReservation outputReservation,
    Long defaultEstimate,
    Integer outputBurndown,
    Boolean cacheReadsCount,
    Long lateSettlementWindowMs,
    Integer queueMax,
    Integer queueMaxPerAgent,
    Budgets budgets,
    Map<String, Double> classes,
    Map<String, Tenant> tenants,
    Map<String, Double> roles,
    Rules rules,
    State state,
    int clearCount) {

  /** Preset of the knobs. */
  public enum Preset {
    FAIRWAY,
    SEED
  }

  /** How a provider counts. */
  public enum Window {
    TOKEN_BUCKET,
    FIXED,
    ROLLING
  }

  /** How the margin is applied. */
  public enum MarginModeName {
    AUTO,
    RATE,
    RESERVE,
    ADAPTIVE
  }

  /** What a grant reserves for output. */
  public enum OutputReservation {
    MAX_TOKENS,
    LEARNED
  }

  /** What a quota does with requests. */
  public enum State {
    ACTIVE,
    PAUSED,
    DRAINING
  }

  /** Margin knobs, each null for the preset's; shares of 1. */
  public record Margin(
      MarginModeName mode,
      Double start,
      Double floor,
      Double cut,
      Double creep,
      Long cleanIntervalMs) {}

  /** Budgets, each null for the preset's. */
  public record Budgets(Integer retriesPerTask, Integer callsPerTask, Double retryShare) {}

  /** What a call costs in the fair queue. */
  public enum Cost {
    /** The largest share that it takes of any limit. */
    DOMINANT,
    /** Its tokens. */
    ESTIMATED_TOKENS
  }

  /**
   * Rules that differ from the preset's.
   *
   * @param cost null for the preset's
   * @param switched rules that are switched on or off
   */
  public record Rules(Cost cost, Map<Rule, Boolean> switched) {}

  /** A group of agents with a share of its own. */
  public record Tenant(
      double weight,
      Double ceiling,
      List<String> agents,
      List<String> roles,
      List<String> classes,
      Integer maxUnblocks,
      String signingKeyRef) {}

  /** The key part of a quota id. */
  public static String keyOf(String quotaId) {
    int slash = quotaId.indexOf('/');
    return slash < 0 ? quotaId : quotaId.substring(0, slash);
  }
}
