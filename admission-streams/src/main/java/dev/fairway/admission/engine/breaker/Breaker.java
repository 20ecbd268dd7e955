package dev.fairway.admission.engine.breaker;

import dev.fairway.admission.engine.Event.BreakerCause;
import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.BreakerHalfOpen;
import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.RefusalCounted;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.breaker.BreakerState.Phase;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Lease.Status;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/**
 * Opens after two 429s in a row, lets one probe through at a time, and closes at the first answer
 * that is no 429. After {@value #MAX_IDLE_PROBES} probes in a row that told nothing it closes into
 * a trickle, so that whoever gives probes back or loses them holds it open no longer than that: a
 * 429 among the calls of the trickle opens it again where it was.
 */
public final class Breaker {
  /** Two 429s this close together open it. */
  static final long WINDOW_MS = 3_000;

  /** How long a probe may stay without an answer. */
  static final long PROBE_TIMEOUT_MS = 15_000;

  /** After so many probes in a row that told nothing others get their turn as well. */
  static final int MAX_IDLE_PROBES = 3;

  private static final long FIRST_WAIT_MS = 1_000;
  private static final long LONGEST_WAIT_MS = 30_000;
  private static final int MAX_DOUBLINGS = 10;

  private Breaker() {}

  /**
   * When the breaker lets somebody be granted if nothing else happens; {@link Long#MAX_VALUE} if
   * time alone does not help.
   */
  public static long grantDueMs(QuotaState quota, long atMs) {
    BreakerState breaker = quota.breaker();
    switch (breaker.phase()) {
      case OPEN:
        return Math.max(atMs, breaker.untilMs());
      case HALF_OPEN:
        return Long.MAX_VALUE;
      default:
        return atMs;
    }
  }

  /** A lease was granted: while the breaker is open, it is the probe. */
  public static void granted(Transaction tx, QuotaState quota, String leaseId) {
    if (quota.breaker().phase() == Phase.OPEN) {
      tx.emit(new BreakerHalfOpen(quota.id(), leaseId, tx.nowMs() + PROBE_TIMEOUT_MS));
    }
  }

  /**
   * A lease was settled.
   *
   * @param lease the lease as it was before
   * @param settlement how it ended
   * @param kind what the provider's answer means
   * @param waitMs how long the provider asks to wait, or null if it does not say
   * @param late whether the lease had expired: its answer is old
   */
  public static void settled(
      Transaction tx,
      QuotaState quota,
      Lease lease,
      Settlement settlement,
      Kind kind,
      Long waitMs,
      boolean late) {
    Answer answer = Answer.of(settlement, kind);
    boolean counts =
        quota.policy().rules().has(Rule.BREAKER)
            && !quota.breaker().isUnproven()
            && kind == Kind.RATE_LIMITED
            && answer == Answer.REFUSED
            && !late;
    everywhere(tx, quota, lease, answer, waitMs, late);
    if (counts) {
      count(tx, quota, lease, waitMs);
    }
  }

  /**
   * Something was told of a call that goes on, by an interim settlement; a mere renewal is no
   * answer.
   */
  public static void told(
      Transaction tx,
      QuotaState quota,
      Lease lease,
      Settlement settlement,
      Kind kind,
      Long waitMs) {
    Answer answer = Answer.of(settlement, kind);
    if (answer != Answer.NOTHING) {
      everywhere(tx, quota, lease, answer, waitMs, false);
    }
  }

  /** In its own quota and those that it takes from too. */
  private static void everywhere(
      Transaction tx, QuotaState quota, Lease lease, Answer answer, Long waitMs, boolean late) {
    for (String also : lease.taken().also().keySet()) {
      QuotaState other = tx.state().quota(also);
      if (other != null && other.breaker().isUnproven()) {
        answered(tx, other, lease, answer, waitMs, late);
      }
    }
    if (quota.breaker().isUnproven()) {
      answered(tx, quota, lease, answer, waitMs, late);
    }
  }

  private static void answered(
      Transaction tx, QuotaState quota, Lease lease, Answer answer, Long waitMs, boolean late) {
    BreakerState breaker = quota.breaker();
    boolean probe =
        breaker.trickles()
            ? !late && !breaker.predates(lease.grantedAtMs())
            : lease.leaseId().equals(breaker.probeLeaseId());
    int failures = breaker.failures() + 1;
    if (answer == Answer.ACCEPTED) {
      accepted(tx, quota, lease);
    } else if (probe && answer == Answer.REFUSED) {
      open(tx, quota, BreakerCause.PROBE_REFUSED, failures, waitMs(failures, waitMs));
    } else if (probe && breaker.isOpen()) {
      handOn(tx, quota, BreakerCause.PROBE_NOT_SENT);
    }
  }

  /** A probe told nothing: it is the next one's turn, or, after too many such, all others'. */
  private static void handOn(Transaction tx, QuotaState quota, BreakerCause cause) {
    BreakerState breaker = quota.breaker();
    if (breaker.idleProbes() + 1 < MAX_IDLE_PROBES) {
      open(tx, quota, cause, breaker.failures(), 0);
    } else {
      tx.emit(new BreakerClosed(quota.id(), null, Ramps.afterHoldMs(tx, quota)));
    }
  }

  /** A probe that stays silent, or whose lease expired, hands its place on. */
  public static void timeOut(Transaction tx, QuotaState quota) {
    BreakerState breaker = quota.breaker();
    if (breaker.phase() == Phase.HALF_OPEN) {
      Lease probe = probe(tx, quota);
      boolean gone = probe == null || probe.status() != Status.OPEN;
      if (gone || breaker.untilMs() <= tx.nowMs()) {
        handOn(tx, quota, BreakerCause.PROBE_SILENT);
      }
    }
  }

  /** A quota that others take from may be probed by a lease of one of them. */
  private static Lease probe(Transaction tx, QuotaState quota) {
    Lease probe = quota.lease(quota.breaker().probeLeaseId());
    for (QuotaState taker : tx.state().sharing(quota)) {
      probe = probe != null ? probe : taker.lease(quota.breaker().probeLeaseId());
    }
    return probe;
  }

  /** When {@link #timeOut} is due, or {@link Long#MAX_VALUE}. */
  public static long timeOutDueMs(QuotaState quota) {
    BreakerState breaker = quota.breaker();
    return breaker.phase() == Phase.HALF_OPEN ? breaker.untilMs() : Long.MAX_VALUE;
  }

  /** An operator cleared the quota. */
  public static void cleared(Transaction tx, QuotaState quota) {
    if (quota.breaker().isUnproven()) {
      tx.emit(new BreakerClosed(quota.id(), null, null));
    }
  }

  /** Of the leases granted since the breaker opened, each was a probe. */
  private static void accepted(Transaction tx, QuotaState quota, Lease lease) {
    if (!quota.breaker().predates(lease.grantedAtMs())) {
      tx.emit(new BreakerClosed(quota.id(), lease.leaseId(), null));
      Ramps.afterBreaker(tx, quota);
    }
  }

  private static void count(Transaction tx, QuotaState quota, Lease lease, Long waitMs) {
    BreakerState breaker = quota.breaker();
    if (breaker.predates(lease.grantedAtMs())) {
      return; // It belongs to the episode that is over.
    }
    Long before = breaker.lastRefusedAtMs();
    tx.emit(new RefusalCounted(quota.id(), lease.leaseId()));
    if (before != null && tx.nowMs() - before <= WINDOW_MS) {
      open(tx, quota, BreakerCause.REFUSALS, 0, waitMs(0, waitMs));
    }
  }

  private static void open(
      Transaction tx, QuotaState quota, BreakerCause cause, int failures, long waitMs) {
    tx.emit(new BreakerOpened(quota.id(), cause, failures, tx.nowMs() + waitMs));
  }

  private static long waitMs(int failures, Long named) {
    long wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS << Math.min(failures, MAX_DOUBLINGS));
    return named == null ? wait : Math.max(wait, named);
  }
}
