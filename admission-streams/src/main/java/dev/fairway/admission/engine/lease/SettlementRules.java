package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;

/** What a settlement must be like, and how its signal is read: what is absurd is unknown. */
final class SettlementRules {
  /** A longer wait than a year and a day is unreadable. */
  private static final long LONGEST_WAIT_MS = 366L * 24 * 3_600_000;

  private static final long LONGEST_CALL_MS = 24L * 3_600_000;

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
    String wrong = wrongTokens("input_tokens", usage.inputTokens());
    wrong = wrong != null ? wrong : wrongTokens("cache_read_tokens", usage.cacheReadTokens());
    wrong = wrong != null ? wrong : wrongTokens("cache_write_tokens", usage.cacheWriteTokens());
    return wrong != null ? wrong : wrongTokens("output_tokens", usage.outputTokens());
  }

  private static String wrongTokens(String field, Long tokens) {
    if (tokens != null && (tokens < 0 || tokens > FixedPoint.MAX_AMOUNT)) {
      return "Expected usage."
          + field
          + " from 0 to "
          + FixedPoint.MAX_AMOUNT
          + ", but found "
          + tokens;
    }
    return null;
  }

  /** What the provider's answer means, from the signal or else from the outcome. */
  static Kind kind(Settlement s) {
    if (s.signal() != null && s.signal().kind() != null) {
      return s.signal().kind();
    }
    switch (s.outcome()) {
      case RATE_LIMITED:
        return Kind.RATE_LIMITED;
      case OVERLOADED:
        return Kind.OVERLOADED;
      default:
        return Kind.OK;
    }
  }

  /**
   * Whether an interim settlement shows that the provider took the call; a mere renewal does not.
   */
  static boolean isAnswer(Settlement s) {
    Kind kind = kind(s);
    return (s.usage() != null || s.signal() != null)
        && kind != Kind.RATE_LIMITED
        && kind != Kind.NEVER_FITS;
  }

  /** Grant to send, or null if the signal does not tell. */
  static Long sendDelayMs(Signal signal, long grantedAtMs, long nowMs) {
    if (signal == null || signal.msSinceSend() == null) {
      return null;
    }
    long since = signal.msSinceSend();
    if (since < 0 || since > LONGEST_CALL_MS) {
      return null;
    }
    return Math.max(0, nowMs - since - grantedAtMs);
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
    Long age = signal.ageMs();
    return Math.max(0, wait - (age != null && age > 0 ? age : 0));
  }

  private static Long sane(Long ms) {
    return ms != null && ms > 0 && ms <= LONGEST_WAIT_MS ? ms : null;
  }

  /** The signal with an age that can be used. */
  static Signal readable(Signal s) {
    boolean absurd = s.ageMs() != null && (s.ageMs() < 0 || s.ageMs() > LONGEST_CALL_MS);
    return absurd
        ? new Signal(
            s.status(), s.kind(), s.binding(), s.retryAfterMs(), null, s.msSinceSend(), s.limits())
        : s;
  }
}
