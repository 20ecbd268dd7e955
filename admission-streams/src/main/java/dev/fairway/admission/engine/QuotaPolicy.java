package dev.fairway.admission.engine;

import dev.fairway.admission.engine.QuotaDefinition.Budgets;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.OutputReservation;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.lease.ProviderAccounting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A quota definition with every knob resolved: its preset fills what the operator left open.
 * Integers only, so that decisions replay to the bit.
 *
 * @param limits per minute (concurrency: at a time)
 * @param depthOverride depth per dimension where the operator set it
 * @param marginStartBp margin while no 429 is seen
 * @param marginFloorBp the margin never shrinks below
 * @param marginCutBp taken off at a 429
 * @param marginCreepBp given back after a clean interval
 * @param cleanIntervalMs length of a clean interval
 * @param cutEvery429 SEED: every 429 of a granted lease cuts; else once per episode
 * @param dominantCost cost is that of the dominant dimension; else (SEED) the estimated tokens
 * @param breaker whether 429s in a row open a breaker and a pause is followed by a ramp; else
 *     (SEED) a quota is held, and no more
 * @param callsPerTask most calls of one task, or null
 * @param accounting what of a usage counts
 */
public record QuotaPolicy(
    Amounts limits,
    Amounts depthOverride,
    int marginStartBp,
    int marginFloorBp,
    int marginCutBp,
    int marginCreepBp,
    long cleanIntervalMs,
    boolean cutEvery429,
    boolean dominantCost,
    boolean breaker,
    long leaseTtlMs,
    long maxQueueWaitMs,
    long defaultEstimate,
    long lateSettlementWindowMs,
    int queueMax,
    int queueMaxPerAgent,
    Integer callsPerTask,
    Map<String, Double> roles,
    ProviderAccounting accounting) {

  private static final Map<String, Double> DEFAULT_ROLES =
      Map.of("planner", 3.0, "reviewer", 2.0, "worker", 1.0);
  private static final long DEFAULT_LEASE_TTL_MS = 120_000;
  private static final long DEFAULT_MAX_QUEUE_WAIT_MS = 60_000;
  private static final long DEFAULT_ESTIMATE = 2000;
  private static final long DEFAULT_LATE_WINDOW_MS = 600_000;
  private static final long DEFAULT_CLEAN_INTERVAL_MS = 180_000;
  private static final int DEFAULT_QUEUE_MAX = 10_000;
  private static final int DEFAULT_QUEUE_MAX_PER_AGENT = 1_000;
  private static final int SEED_CALLS_PER_TASK = 12;

  /** Resolves a valid definition. */
  public static QuotaPolicy of(QuotaDefinition d) {
    boolean seed = d.preset() == Preset.SEED;
    Margin m = d.margin() != null ? d.margin() : new Margin(null, null, null, null, null, null);
    Budgets b = d.budgets() != null ? d.budgets() : new Budgets(null, null, null);
    int start = bp(m.start(), 8500);
    return new QuotaPolicy(
        d.limits(),
        d.depth() != null ? d.depth() : Amounts.NONE,
        start,
        Math.min(start, bp(m.floor(), 6000)),
        bp(m.cut(), 500),
        bp(m.creep(), 100),
        orElse(m.cleanIntervalMs(), DEFAULT_CLEAN_INTERVAL_MS),
        seed,
        !seed,
        !seed,
        orElse(d.leaseTtlMs(), DEFAULT_LEASE_TTL_MS),
        orElse(d.maxQueueWaitMs(), DEFAULT_MAX_QUEUE_WAIT_MS),
        orElse(d.defaultEstimate(), DEFAULT_ESTIMATE),
        orElse(d.lateSettlementWindowMs(), seed ? 0 : DEFAULT_LATE_WINDOW_MS),
        d.queueMax() != null ? d.queueMax() : DEFAULT_QUEUE_MAX,
        d.queueMaxPerAgent() != null ? d.queueMaxPerAgent() : DEFAULT_QUEUE_MAX_PER_AGENT,
        b.callsPerTask() != null ? b.callsPerTask() : seed ? (Integer) SEED_CALLS_PER_TASK : null,
        d.roles().isEmpty() ? DEFAULT_ROLES : d.roles(),
        ProviderAccounting.of(d.provider()));
  }

  /**
   * Bucket depth at a limit: the operator's, else one minute of the limit less one second of its
   * rate, rounded up (a bucket as deep as the provider's gives 429s on every rounding).
   */
  public long depth(Dimension dimension, long limit) {
    if (!dimension.refills()) {
      return limit;
    }
    Long override = depthOverride.orNull(dimension);
    return override != null ? override : limit - limit / 60;
  }

  /**
   * Knobs of a definition that this version stores but does not act on. What would make grants
   * unsafe if it were ignored is refused instead, see {@link #unavailable}.
   */
  public static List<String> notEnforced(QuotaDefinition d) {
    List<String> knobs = new ArrayList<>();
    if (!d.classes().isEmpty()) {
      knobs.add("classes");
    }
    if (!d.tenants().isEmpty()) {
      knobs.add("tenants");
    }
    if (d.budgets() != null && d.budgets().retriesPerTask() != null) {
      knobs.add("budgets.retries_per_task");
    }
    if (d.budgets() != null && d.budgets().retryShare() != null) {
      knobs.add("budgets.retry_share");
    }
    return List.copyOf(knobs);
  }

  /** Knobs of a definition that this version refuses, each with what to write instead. */
  public static List<String> unavailable(QuotaDefinition d) {
    List<String> knobs = new ArrayList<>();
    if (d.window() != QuotaDefinition.Window.TOKEN_BUCKET) {
      knobs.add("window " + d.window() + " is not available in this version; use TOKEN_BUCKET");
    }
    if (d.margin() != null
        && d.margin().mode() != null
        && d.margin().mode() != MarginModeName.AUTO
        && d.margin().mode() != MarginModeName.RATE) {
      knobs.add(
          "margin.mode "
              + d.margin().mode()
              + " is not available in this version; use AUTO or RATE");
    }
    if (d.outputReservation() == OutputReservation.LEARNED) {
      knobs.add("output_reservation LEARNED is not available in this version; use MAX_TOKENS");
    }
    if (!d.also().isEmpty()) {
      knobs.add("also is not available in this version; leave it out");
    }
    return knobs;
  }

  private static int bp(Double share, int preset) {
    return share == null ? preset : (int) Math.round(share * FixedPoint.ONE_BP);
  }

  private static long orElse(Long value, long preset) {
    return value != null ? value : preset;
  }
}
