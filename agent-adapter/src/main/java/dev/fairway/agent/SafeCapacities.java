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
 */
final class SafeCapacities {
  /** Shares remembered; beyond it the one first heard of is forgotten. */
  static final int SHARES_MAX = 10_000;

  private record Holder(String agentId, String quota) {}

  private record Told(int epoch, long sequence, Amounts perMinute, long untilMs) {
    boolean isOlderThan(Decision decision) {
      return epoch < decision.getEpoch()
          || (epoch == decision.getEpoch() && sequence <= decision.getSequence());
    }
  }

  private final Map<Holder, Told> shares = new BoundedMap<>(SHARES_MAX);

  /** Notes what a decision tells, unless a newer one was read before. */
  void note(Decision decision, CoordinatorClock clock, long receivedAtMs) {
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
        new Told(decision.getEpoch(), decision.getSequence(), told.getPerMinute(), untilMs));
  }

  /** An agent's share of a quota, or empty if none was told or its time is over. */
  Optional<SafeCapacity> of(String agentId, String quota, long nowMs) {
    Told told = shares.get(new Holder(agentId, quota));
    if (told == null || told.untilMs() <= nowMs) {
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

  /** The shares of all agents together, or null if none was told whose time is not over. */
  ShareBucket.Amounts total(String quota, long nowMs) {
    Total total = new Total();
    shares.forEach(
        (holder, told) -> {
          if (holder.quota().equals(quota) && told.untilMs() > nowMs) {
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
