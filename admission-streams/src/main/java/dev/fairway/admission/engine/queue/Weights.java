package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.RulePolicy;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Standing;

/**
 * What a request weighs: base(role) x (1 + 0.5 x unblocks) x 0.5^repeat_failures, at least 0.1. By
 * rules of their own unblocks are those of the task graph where that knows the task, a retry counts
 * half, siblings are balanced, and who is moved up for its cache counts twice.
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
    RulePolicy rules = policy.rules();
    int most = policy.order().tenant(standing.tenant()).maxUnblocks();
    long unblocks =
        rules.has(Rule.TASK_GRAPH)
                && request.taskId() != null
                && key.graph().knows(request.taskId())
            ? key.graph().unblocks(request.taskId(), most)
            : Math.min(request.unblocks() == null ? 0 : request.unblocks(), most);
    long weight =
        baseMilli(standing.role(), policy) * (2 + unblocks) / 2
            >> (rules.has(Rule.LOOP_DECAY) ? Math.min(request.repeatFailures(), MAX_HALVINGS) : 0);
    weight = rules.has(Rule.RETRY_CLASS) && attempt > 1 ? weight / 2 : weight;
    if (rules.has(Rule.SIBLING_BALANCE)) {
      weight = weight * SiblingBalance.milli(key, quota, request.taskId(), standing.role()) / 1000;
    }
    weight = rules.has(Rule.CACHE_BUMP) && standing.cacheBumped() ? weight * 2 : weight;
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
