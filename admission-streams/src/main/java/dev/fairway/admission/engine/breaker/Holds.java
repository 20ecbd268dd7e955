package dev.fairway.admission.engine.breaker;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.RulePolicy;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.queue.Drain;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import java.util.List;

/** How long a quota grants nothing after what a provider answered. */
public final class Holds {
  private static final long FIRST_PAUSE_MS = 1_000;
  private static final long LONGEST_PAUSE_MS = 30_000;
  private static final int MAX_DOUBLINGS = 10;

  private Holds() {}

  /**
   * A lease was settled.
   *
   * @param lease the lease as it was before
   * @param waitMs how long the provider asks to wait, or null if it does not say
   */
  public static void settled(
      Transaction tx, QuotaState quota, Lease lease, Outcome outcome, Kind kind, Long waitMs) {
    if (outcome == Outcome.SUCCEEDED || outcome == Outcome.NOT_SENT) {
      return; // Providers send retry-after with successes too; it means nothing there.
    }
    if (kind == Kind.BILLING) {
      billing(tx, quota);
    } else if (kind == Kind.QUOTA_EXHAUSTED || kind == Kind.DAILY_QUOTA) {
      Long untilMs = waitMs == null ? null : (Long) (tx.nowMs() + waitMs);
      holdLonger(tx, quota, HoldReason.QUOTA_EXHAUSTED, untilMs);
    } else if (kind == Kind.OVERLOADED || outcome == Outcome.OVERLOADED) {
      overloaded(tx, quota, lease, waitMs);
    } else if (kind == Kind.RATE_LIMITED) {
      rateLimited(tx, quota, lease, waitMs);
    }
    Ramps.afterHold(tx, quota);
  }

  /** What is not paid is the key, with all its quotas. */
  private static void billing(Transaction tx, QuotaState quota) {
    for (QuotaState ofKey : List.copyOf(tx.state().quotas())) {
      tx.emit(new QuotaHeld(ofKey.id(), HoldReason.BILLING, null));
    }
    for (QuotaState ofKey : List.copyOf(tx.state().quotas())) {
      if (ofKey != quota) {
        Drain.run(tx, ofKey);
      }
    }
  }

  /** The pause doubles with each overload; calls in flight when it began are still the same one. */
  private static void overloaded(Transaction tx, QuotaState quota, Lease lease, Long waitMs) {
    Long pausedAtMs = quota.breaker().pausedAtMs();
    boolean samePause = pausedAtMs != null && lease.grantedAtMs() <= pausedAtMs;
    boolean pauses = !samePause && quota.policy().rules().has(Rule.OVERLOAD_PAUSE);
    if (!pauses && waitMs == null) {
      return;
    }
    long pause =
        pauses
            ? Math.min(
                LONGEST_PAUSE_MS, FIRST_PAUSE_MS << Math.min(quota.overloads(), MAX_DOUBLINGS))
            : 0;
    holdFor(tx, quota, HoldReason.OVERLOADED, waitMs == null ? pause : Math.max(pause, waitMs));
  }

  /**
   * Until the time that the provider named, which is a floor. A refusal that names none is not
   * followed by the same call in the same millisecond.
   */
  private static void rateLimited(Transaction tx, QuotaState quota, Lease lease, Long waitMs) {
    boolean named = waitMs != null && waitMs > 0;
    boolean oldNews = quota.breaker().isUnproven() && quota.breaker().predates(lease.grantedAtMs());
    if (named || !oldNews) {
      holdFor(tx, quota, HoldReason.RATE_LIMITED, named ? waitMs : FIRST_PAUSE_MS);
    }
  }

  /**
   * A wait longer than any that is promised is not waited for in the queue. A pause stays a pause:
   * the next one doubles, and a ramp follows, however long anybody waits ({@link
   * QuotaState#isExhausted}).
   */
  private static void holdFor(Transaction tx, QuotaState quota, HoldReason reason, long waitMs) {
    RulePolicy rules = quota.policy().rules();
    boolean keeps = rules.has(Rule.RAMP) || rules.has(Rule.EPISODES); // SEED goes by its reject.
    boolean pause = reason == HoldReason.OVERLOADED && keeps;
    boolean tooLong = !pause && waitMs > quota.policy().maxQueueWaitMs();
    holdLonger(tx, quota, tooLong ? HoldReason.QUOTA_EXHAUSTED : reason, tx.nowMs() + waitMs);
  }

  /** Holds only ever grow: a shorter wait named later does not end a longer one. */
  private static void holdLonger(
      Transaction tx, QuotaState quota, HoldReason reason, Long untilMs) {
    boolean held = quota.holdReason(tx.nowMs()) != null;
    boolean longer =
        !held
            || (quota.holdUntilMs() != null && (untilMs == null || untilMs > quota.holdUntilMs()));
    if (longer) {
      tx.emit(new QuotaHeld(quota.id(), reason, untilMs));
    }
  }
}
