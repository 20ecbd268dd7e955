package dev.fairway.admission.engine.breaker;

import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.Signal.Kind;

/**
 * What a settlement tells of the provider: only what the provider said is an answer, not that
 * somebody stopped waiting for it.
 */
enum Answer {
  /** It refused the call for its rate. */
  REFUSED,
  /** Nobody heard it, or it says nothing of the rate. */
  NOTHING,
  /** It answered anything else, be it an error. */
  ACCEPTED;

  /** What a settlement tells whose signal, or else its outcome, means that. */
  static Answer of(Settlement settlement, Kind kind) {
    Outcome outcome = settlement.outcome();
    if (outcome == Outcome.NOT_SENT || kind == Kind.NEVER_FITS) {
      return NOTHING; // Too large a call says nothing of the rate.
    }
    if (outcome == Outcome.SUCCEEDED) {
      return ACCEPTED;
    }
    if (outcome == Outcome.RATE_LIMITED || kind == Kind.RATE_LIMITED) {
      return REFUSED;
    }
    boolean heard =
        outcome == Outcome.OVERLOADED
            || isCounted(settlement.usage())
            || isHeard(settlement.signal());
    return heard ? ACCEPTED : NOTHING;
  }

  /** Input that an agent estimates needs no provider. */
  private static boolean isCounted(Usage usage) {
    return usage != null
        && (isSome(usage.outputTokens())
            || (usage.exact()
                && (isSome(usage.inputTokens())
                    || isSome(usage.cacheReadTokens())
                    || isSome(usage.cacheWriteTokens()))));
  }

  /** A connection that breaks is an error without a status. */
  private static boolean isHeard(Signal signal) {
    return signal != null
        && (signal.status() != null
            || !signal.limits().isEmpty()
            || (signal.kind() != null && signal.kind() != Kind.ERROR));
  }

  private static boolean isSome(Long tokens) {
    return tokens != null && tokens > 0;
  }
}
