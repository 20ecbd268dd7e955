package dev.fairway.admission.engine;

import dev.fairway.admission.engine.QuotaDefinition.Budgets;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.OutputReservation;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.lease.ProviderAccounting;
import java.util.List;
import java.util.Map;

/**
 * A quota definition with every knob resolved: its preset fills what the operator left open.
 * Integers only, so that decisions replay to the bit.
 *
 * @param limits per minute (concurrency: at a time)
 * @param depthOverride depth per dimension where the operator set it
 * @param window how the provider counts
 * @param marginMode how the margin is applied; AUTO picks by depth and by headers
 * @param marginStartBp margin while no 429 is seen
 * @param marginFloorBp the margin never shrinks below
 * @param marginCutBp taken off at a 429
 * @param marginCreepBp given back after a clean interval
 * @param cleanIntervalMs length of a clean interval
 * @param learnedOutput a grant reserves what outputs of its role are; else max_tokens
 * @param callsPerTask most calls of one task, or null
 * @param accounting what of a usage counts
 * @param order in which order requests are served
 * @param rules which rules are in force
 */
public record QuotaPolicy(
    Amounts limits,
    Amounts depthOverride,
    Window window,
    MarginModeName marginMode,
    int marginStartBp,
    int marginFloorBp,
    int marginCutBp,
    int marginCreepBp,
    long cleanIntervalMs,
    boolean learnedOutput,
    long leaseTtlMs,
    long maxQueueWaitMs,
    long defaultEstimate,
    long lateSettlementWindowMs,
    int queueMax,
    int queueMaxPerAgent,
    Integer callsPerTask,
    Map<String, Double> roles,
    ProviderAccounting accounting,
    OrderPolicy order,
    RulePolicy rules) {

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

  /** A rolling window's depth is this part of its limit. */
  private static final int ROLLING_PARTS = 5;

  /** A depth that leaves nothing to refill still refills a little: nobody must wait for ever. */
  private static final int LEAST_RATE_BP = 100;

  /** Resolves a valid definition. */
  public static QuotaPolicy of(QuotaDefinition d) {
    boolean seed = d.preset() == Preset.SEED;
    Margin m = d.margin() != null ? d.margin() : new Margin(null, null, null, null, null, null);
    Budgets b = d.budgets() != null ? d.budgets() : new Budgets(null, null, null);
    int start = bp(m.start(), 8500);
    ProviderAccounting accounting =
        ProviderAccounting.of(d.provider()).with(d.outputBurndown(), d.cacheReadsCount());
    MarginModeName mode =
        m.mode() != null ? m.mode() : seed ? MarginModeName.RATE : MarginModeName.AUTO;
    boolean learnedOutput =
        d.outputReservation() != null
            ? d.outputReservation() == OutputReservation.LEARNED
            : !seed && !accounting.reservesMaxTokens();
    return new QuotaPolicy(
        d.limits(),
        d.depth() != null ? d.depth() : Amounts.NONE,
        d.window(),
        mode,
        start,
        Math.min(start, bp(m.floor(), 6000)),
        bp(m.cut(), 500),
        creepBp(m.creep()),
        orElse(m.cleanIntervalMs(), DEFAULT_CLEAN_INTERVAL_MS),
        learnedOutput,
        orElse(d.leaseTtlMs(), DEFAULT_LEASE_TTL_MS),
        orElse(d.maxQueueWaitMs(), DEFAULT_MAX_QUEUE_WAIT_MS),
        orElse(d.defaultEstimate(), DEFAULT_ESTIMATE),
        orElse(d.lateSettlementWindowMs(), seed ? 0 : DEFAULT_LATE_WINDOW_MS),
        d.queueMax() != null ? d.queueMax() : DEFAULT_QUEUE_MAX,
        d.queueMaxPerAgent() != null ? d.queueMaxPerAgent() : DEFAULT_QUEUE_MAX_PER_AGENT,
        b.callsPerTask() != null ? b.callsPerTask() : seed ? (Integer) SEED_CALLS_PER_TASK : null,
        d.roles().isEmpty() ? DEFAULT_ROLES : d.roles(),
        accounting,
        OrderPolicy.of(d),
        RulePolicy.of(d));
  }

  /**
   * Bucket depth at a limit: the operator's, else what the provider's window allows. Token bucket:
   * one minute of the limit less one second of its rate, rounded up (a bucket as deep as the
   * provider's gives 429s on every rounding). Fixed window: the limit. Rolling window: a fifth of
   * it, for what is taken at once leaves the window at once.
   */
  public long depth(Dimension dimension, long limit) {
    if (!dimension.refills()) {
      return limit;
    }
    Long override = depthOverride.orNull(dimension);
    if (override != null) {
      // A provider that names a lower limit than the operator holds no more than that at once.
      return limit < limits.get(dimension) ? Math.min(override, limit) : override;
    }
    switch (window) {
      case FIXED:
        return limit;
      case ROLLING:
        return Math.max(1, limit / ROLLING_PARTS);
      default:
        return limit - limit / 60;
    }
  }

  /**
   * Whether a rolling window's last minute is added up, besides the bucket. Without exact windows
   * there is the bucket alone, and where output counts at the end of a call, no lease tells that
   * ahead.
   */
  public boolean addsUpLastMinute(Dimension dimension) {
    return window == Window.ROLLING
        && rules.has(Rule.EXACT_WINDOWS)
        && dimension.refills()
        && countsAtStart(dimension);
  }

  /**
   * Share of the limit that refills, basis points: all of it, or in a rolling window four fifths.
   * Where an operator's depth leaves less than that beside it, and nothing but the bucket bounds a
   * minute (no exact windows, and output), what is left: so depth and a minute of refill never
   * exceed the limit.
   */
  public int rateBp(Dimension dimension, long limit) {
    if (window != Window.ROLLING) {
      return FixedPoint.ONE_BP;
    }
    int most = FixedPoint.ONE_BP - FixedPoint.ONE_BP / ROLLING_PARTS;
    boolean addedUp = rules.has(Rule.EXACT_WINDOWS) && dimension != Dimension.OUTPUT_TOKENS;
    if (addedUp || !depthOverride.has(dimension)) {
      return most;
    }
    long beside = limit - Math.min(limit, depth(dimension, limit));
    long share = FixedPoint.mulDiv(beside, FixedPoint.ONE_BP, limit);
    return (int) Math.max(LEAST_RATE_BP, Math.min(most, share));
  }

  /**
   * Whether a provider counts all that a call takes of a dimension when the call begins. Output it
   * counts as it is produced, unless it reserves max_tokens itself, as a grant then does; what was
   * too much it gives back at the end.
   */
  public boolean countsAtStart(Dimension d) {
    boolean reserved =
        rules.has(Rule.RESERVED_OUTPUT) && accounting.reservesMaxTokens() && !learnedOutput;
    return d != Dimension.OUTPUT_TOKENS || reserved;
  }

  /** Whether settled calls are learned from: some rule of this policy asks what they were. */
  public boolean observes() {
    return rules.learns()
        || learnedOutput
        || marginMode == MarginModeName.ADAPTIVE
        || marginMode == MarginModeName.AUTO;
  }

  /** Whether a bucket holds less than half a minute of its rate. */
  public boolean shallow(Dimension dimension, long limit) {
    long perMinute = FixedPoint.mulDiv(limit, rateBp(dimension, limit), FixedPoint.ONE_BP);
    return depth(dimension, limit) < perMinute - depth(dimension, limit);
  }

  /** Knobs of a definition that this version stores but does not act on. */
  public static List<String> notEnforced(QuotaDefinition d) {
    boolean signed = d.tenants().values().stream().anyMatch(t -> t.signingKeyRef() != null);
    return signed ? List.of("tenants.signing_key_ref") : List.of();
  }

  /** A step that is too small to count is the smallest one; 0 is none. */
  private static int creepBp(Double share) {
    return share != null && share > 0 ? Math.max(1, bp(share, 0)) : bp(share, 100);
  }

  private static int bp(Double share, int preset) {
    return share == null ? preset : (int) Math.round(share * FixedPoint.ONE_BP);
  }

  private static long orElse(Long value, long preset) {
    return value != null ? value : preset;
  }
}
