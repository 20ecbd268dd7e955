package dev.fairway.admission.engine.learn;

/**
 * What is learned of the calls of one role, or of all roles together (the pool). Immutable; means
 * are exponentially weighted, and until there are enough calls for their share, plain.
 *
 * @param calls calls whose input is known
 * @param squaredError mean squared relative error of charges
 * @param bias mean of actual / estimated input; 1 until it is learned
 * @param biasCalls calls that the bias is learned from
 * @param meanInput mean input tokens of a call
 * @param tasks tasks that ended
 * @param callsPerTask mean calls of a task
 * @param etas waits whose ETA is known
 * @param etaFactor waits exceed this multiple of their ETA one time in ten
 * @param estimates how far the agents' estimates lie off
 * @param touchedAtMs last use
 */
public record RoleStats(
    long calls,
    double squaredError,
    double bias,
    long biasCalls,
    double meanInput,
    long tasks,
    double callsPerTask,
    long etas,
    double etaFactor,
    ErrorTrend estimates,
    long touchedAtMs) {
  /** Weight of one call among those of its role. */
  public static final double ROLE_SHARE = 0.05;

  /** Weight of one call among all. */
  public static final double POOL_SHARE = 0.01;

  private static final double START_SIGMA = 0.2;

  /** Fewer calls than this say little about a mean. */
  private static final long FEW = 20;

  /** One step down of the ETA factor; a step up is nine of them: so one wait in ten exceeds it. */
  private static final double ETA_STEP = 1.01;

  private static final double ETA_STEP_UP =
      ETA_STEP * ETA_STEP * ETA_STEP * ETA_STEP * ETA_STEP * ETA_STEP * ETA_STEP * ETA_STEP
          * ETA_STEP;
  private static final double MAX_ETA_FACTOR = 10;

  /** Nothing learned. */
  public static RoleStats fresh(long atMs) {
    return new RoleStats(0, START_SIGMA * START_SIGMA, 1, 0, 0, 0, 0, 0, 1, ErrorTrend.NONE, atMs);
  }

  /** With one more settled call. */
  public RoleStats with(CallSample sample, double share, long atMs) {
    double squared = squaredError;
    if (sample.error() != null) {
      squared += share * (sample.error() * sample.error() - squared);
    }
    double nextBias = bias;
    long nextBiasCalls = biasCalls;
    ErrorTrend trend = estimates;
    if (sample.bias() != null) {
      nextBias += share * (sample.bias() - bias);
      nextBiasCalls++;
      trend = sample.estimateError() == null ? trend : trend.with(sample.estimateError(), atMs);
    }
    double mean = meanInput;
    long nextCalls = calls;
    if (sample.input() != null) {
      nextCalls++;
      mean += Math.max(share, 1.0 / nextCalls) * (sample.input() - mean);
    }
    return new RoleStats(
        nextCalls,
        squared,
        nextBias,
        nextBiasCalls,
        mean,
        tasks,
        callsPerTask,
        etas,
        etaFactor,
        trend,
        atMs);
  }

  /** With one more task that ended after so many calls. */
  public RoleStats withTask(int callsOfTask, long atMs) {
    double mean =
        callsPerTask + Math.max(ROLE_SHARE, 1.0 / (tasks + 1)) * (callsOfTask - callsPerTask);
    return new RoleStats(
        calls,
        squaredError,
        bias,
        biasCalls,
        meanInput,
        tasks + 1,
        mean,
        etas,
        etaFactor,
        estimates,
        atMs);
  }

  /** With one more wait that was told an ETA; both in milliseconds, the ETA positive. */
  public RoleStats withWait(long etaMs, long waitedMs, long atMs) {
    boolean exceeded = waitedMs > etaFactor * etaMs;
    double factor = exceeded ? etaFactor * ETA_STEP_UP : etaFactor / ETA_STEP;
    return new RoleStats(
        calls,
        squaredError,
        bias,
        biasCalls,
        meanInput,
        tasks,
        callsPerTask,
        etas + 1,
        Math.max(1, Math.min(factor, MAX_ETA_FACTOR)),
        estimates,
        atMs);
  }

  /** With the errors of the agents' estimates forgotten. */
  public RoleStats forgiven() {
    return new RoleStats(
        calls,
        squaredError,
        bias,
        biasCalls,
        meanInput,
        tasks,
        callsPerTask,
        etas,
        etaFactor,
        ErrorTrend.NONE,
        touchedAtMs);
  }

  /** Standard deviation of a call's actual, as a share of its charge. */
  public double sigma() {
    return Math.sqrt(squaredError);
  }

  /** What an agent's estimate is multiplied by; 1 while little is known. */
  public double correction() {
    return biasCalls < FEW ? 1 : bias;
  }

  /** 90th percentile of wait / ETA, or null while little is known. */
  public Double etaP90Factor() {
    return etas < FEW ? null : (Double) etaFactor;
  }
}
