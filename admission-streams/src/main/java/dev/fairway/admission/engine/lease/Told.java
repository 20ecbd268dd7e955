package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.Signal.Kind;

/**
 * What interim settlements told of a call that goes on: of each number the most that any of them
 * told, since what a provider has counted it does not count back. So neither the order in which
 * they come matters, nor whether one comes twice. What the end tells counts instead.
 *
 * @param sent whether one of them shows that the call reached the provider
 * @param input input tokens that count, or null
 * @param output output tokens produced so far, as they count, or null
 */
public record Told(boolean sent, Long input, Long output) {
  /** Nothing was told. */
  public static final Told NOTHING = new Told(false, null, null);

  /** What is known after one more interim settlement; in SEED the first input is the last. */
  Told and(QuotaPolicy policy, Settlement interim) {
    Usage usage = interim.usage();
    Long newInput =
        usage == null || usage.inputTokens() == null
            ? null
            : (Long) ActualUse.countedInput(policy, usage);
    Long newOutput = ActualUse.countedOutput(policy, usage);
    boolean first = input == null || policy.order().ranked();
    return new Told(
        sent || showsSent(policy, interim),
        first ? most(input, newInput) : input,
        most(output, newOutput));
  }

  /**
   * A call without any number, and without an answer of the provider, may not have been sent; one
   * that was answered 429 was not taken.
   */
  static boolean showsSent(QuotaPolicy policy, Settlement settlement) {
    Signal signal = settlement.signal();
    boolean answered = signal != null && (signal.status() != null || !signal.limits().isEmpty());
    boolean taken = answered && SettlementRules.kind(policy, settlement) != Kind.RATE_LIMITED;
    return taken || showsUse(settlement);
  }

  /** Whether any number says that the call was made. */
  static boolean showsUse(Settlement settlement) {
    Usage usage = settlement.usage();
    return usage != null
        && (isSome(usage.inputTokens())
            || isSome(usage.cacheReadTokens())
            || isSome(usage.cacheWriteTokens())
            || isSome(usage.outputTokens()));
  }

  private static boolean isSome(Long tokens) {
    return tokens != null && tokens > 0;
  }

  private static Long most(Long one, Long other) {
    return one == null ? other : other == null ? one : (Long) Math.max(one, other);
  }
}
