package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import java.util.Map;

/** What a settlement must be like, and how its signal is read: what is absurd is unknown. */
final class SettlementRules {
  /** A longer wait than a year and a day is unreadable. */
  private static final long LONGEST_WAIT_MS = 366L * 24 * 3_600_000;

  private static final long LONGEST_CALL_MS = 24L * 3_600_000;

  private static final int TOO_MANY_REQUESTS = 429;

  private SettlementRules() {}

  /** What is wrong with a settlement, or null. */
  static String violation(Settlement s) {
    boolean byRequest = s.outcome() == Outcome.CANCELLED || s.outcome() == Outcome.UNLEASED;
    if (byRequest && s.requestId() == null) {
      return "Expected a request_id with outcome " + s.outcome() + ", but found none";
    }
    if (!byRequest && s.leaseId() == null) {
      return "Expected a lease_id with outcome " + s.outcome() + ", but found none";
    }
    Usage usage = s.usage();
    if (usage == null) {
      return null;
    }
    String wrong = CallTokens.violation("usage.input_tokens", usage.inputTokens());
    wrong =
        wrong != null
            ? wrong
            : CallTokens.violation("usage.cache_read_tokens", usage.cacheReadTokens());
    wrong =
        wrong != null
            ? wrong
            : CallTokens.violation("usage.cache_write_tokens", usage.cacheWriteTokens());
    return wrong != null
        ? wrong
        : CallTokens.violation("usage.output_tokens", usage.outputTokens());
  }

  /**
   * What the provider's answer means, from the signal or else from the outcome. A signal that says
   * no more than that it was fine, or an error, does not make a 429 anything else, unless reports
   * are taken at their word.
   */
  static Kind kind(QuotaPolicy policy, Settlement s) {
    Signal signal = s.signal();
    Kind told = signal == null ? null : signal.kind();
    boolean vague = told == null || told == Kind.OK || told == Kind.ERROR;
    boolean strict = policy.rules().has(Rule.STRICT_REPORTS);
    if (told != null && !(strict && vague)) {
      return told;
    }
    if (s.outcome() == Outcome.RATE_LIMITED || s.outcome() == Outcome.OVERLOADED) {
      return s.outcome() == Outcome.OVERLOADED ? Kind.OVERLOADED : Kind.RATE_LIMITED;
    }
    boolean refused =
        strict && signal != null && signal.status() != null && signal.status() == TOO_MANY_REQUESTS;
    return refused ? Kind.RATE_LIMITED : told == null ? Kind.OK : told;
  }

  /**
   * The end as it counts. A 429 is one, whatever outcome it is told with, unless the call succeeded
   * or used something all the same. What is given back as never sent, and is known to have been
   * sent by what was told on the way or is told now, failed. Without strict reports the end is
   * taken at its word.
   */
  static Settlement asItCounts(QuotaPolicy policy, Lease lease, Settlement s) {
    if (!policy.rules().has(Rule.STRICT_REPORTS)) {
      return s;
    }
    if (isRefusal(policy, s) && !Told.showsUse(s)) {
      return as(Outcome.RATE_LIMITED, s);
    }
    return givesBackWhatWasSent(policy, lease, s) ? as(Outcome.FAILED_AFTER_SEND, s) : s;
  }

  /**
   * Whether an end tells of a 429: one whose outcome is that, or, with strict reports, any whose
   * signal says so, unless the call succeeded all the same.
   */
  static boolean isRefusal(QuotaPolicy policy, Settlement s) {
    boolean refused =
        s.outcome() == Outcome.RATE_LIMITED
            || (policy.rules().has(Rule.STRICT_REPORTS) && s.outcome() != Outcome.SUCCEEDED);
    return refused && kind(policy, s) == Kind.RATE_LIMITED;
  }

  /** Whether a call is to be given back as never sent that is known to have been sent. */
  static boolean givesBackWhatWasSent(QuotaPolicy policy, Lease lease, Settlement s) {
    return s.outcome() == Outcome.NOT_SENT
        && policy.rules().has(Rule.STRICT_REPORTS)
        && (lease.told().sent() || Told.showsSent(policy, s));
  }

  /** The same with another outcome. */
  static Settlement as(Outcome outcome, Settlement s) {
    return of(s.leaseId(), outcome, s.usage(), s.signal(), s);
  }

  /** The same of the lease of that id. */
  static Settlement of(String leaseId, Settlement s) {
    return of(leaseId, s.outcome(), s.usage(), s.signal(), s);
  }

  /** The same with another usage. */
  static Settlement using(Usage usage, Settlement s) {
    return of(s.leaseId(), s.outcome(), usage, s.signal(), s);
  }

  /** The same with another signal. */
  static Settlement saying(Signal signal, Settlement s) {
    return of(s.leaseId(), s.outcome(), s.usage(), signal, s);
  }

  private static Settlement of(
      String leaseId, Outcome outcome, Usage usage, Signal signal, Settlement s) {
    return new Settlement(
        leaseId, s.requestId(), s.agentId(), s.quotaId(), outcome, usage, s.requeue(), signal);
  }

  /** Grant to send, or null if the signal does not tell. */
  static Long sendDelayMs(Signal signal, long grantedAtMs, long nowMs) {
    return signal == null || signal.msSinceSend() == null
        ? null
        : (Long) Math.max(0, nowMs - signal.msSinceSend() - grantedAtMs);
  }

  /**
   * How long the provider asks to wait, from now on: its retry-after, else the reset of what is
   * exhausted, the later if several. Null if it does not say.
   */
  static Long waitMs(Signal signal) {
    if (signal == null) {
      return null;
    }
    Long wait = sane(signal.retryAfterMs());
    if (wait == null) {
      for (Dimension d : Dimension.values()) {
        Reading r = signal.limits().get(d);
        boolean exhausted =
            r != null && ((r.remaining() != null && r.remaining() == 0) || d == signal.binding());
        if (exhausted && sane(r.resetMs()) != null) {
          wait = Math.max(wait == null ? 0 : wait, r.resetMs());
        }
      }
    }
    if (wait == null) {
      return null;
    }
    return Math.max(0, wait - (signal.ageMs() == null ? 0 : signal.ageMs()));
  }

  private static Long sane(Long ms) {
    return ms != null && ms > 0 && ms <= LONGEST_WAIT_MS ? ms : null;
  }

  /**
   * The settlement with a signal that can be read. Headers of no possible time are none: nobody
   * knows what of the present they say. What the answer was, and its retry-after, still count.
   */
  static Settlement readable(Settlement s) {
    if (s.signal() == null || hasPossibleTimes(s.signal())) {
      return s;
    }
    Signal told = s.signal();
    return saying(
        new Signal(
            told.status(), told.kind(), told.binding(), told.retryAfterMs(), null, null, Map.of()),
        s);
  }

  /**
   * Headers come after their call was sent, and no later than the settlement. Older ones than the
   * calls that are remembered cannot be told apart from what those calls took.
   */
  private static boolean hasPossibleTimes(Signal s) {
    Long age = s.ageMs();
    Long since = s.msSinceSend();
    return (age == null || (age >= 0 && age <= QuotaState.RESYNC_WINDOW_MS))
        && (since == null || (since >= 0 && since <= LONGEST_CALL_MS))
        && (age == null || since == null || age <= since);
  }
}
