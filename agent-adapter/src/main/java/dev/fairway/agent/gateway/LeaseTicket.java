package dev.fairway.agent.gateway;

import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * One request of an agent that asks over HTTP, and what became of it. Guarded by itself; nothing
 * here blocks.
 *
 * <p>An asker has been told of a grant once an answer that names it is out. Until then nobody can
 * have used it, and no report can be on it that does not name its attempt.
 */
final class LeaseTicket {
  /** How a ticket stands. */
  enum Status {
    /** In line, or not decided yet. */
    QUEUED,
    /** The call may be sent now. */
    GRANTED,
    /** Nothing was taken. */
    REJECTED,
    /** The call is over. */
    SETTLED
  }

  /**
   * How a ticket stands.
   *
   * @param grant null unless granted or settled
   * @param attempt of the grant, 0 if there is none
   * @param refused null unless rejected
   * @param place null unless queued and told
   * @param outcome null unless settled
   * @param leftMs until the lease is given up, null unless granted
   */
  record View(
      String id,
      Status status,
      Grant grant,
      int attempt,
      RefusedException refused,
      QueueUpdate place,
      Outcome outcome,
      Long leftMs) {}

  /**
   * What an asker says of its call.
   *
   * @param requeue with RATE_LIMITED: the call goes back in line
   * @param attempt the attempt that this is on, or null
   * @param usage null: not told
   * @param signal null: not told
   * @param sinceSent how long ago the call was sent; null: not told
   * @param sinceAnswered how long ago the signal's headers arrived; null: not told
   */
  record Report(
      Outcome outcome,
      boolean requeue,
      Integer attempt,
      UsageReport usage,
      ProviderSignal signal,
      Duration sinceSent,
      Duration sinceAnswered) {
    /** Nothing was measured. */
    Report(
        Outcome outcome,
        boolean requeue,
        Integer attempt,
        UsageReport usage,
        ProviderSignal signal) {
      this(outcome, requeue, attempt, usage, signal, null, null);
    }

    /** The asker does not want it any more. */
    static final Report WITHDRAWN = new Report(Outcome.CANCELLED, false, null, null, null);

    private boolean tellsOfUse() {
      return usage != null
          && (some(usage.inputTokens())
              || some(usage.cacheReadTokens())
              || some(usage.cacheWriteTokens())
              || some(usage.outputTokens()));
    }

    private static boolean some(Long tokens) {
      return tokens != null && tokens > 0;
    }
  }

  final String id;
  final String owner;

  /** What the asker would ask with again if its answer was lost, or null. */
  final Again again;

  private final LongSupplier nowMs;
  private final Scheduler scheduler;
  private Status status = Status.QUEUED;
  private CompletableFuture<Grant> asked;
  private Grant grant;
  private int attempt;
  private RefusedException refused;
  private QueueUpdate place;
  private Outcome outcome;
  private UsageReport settledUsage;

  /** Answers on their way that name the grant. */
  private int telling;

  private boolean told;

  /** Reported in progress: it was sent. */
  private boolean running;

  private boolean late;

  /** The gateway stops. */
  private boolean draining;

  /** Withdrawn because the gateway stops. */
  private boolean sentAway;

  private int requeuedAttempt;
  private final Set<CompletableFuture<Void>> polls = new HashSet<>();
  private long touchedMs;
  private long ttlMs;
  private long expiresMs;

  /**
   * Tells the same request asked again from another one.
   *
   * @param key the asker's own name for it
   * @param hash of what was asked
   */
  record Again(String key, String hash) {}

  LeaseTicket(String id, String owner, Again again, LongSupplier nowMs, Scheduler scheduler) {
    this.id = id;
    this.owner = owner;
    this.again = again;
    this.nowMs = nowMs;
    this.scheduler = scheduler;
    this.touchedMs = nowMs.getAsLong();
  }

  // ---- how it stands

  /** How it stands, as far as the asker has been told: a grant that it was not told of is none. */
  synchronized View view() {
    return view(status != Status.GRANTED || seen());
  }

  /**
   * How it stands, for an answer that names a grant if there is one; {@link #told} follows. Null if
   * its asker is sent away, because the gateway stops.
   */
  synchronized View tell() {
    if (sentAway) {
      return null;
    }
    telling += status == Status.GRANTED ? 1 : 0;
    return view(true);
  }

  /** The answer with such a view is out, or never will be. */
  void told(View view, boolean out) {
    synchronized (this) {
      if (view.status() == Status.GRANTED && view.grant() == grant) {
        telling--;
        told |= out;
      }
      if (!draining) {
        return;
      }
    }
    drain();
  }

  private View view(boolean whole) {
    touchedMs = nowMs.getAsLong();
    if (!whole) {
      return new View(id, Status.QUEUED, null, 0, null, null, null, null);
    }
    Long leftMs = status == Status.GRANTED ? Math.max(0, expiresMs - touchedMs) : null;
    return new View(id, status, grant, attempt, refused, place, outcome, leftMs);
  }

  /** Who was sent a grant may have it before the server knows that it is out. */
  private boolean seen() {
    return told || telling > 0;
  }

  /** Completes when it is decided, or after a time, or with what is given. */
  CompletableFuture<Void> decided(Duration atMost, CompletableFuture<Void> orElse) {
    CompletableFuture<Void> poll = new CompletableFuture<>();
    synchronized (this) {
      if (status != Status.QUEUED || atMost.isZero()) {
        return CompletableFuture.completedFuture(null);
      }
      polls.add(poll);
    }
    Scheduler.Task end =
        scheduler.schedule(() -> poll.complete(null), atMost.toMillis(), TimeUnit.MILLISECONDS);
    var unused = orElse.thenRun(() -> poll.complete(null));
    return poll.thenRun(
        () -> {
          end.cancel();
          synchronized (this) {
            polls.remove(poll);
            touchedMs = nowMs.getAsLong();
          }
        });
  }

  synchronized boolean isOver() {
    return status == Status.SETTLED || status == Status.REJECTED;
  }

  synchronized boolean isOld() {
    return isOver() && nowMs.getAsLong() - touchedMs > LeaseDesk.KEPT_MS;
  }

  /** Whether who asks again has something from it: it took something, or still may. */
  synchronized boolean isOfUse() {
    return status != Status.REJECTED
        && (status != Status.SETTLED || (grant != null && outcome != Outcome.NOT_SENT));
  }

  // ---- decisions

  /** Waits for a decision, unless it was withdrawn meanwhile. */
  void follow(CompletableFuture<Grant> asking) {
    boolean wanted;
    synchronized (this) {
      wanted = status == Status.QUEUED;
      if (wanted) {
        wait(asking);
      }
    }
    if (!wanted) {
      asking.cancel(false);
    }
    var unused = asking.whenComplete(this::decided);
  }

  private void wait(CompletableFuture<Grant> asking) {
    asked = asking;
    status = Status.QUEUED;
    grant = null;
    attempt = 0;
    place = null;
    telling = 0;
    told = false;
    running = false;
    later(LeaseDesk.UNASKED_MS, LeaseTicket::watch);
  }

  private void decided(Grant granted, Throwable error) {
    List<CompletableFuture<Void>> tell;
    synchronized (this) {
      if (status != Status.QUEUED) {
        if (granted != null) {
          granted.settle(Outcome.NOT_SENT, null, null);
        }
        return;
      }
      grant = granted;
      if (granted != null) {
        status = Status.GRANTED;
        // One that went on without a lease counts its attempts anew.
        attempt = Math.max(granted.attempt(), requeuedAttempt + 1);
        ttlMs = granted.remaining().toMillis();
        expiresMs = nowMs.getAsLong() + ttlMs;
        later(ttlMs, LeaseTicket::expire);
      } else {
        status = Status.REJECTED;
        refused =
            error instanceof RefusedException known
                ? known
                : new RefusedException(null, null, "No decision: " + error, null);
      }
      tell = List.copyOf(polls);
    }
    tell.forEach(poll -> poll.complete(null));
  }

  synchronized void queued(QueueUpdate update) {
    place = update;
  }

  // ---- time

  /** Nobody has reported in time: sent, if its asker was told, and nobody knows what it used. */
  private synchronized void expire() {
    long leftMs = expiresMs - nowMs.getAsLong();
    if (status != Status.GRANTED) {
      return;
    }
    if (leftMs > 0) {
      later(leftMs, LeaseTicket::expire);
      return;
    }
    if (!seen()) {
      over(Outcome.NOT_SENT, null, null);
      return;
    }
    late = true;
    grant.letExpire();
    status = Status.SETTLED;
    outcome = Outcome.FAILED_AFTER_SEND;
    touchedMs = nowMs.getAsLong();
    later(LeaseDesk.LATE_MS, LeaseTicket::endLate);
  }

  /** It takes no late report any more. */
  synchronized void endLate() {
    if (late) {
      over(Outcome.FAILED_AFTER_SEND, null, null);
    }
  }

  private void watch() {
    synchronized (this) {
      long quietMs = !polls.isEmpty() ? 0 : nowMs.getAsLong() - touchedMs;
      if (status != Status.QUEUED) {
        return;
      }
      if (quietMs < LeaseDesk.UNASKED_MS) {
        later(LeaseDesk.UNASKED_MS - quietMs, LeaseTicket::watch);
        return;
      }
    }
    report(Report.WITHDRAWN);
  }

  /**
   * The gateway is going to stop, and gives no lease any more: whoever has none is sent away, to
   * ask elsewhere.
   */
  void drain() {
    synchronized (this) {
      draining = true;
      if (isOver() || isHeld()) {
        return;
      }
      sentAway = true;
    }
    report(Report.WITHDRAWN);
  }

  /** Whether its asker has a lease, on which it has not reported. */
  synchronized boolean isHeld() {
    return status == Status.GRANTED && seen();
  }

  /** The gateway stops. */
  void abandon() {
    endLate();
    report(
        isHeld()
            ? new Report(Outcome.FAILED_AFTER_SEND, false, null, null, null)
            : Report.WITHDRAWN);
  }

  // ---- reports

  /**
   * Takes a report. The same one again is fine and changes nothing.
   *
   * @return whether it was taken
   */
  boolean report(Report report) {
    if (report.outcome() == Outcome.IN_PROGRESS) {
      return renew(report);
    }
    if (report.outcome() == Outcome.RATE_LIMITED && report.requeue()) {
      return requeue(report);
    }
    return end(report);
  }

  /**
   * Whether a report is on the lease that is held now. One that names no attempt is, but for a
   * lease behind a requeue that its asker has not been told of.
   */
  private boolean isOfNow(Integer named) {
    return named == null ? requeuedAttempt == 0 || seen() : named == attempt;
  }

  /** The call runs; the lease lives on for another time to live. */
  private synchronized boolean renew(Report report) {
    if (status != Status.GRANTED || !isOfNow(report.attempt())) {
      return false;
    }
    told = true;
    running = true;
    touchedMs = nowMs.getAsLong();
    expiresMs = touchedMs + ttlMs;
    measured(report);
    grant.inProgress(report.usage(), report.signal());
    return true;
  }

  /**
   * The provider said 429: back in line, once for each attempt. There is no line in a gateway that
   * is going to stop, and the call ends.
   */
  private boolean requeue(Report report) {
    CompletableFuture<Grant> next;
    synchronized (this) {
      boolean heard =
          report.attempt() == null
              ? requeuedAttempt > 0 && !seen()
              : report.attempt() == requeuedAttempt;
      if (heard) {
        return true;
      }
      if (draining) {
        return end(report);
      }
      if (status != Status.GRANTED || !isOfNow(report.attempt())) {
        return false;
      }
      requeuedAttempt = attempt;
      measured(report);
      next = grant.requeue(report.signal());
      wait(next);
      touchedMs = nowMs.getAsLong();
    }
    var unused = next.whenComplete(this::decided);
    return true;
  }

  /** The call ended, or is not wanted any more. */
  private boolean end(Report report) {
    CompletableFuture<Grant> asking;
    List<CompletableFuture<Void>> tell;
    synchronized (this) {
      boolean withdrawn = report.outcome() == Outcome.CANCELLED;
      if (!(withdrawn && report.attempt() == null) && !isOfNow(report.attempt())) {
        return false;
      }
      Outcome ending = ending(report);
      if (status == Status.REJECTED) {
        return withdrawn;
      }
      if (status == Status.SETTLED && !late) {
        return outcome == ending && Objects.equals(settledUsage, usage(ending, report));
      }
      if (status != Status.QUEUED) {
        measured(report);
        over(ending, usage(ending, report), report.signal());
        return true;
      }
      if (!withdrawn) {
        return false;
      }
      status = Status.SETTLED;
      outcome = ending;
      touchedMs = nowMs.getAsLong();
      asking = asked;
      tell = List.copyOf(polls);
    }
    if (asking != null) {
      asking.cancel(false);
    }
    tell.forEach(poll -> poll.complete(null));
    return true;
  }

  /**
   * What a report ends it as. Who has told that the call runs, or what it used, has sent it; so it
   * is kept as charged, or as told, and not given back.
   */
  private Outcome ending(Report report) {
    boolean neverSent =
        report.outcome() == Outcome.CANCELLED || report.outcome() == Outcome.NOT_SENT;
    if (!neverSent) {
      return report.outcome();
    }
    if (grant == null) {
      return Outcome.CANCELLED;
    }
    return running || report.tellsOfUse() ? Outcome.FAILED_AFTER_SEND : Outcome.NOT_SENT;
  }

  private static UsageReport usage(Outcome ending, Report report) {
    return ending == Outcome.NOT_SENT || ending == Outcome.CANCELLED ? null : report.usage();
  }

  private void measured(Report report) {
    grant.measured(report.sinceSent(), report.sinceAnswered());
  }

  private void over(Outcome ending, UsageReport usage, ProviderSignal signal) {
    late = false;
    status = Status.SETTLED;
    outcome = ending;
    settledUsage = usage;
    touchedMs = nowMs.getAsLong();
    grant.settle(ending, usage, signal);
  }

  /** A timer keeps no ticket that the desk has let go: it may run for minutes after that. */
  private void later(long delayMs, Consumer<LeaseTicket> what) {
    WeakReference<LeaseTicket> self = new WeakReference<>(this);
    scheduler.schedule(
        () -> {
          LeaseTicket ticket = self.get();
          if (ticket != null) {
            what.accept(ticket);
          }
        },
        Math.max(0, delayMs),
        TimeUnit.MILLISECONDS);
  }
}
