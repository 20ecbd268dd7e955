package dev.fairway.agent;

import dev.fairway.agent.fallback.ShareBucket;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The newest share of each agent and quota, as decisions told it. Guarded by the {@link CallBook}.
 *
 * <p>A share was told to the agent, and clients of one agent id all read it. So that no two of them
 * use it, it is held by the one that made the request of the newest decision; all read the same
 * decisions in the same order, and so know who that is.
 */
final class SafeCapacities {
  /** Shares remembered; beyond it the one first heard of is forgotten. */
  static final int SHARES_MAX = 10_000;

  private record Holder(String agentId, String quota) {}

  /** Kept also where another client holds it: an older one that comes late counts no more. */
  private record Told(int epoch, long sequence, boolean held, Amounts perMinute, long untilMs) {
    boolean isUsable(long nowMs) {
      return held && untilMs > nowMs;
    }

    boolean isOlderThan(Decision decision) {
      return epoch < decision.getEpoch()
          || (epoch == decision.getEpoch() && sequence <= decision.getSequence());
    }
  }

  private final Map<Holder, Told> shares = new BoundedMap<>(SHARES_MAX);

  /**
   * Notes what a decision tells, unless a newer one was read before.
   *
   * @param own whether it is on a request of this client
   */
  void note(Decision decision, boolean own, CoordinatorClock clock, long receivedAtMs) {
    dev.fairway.schemas.SafeCapacity told = decision.getSafeCapacity();
    Holder holder = new Holder(decision.getAgentId(), decision.getQuota());
    Told known = shares.get(holder);
    if (told == null || (known != null && !known.isOlderThan(decision))) {
      return;
    }
    long validForMs = told.getValidForMs();
    long untilMs =
        clock.localExpiryMs(
            decision.getDecidedAtMs() + validForMs, validForMs, Long.MIN_VALUE / 2, receivedAtMs);
    shares.put(
        holder,
        new Told(decision.getEpoch(), decision.getSequence(), own, told.getPerMinute(), untilMs));
  }

  /** An agent's share of a quota, or empty if this client holds none or its time is over. */
  Optional<SafeCapacity> of(String agentId, String quota, long nowMs) {
    Told told = shares.get(new Holder(agentId, quota));
    if (told == null || !told.isUsable(nowMs)) {
      return Optional.empty();
    }
    Amounts share = told.perMinute();
    return Optional.of(
        new SafeCapacity(
            optional(share.getRequests()),
            optional(share.getInputTokens()),
            optional(share.getOutputTokens()),
            optional(share.getTokens()),
            Duration.ofMillis(told.untilMs() - nowMs)));
  }

  /** The shares of all agents together, or null if this client holds none. */
  ShareBucket.Amounts total(String quota, long nowMs) {
    Total total = new Total();
    shares.forEach(
        (holder, told) -> {
          if (holder.quota().equals(quota) && told.isUsable(nowMs)) {
            total.add(told.perMinute());
          }
        });
    return total.holders == 0 ? null : total.amounts();
  }

  /** A dimension is limited if one of the shares limits it. */
  private static final class Total {
    private int holders;
    private Long requests;
    private Long inputTokens;
    private Long outputTokens;
    private Long tokens;

    void add(Amounts share) {
      holders++;
      requests = sum(requests, share.getRequests());
      inputTokens = sum(inputTokens, share.getInputTokens());
      outputTokens = sum(outputTokens, share.getOutputTokens());
      tokens = sum(tokens, share.getTokens());
    }

    ShareBucket.Amounts amounts() {
      return new ShareBucket.Amounts(
          optional(requests), optional(inputTokens), optional(outputTokens), optional(tokens));
    }

    private static Long sum(Long one, Long other) {
      return one == null ? other : other == null ? one : (Long) (one + other);
    }
  }

  private static OptionalLong optional(Long amount) {
    return amount == null ? OptionalLong.empty() : OptionalLong.of(amount);
  }
}
