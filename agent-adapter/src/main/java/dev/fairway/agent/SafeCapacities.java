package dev.fairway.agent;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The newest share that each quota's decisions told. Guarded by the {@link CallBook}. */
final class SafeCapacities {
  /** Quotas remembered; beyond it the one first heard of is forgotten. */
  static final int QUOTAS_MAX = 1_000;

  private record Told(int epoch, long sequence, Amounts perMinute, long untilMs) {
    boolean isOlderThan(Decision decision) {
      return epoch < decision.getEpoch()
          || (epoch == decision.getEpoch() && sequence <= decision.getSequence());
    }
  }

  private final Map<String, Told> byQuota = new BoundedMap<>(QUOTAS_MAX);

  /** Notes what a decision tells, unless a newer one was read before. */
  void note(Decision decision, CoordinatorClock clock, long receivedAtMs) {
    dev.fairway.schemas.SafeCapacity told = decision.getSafeCapacity();
    Told known = byQuota.get(decision.getQuota());
    if (told == null || (known != null && !known.isOlderThan(decision))) {
      return;
    }
    long validForMs = told.getValidForMs();
    long untilMs =
        clock.localExpiryMs(
            decision.getDecidedAtMs() + validForMs, validForMs, Long.MIN_VALUE / 2, receivedAtMs);
    byQuota.put(
        decision.getQuota(),
        new Told(decision.getEpoch(), decision.getSequence(), told.getPerMinute(), untilMs));
  }

  /** The share of a quota, or empty if none was told or its time is over. */
  Optional<SafeCapacity> of(String quota, long nowMs) {
    Told told = byQuota.get(quota);
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

  private static OptionalLong optional(Long amount) {
    return amount == null ? OptionalLong.empty() : OptionalLong.of(amount);
  }
}
