package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Standing;

/**
 * What a request weighs: base(role) x (1 + 0.5 x unblocks) x 0.5^repeat_failures, at least 0.1.
 * FAIRWAY takes unblocks from the task graph where that knows the task, halves a retry, balances
 * siblings, and doubles who is moved up for its cache.
 */
public final class Weights {
  private static final int MIN_MILLI = 100;
  private static final int MAX_MILLI = 1_000_000_000;
  private static final int MAX_HALVINGS = 30;

  private Weights() {}

  /** Weight in thousandths. */
  public static int milli(
      KeyState key, QuotaState quota, LeaseRequest request, Standing standing, int attempt) {
    QuotaPolicy policy = quota.policy();
    boolean ranked = policy.order().ranked();
    int most = policy.order().tenant(standing.tenant()).maxUnblocks();
    long unblocks =
        ranked && request.taskId() != null && key.graph().knows(request.taskId())
            ? key.graph().unblocks(request.taskId(), most)
            : Math.min(request.unblocks() == null ? 0 : request.unblocks(), most);
    long weight =
        baseMilli(standing.role(), policy) * (2 + unblocks) / 2
            >> Math.min(request.repeatFailures(), MAX_HALVINGS);
    if (ranked) {
      weight = attempt > 1 ? weight / 2 : weight;
      weight = weight * SiblingBalance.milli(key, quota, request.taskId(), standing.role()) / 1000;
      weight = standing.cacheBumped() ? weight * 2 : weight;
    }
    return (int) Math.max(MIN_MILLI, Math.min(weight, MAX_MILLI));
  }

  /** An unknown role weighs the least that is configured. */
  private static long baseMilli(String role, QuotaPolicy policy) {
    Double weight = policy.roles().get(role);
    return weight == null ? leastMilli(policy) : Math.round(weight * 1000);
  }

  /** What an unknown role weighs, in thousandths. */
  public static int leastMilli(QuotaPolicy policy) {
    double least = policy.roles().values().stream().min(Double::compare).orElse(1.0);
    return (int) Math.max(MIN_MILLI, Math.min(Math.round(least * 1000), MAX_MILLI));
  }
}
