package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.Signal.Kind;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What interim settlements told of a call that goes on: of each number the most that any of them
 * told, since what a provider has counted it does not count back. So neither the order in which
 * they come matters, nor whether one comes twice. What the end tells counts instead.
 *
 * @param sent whether one of them shows that the call reached the provider
 * @param input input tokens that count, or null
 * @param output output tokens produced so far, as they count, or null
 * @param refusal the gravest refusal that any of them told, or null; it counts when the call ends
 * @param untilMs until when the provider asked to wait, the latest, epoch milliseconds, or null
 */
public record Told(boolean sent, Long input, Long output, Kind refusal, Long untilMs) {
  /** Nothing was told. */
  public static final Told NOTHING = new Told(false, null, null, null, null);

  private static final Signal NOTHING_SAID =
      new Signal(null, null, null, null, null, null, Map.of());

  /** After any of these nothing is granted for a while. */
  private static final Set<Kind> REFUSALS =
      EnumSet.of(
          Kind.RATE_LIMITED, Kind.OVERLOADED, Kind.QUOTA_EXHAUSTED, Kind.DAILY_QUOTA, Kind.BILLING);

  /**
   * What is known after one more interim settlement; without strict reports the first input is the
   * last, and only the end tells of refusals.
   */
  Told and(QuotaPolicy policy, Settlement interim, long nowMs) {
    Usage usage = interim.usage();
    Long newInput =
        usage == null || usage.inputTokens() == null
            ? null
            : (Long) ActualUse.countedInput(policy, usage);
    Long newOutput = ActualUse.countedOutput(policy, usage);
    Kind kind = SettlementRules.kind(policy, interim);
    boolean refused = policy.rules().has(Rule.STRICT_REPORTS) && REFUSALS.contains(kind);
    Long waitMs = SettlementRules.waitMs(interim.signal());
    boolean first = input == null || policy.rules().has(Rule.STRICT_REPORTS);
    return new Told(
        sent || showsSent(policy, interim),
        first ? most(input, newInput) : input,
        most(output, newOutput),
        refused ? gravest(refusal, kind) : refusal,
        refused && waitMs != null ? most(untilMs, nowMs + waitMs) : untilMs);
  }

  /** The same once its refusal has counted. */
  public Told heeded() {
    return new Told(sent, input, output, null, null);
  }

  /**
   * The end with what was told before it: a refusal counts at the end of its call, once, whether
   * the end repeats it or not. A call that succeeded was not refused; what the end itself says of a
   * refusal goes first; and of a pause that is over nothing is left but that a 429 was one.
   */
  Settlement heardAtEnd(QuotaPolicy policy, Settlement end, long nowMs) {
    Kind kind = SettlementRules.kind(policy, end);
    boolean names = SettlementRules.waitMs(end.signal()) != null;
    boolean itself = REFUSALS.contains(kind) && (kind != refusal || names);
    boolean over = untilMs != null && untilMs <= nowMs;
    if (refusal == null
        || end.outcome() == Outcome.SUCCEEDED
        || itself
        || (over && refusal != Kind.RATE_LIMITED)) {
      return end;
    }
    Signal said = end.signal() != null ? end.signal() : NOTHING_SAID;
    long ageMs = ActualUse.orZero(said.ageMs());
    return SettlementRules.saying(
        new Signal(
            said.status(),
            refusal,
            said.binding(),
            untilMs == null || over ? null : (Long) (untilMs - nowMs + ageMs),
            said.ageMs(),
            said.msSinceSend(),
            said.limits()),
        end);
  }

  /** Whether that tells the same tokens. */
  boolean sameUse(Told other) {
    return Objects.equals(input, other.input) && Objects.equals(output, other.output);
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

  private static Kind gravest(Kind one, Kind other) {
    return one == null || one.compareTo(other) < 0 ? other : one;
  }

  private static Long most(Long one, Long other) {
    return one == null ? other : other == null ? one : (Long) Math.max(one, other);
  }
}
