package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.ResetLearned;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.bucket.FixedWindow;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Lease.Status;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import java.util.ArrayList;
import java.util.List;

/**
 * Sets balances by the provider's own numbers. Nobody knows when a call reached the provider, so
 * its level is known as an interval only: calls sent clearly after the one that brought the signal
 * are not in its number yet, calls sent about the same time may or may not be. The balance is moved
 * into that interval and no further.
 *
 * <p>A signal that does not tell its age is as old as its call at the most: what may have refilled
 * since bounds the balance from above, what surely has (nothing) from below, and where its age
 * matters it is not read at all. SEED takes it for one of now.
 */
public final class HeaderResync {
  /**
   * How far two send times may lie apart and still have reached the provider the other way round.
   */
  static final long GUARD_MS = 120;

  private static final long SECOND_MS = 1_000;

  /** An older number of output does not hold what calls have produced since. */
  private static final long LONGEST_OUTPUT_AGE_MS = 2_000;

  private static final Dimension[] READABLE = {
    Dimension.REQUESTS, Dimension.INPUT_TOKENS, Dimension.OUTPUT_TOKENS, Dimension.TOKENS
  };

  private final Transaction tx;
  private final QuotaState quota;
  private final Lease own;
  private final Signal signal;
  private final long sentAtMs;
  private final long ageMsMin;
  private final long ageMsMax;

  /** The earliest time at which it can have been answered. */
  private final long answeredAtMs;

  /** A signal that came with the settlement of that lease, after the settlement was applied. */
  public HeaderResync(Transaction tx, QuotaState quota, Lease own, Signal signal) {
    this.tx = tx;
    this.quota = quota;
    this.own = own;
    this.signal = signal;
    this.sentAtMs = own.sentAtMs();
    boolean told = signal.ageMs() != null || !quota.policy().observes();
    long sinceMs = tx.nowMs() - (own.sendKnown() ? own.sentAtMs() : own.grantedAtMs());
    this.ageMsMin = signal.ageMs() == null ? 0 : signal.ageMs();
    this.ageMsMax = told ? ageMsMin : Math.max(0, sinceMs);
    this.answeredAtMs = tx.nowMs() - ageMsMax;
  }

  /** Learns limits, then moves balances, as far as the signal says anything usable. */
  public void apply() {
    for (Dimension d : READABLE) {
      Reading reading = signal.limits().get(d);
      if (reading != null && quota.limits(d)) {
        LearnedLimits.named(tx, quota, d, reading.limit());
        learnReset(d, reading.resetMs());
      }
    }
    if (ageMsMax > QuotaState.RESYNC_WINDOW_MS) {
      return; // What was called since then is no longer known in full.
    }
    Long newest = quota.lastSignalSentAtMs();
    if (newest != null && sentAtMs < newest - GUARD_MS) {
      return; // An older picture than the one applied already.
    }
    List<Event.Resync> moves = new ArrayList<>();
    for (Dimension d : READABLE) {
      Reading reading = signal.limits().get(d);
      if (reading != null && quota.limits(d) && readable(reading) && present(d)) {
        ModeChange.headerOf(tx, quota, d, answeredAtMs);
        moves.add(move(d, reading));
      }
    }
    if (!moves.isEmpty()) {
      tx.emit(
          new BucketsResynced(
              quota.id(), own.leaseId(), sentAtMs, answeredAtMs, List.copyOf(moves)));
    }
  }

  /**
   * Where the provider's window is reset at times of its own, those are learned. One that is told
   * in whole seconds may lie up to a second off, and nobody says to which side: the latest that is
   * told stands, for a window that is believed to begin too early gives 429s. No reset counts
   * twice, nor is one passed over, because its time moved by so little: what is told while one of
   * the two times is over and the other is not is learned from a later answer.
   */
  private void learnReset(Dimension d, Long resetMs) {
    if (quota.policy().window() != Window.FIXED
        || resetMs == null
        || ageMsMax - ageMsMin > GUARD_MS
        || resetMs <= 0
        || resetMs > FixedWindow.WINDOW_MS) {
      return;
    }
    long resetAtMs = answeredAtMs + resetMs;
    Long known = quota.resetAtMs(d);
    long earlyMs = resetMs % SECOND_MS == 0 ? SECOND_MS + GUARD_MS : GUARD_MS;
    if (known == null || isAnother(known, resetAtMs, earlyMs)) {
      tx.emit(new ResetLearned(quota.id(), d, resetAtMs));
    }
  }

  /** Whether what is told is not the reset that is known, nor too close to it to be taken now. */
  private boolean isAnother(long known, long told, long earlyMs) {
    long later = FixedWindow.laterMs(known, told);
    if (later >= -earlyMs && later <= GUARD_MS) {
      return false;
    }
    long apart =
        FixedWindow.msUntil(told, 1, tx.nowMs()) - FixedWindow.msUntil(known, 1, tx.nowMs());
    return Math.abs(later) > SECOND_MS + GUARD_MS || apart == later;
  }

  /**
   * Whether a number of then says anything of now: not across a reset, and not of output that was
   * produced since, for nobody counted that.
   */
  private boolean present(Dimension d) {
    if (quota.policy().window() == Window.FIXED) {
      long phaseMs = quota.resetAtMs(d) == null ? 0 : quota.resetAtMs(d);
      long untilMs = Math.max(tx.nowMs(), answeredAtMs + FixedWindow.GUARD_MS);
      return FixedWindow.resets(phaseMs, answeredAtMs, untilMs) == 0;
    }
    return quota.policy().countsAtStart(d)
        || quota.policy().marginMode() == MarginModeName.RATE
        || ageMsMax <= LONGEST_OUTPUT_AGE_MS;
  }

  /** -1 and its kin mean unknown, and more remaining than the limit is not a reading. */
  private static boolean readable(Reading r) {
    return r.remaining() != null
        && r.remaining() >= 0
        && r.remaining() <= FixedPoint.MAX_AMOUNT
        && (r.limit() == null || r.remaining() <= r.limit());
  }

  /**
   * Whether the provider's limit is above the quota's. What is left of the larger says nothing of
   * what is left of the smaller, but that it can be no more.
   */
  private boolean isOfLargerLimit(Dimension d, Reading reading) {
    long limit = quota.limit(d);
    return quota.policy().rules().has(Rule.OWN_LIMIT)
        && (reading.remaining() > limit || (reading.limit() != null && reading.limit() > limit));
  }

  /** The provider's level now, if it was that much so long ago and nobody took anything since. */
  private long level(Dimension d, long remaining, long most, long agoMs) {
    int rateBp =
        quota.policy().window() == Window.FIXED ? 0 : quota.policy().rateBp(d, quota.limit(d));
    long refilled =
        FixedPoint.refilledTokens(FixedPoint.unitsPerMs(quota.limit(d), rateBp), agoMs, 0);
    return Math.min(most, Amounts.saturatedAdd(remaining, refilled));
  }

  /**
   * The longest time ago that the provider can have read its level. Some read it when they answer,
   * some when they admit the call, seconds before its first token.
   */
  private long longestAgoMs(Dimension d) {
    boolean tells =
        quota.marginMode(d).name() == MarginModeName.ADAPTIVE
            && quota.policy().countsAtStart(d)
            && own.sendKnown();
    return tells ? Math.max(ageMsMax, tx.nowMs() - sentAtMs) : ageMsMax;
  }

  private Event.Resync move(Dimension d, Reading reading) {
    long remaining = reading.remaining();
    boolean boundOnly = isOfLargerLimit(d, reading);
    long most = boundOnly ? FixedPoint.MAX_AMOUNT : Math.max(quota.depth(d), quota.cap(d));
    long provider = level(d, remaining, most, ageMsMin);
    Others others = new Others(d);
    quota.forEachSentFrom(sentAtMs - GUARD_MS, others::add);
    if (!quota.policy().countsAtStart(d)) {
      // Output counts as it is produced: what open calls still have to produce is in no header.
      others.unseen = Amounts.saturatedAdd(others.unseen, quota.reserved().get(d));
      if (own.status() == Status.SETTLED && ageMsMax > 0) {
        others.ambiguous = Amounts.saturatedAdd(others.ambiguous, own.charged().get(d));
      }
    }
    long high =
        Amounts.saturatedSubtract(level(d, remaining, most, longestAgoMs(d)), others.unseen);
    Long low =
        boundOnly
            ? null
            : (Long)
                Amounts.saturatedSubtract(
                    Amounts.saturatedSubtract(provider, others.unseen), others.ambiguous);
    long before = quota.bucketAt(d, tx.nowMs()).balance();
    if (low != null && remaining == 0 && quota.marginMode(d).name() != MarginModeName.RATE) {
      // No provider tells its debts: nothing left may be less than nothing, as ours may know.
      low = Math.min(low, before);
    }
    long within = Math.min(before, high);
    long after = Math.min(quota.cap(d), low == null ? within : Math.max(low, within));
    Long outside = null;
    if (quota.policy().rules().has(Rule.OUTSIDE_RATE)
        && quota.marginMode(d).name() == MarginModeName.ADAPTIVE) {
      outside =
          quota.lastMinute().counts(d)
              ? rollingOutsideMilli(d, remaining, others)
              : outsideMilli(d, before, after, provider);
    }
    return new Event.Resync(d, before, low, high, after, outside);
  }

  /** What others take, where the balance follows the provider's level and refills on its own. */
  private Long outsideMilli(Dimension d, long before, long after, long provider) {
    if (quota.policy().window() == Window.FIXED) {
      return null;
    }
    long lost = Amounts.saturatedSubtract(before, after);
    // A provider whose bucket is full refills nothing, and what it would have refilled is no loss.
    boolean full = after >= quota.depth(d) || provider >= quota.depth(d);
    return quota.outside(d).after(tx.nowMs(), quota.answeredAtMs(d), lost, full, quota.limit(d));
  }

  /** What of the provider's window nobody here took, moved into what its number allows. */
  private Long rollingOutsideMilli(Dimension d, long remaining, Others others) {
    long taken = quota.limit(d) - remaining;
    long ours = quota.lastMinute().used(d, sentAtMs) - others.unseen;
    long least = Math.max(0, taken - ours);
    long most = Math.max(0, taken - (ours - others.ambiguous));
    long before = quota.outside(d).perMinuteMilli() / 1000;
    return Math.max(least, Math.min(before, most)) * 1000;
  }

  /** What other calls hold that the provider's number cannot, or may not, contain. */
  private final class Others {
    private final Dimension dimension;
    private long unseen;
    private long ambiguous;

    Others(Dimension dimension) {
      this.dimension = dimension;
    }

    void add(Lease x, Amounts held) {
      boolean countedAsOpen = !quota.policy().countsAtStart(dimension) && x.status() == Status.OPEN;
      if (x.leaseId().equals(own.leaseId()) || countedAsOpen) {
        return;
      }
      long guard = GUARD_MS + (x.sendKnown() ? 0 : x.sendGuardMs());
      long charge = held.get(dimension);
      if (x.sentAtMs() > sentAtMs + guard) {
        unseen = Amounts.saturatedAdd(unseen, charge);
      } else if (x.sentAtMs() >= sentAtMs - guard) {
        ambiguous = Amounts.saturatedAdd(ambiguous, charge);
      }
    }
  }
}
