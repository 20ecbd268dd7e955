package dev.fairway.agent.gateway;

import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.UsageReport;
import dev.fairway.schemas.Outcome;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Leases of agents that ask over HTTP. Each has a ticket, an id that nobody can guess: who knows it
 * may ask how it stands, and settle it. Thread-safe; nothing here blocks.
 *
 * <p>Nobody renews a lease for such an agent: one that does not report within the lease's time to
 * live is taken to be gone, and one that does not ask for {@value #UNASKED_MS} ms how its request
 * stands, too. What it reports of a lease within {@value #LATE_MS} ms after that still counts, as
 * the coordinator, which has given the lease up by itself, takes one late settlement. {@value
 * #TICKETS_MAX} tickets are kept, settled ones for {@value #KEPT_MS} ms; beyond, the oldest settled
 * one goes, and if none is settled nobody gets another one.
 */
final class LeaseDesk {
  static final int TICKETS_MAX = 20_000;
  static final long UNASKED_MS = 60_000;
  static final long KEPT_MS = 600_000;

  /** Below the 10 minutes of a quota's late settlement window. */
  static final long LATE_MS = 540_000;

  private static final int ID_BYTES = 18;

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

  /** One request, and what became of it. Guarded by itself. */
  final class Ticket {
    final String id;
    private final String owner;
    private Status status = Status.QUEUED;
    private CompletableFuture<Grant> asked;
    private Grant grant;
    private RefusedException refused;
    private QueueUpdate place;
    private Outcome outcome;
    private UsageReport settledUsage;
    private boolean seen;
    private boolean late;
    private int requeuedAttempt;
    private long touchedMs = nowMs.getAsLong();
    private long ttlMs;
    private long expiresMs;
    private CompletableFuture<Void> changed = new CompletableFuture<>();

    private Ticket(String id, String owner) {
      this.id = id;
      this.owner = owner;
    }

    /** How it stands; the asker has now seen a grant if there is one. */
    synchronized View look() {
      seen |= status == Status.GRANTED;
      return peek();
    }

    /** The same for an asker who is not told of a grant by it. */
    synchronized View peek() {
      touchedMs = nowMs.getAsLong();
      Long leftMs = status == Status.GRANTED ? Math.max(0, expiresMs - touchedMs) : null;
      return new View(id, status, grant, refused, place, outcome, leftMs);
    }

    private synchronized CompletableFuture<Void> changed() {
      return status == Status.QUEUED ? changed : CompletableFuture.completedFuture(null);
    }

    private void follow(CompletableFuture<Grant> asking) {
      synchronized (this) {
        asked = asking;
        status = Status.QUEUED;
        grant = null;
        place = null;
        changed = new CompletableFuture<>();
      }
      var unused = asking.whenComplete(this::decided);
    }

    private void decided(Grant granted, Throwable error) {
      CompletableFuture<Void> tell;
      synchronized (this) {
        if (status != Status.QUEUED) {
          if (granted != null) {
            granted.settle(Outcome.NOT_SENT, null, null);
          }
          return;
        }
        grant = granted;
        seen = false;
        if (granted != null) {
          status = Status.GRANTED;
          ttlMs = granted.remaining().toMillis();
          expiresMs = nowMs.getAsLong() + ttlMs;
          later(ttlMs, this::expire);
        } else {
          status = Status.REJECTED;
          refused =
              error instanceof RefusedException known
                  ? known
                  : new RefusedException(null, null, "No decision: " + error, null);
        }
        tell = changed;
      }
      tell.complete(null);
    }

    private synchronized void queued(QueueUpdate update) {
      place = update;
    }

    /** Nobody has reported in time: sent, if the grant was seen, and nobody knows what it used. */
    private void expire() {
      synchronized (this) {
        long leftMs = expiresMs - nowMs.getAsLong();
        if (status != Status.GRANTED) {
          return;
        }
        if (leftMs > 0) {
          later(leftMs, this::expire);
          return;
        }
        if (!seen) {
          over(Outcome.NOT_SENT, null, null);
          return;
        }
        late = true;
        grant.letExpire();
        status = Status.SETTLED;
        outcome = Outcome.FAILED_AFTER_SEND;
        touchedMs = nowMs.getAsLong();
      }
      later(LATE_MS, this::endLate);
    }

    private synchronized void endLate() {
      if (late) {
        over(Outcome.FAILED_AFTER_SEND, null, null);
      }
    }

    private void watch() {
      synchronized (this) {
        long quietMs = nowMs.getAsLong() - touchedMs;
        if (status != Status.QUEUED) {
          return;
        }
        if (quietMs < UNASKED_MS) {
          later(UNASKED_MS - quietMs, this::watch);
          return;
        }
      }
      cancel();
    }

    /**
     * Whether a report is on the lease that is held now.
     *
     * @param attempt the attempt that it names, or null: then after a requeue a grant that the
     *     asker has not seen is none that it can report on
     */
    private boolean isOfNow(Integer attempt) {
      if (attempt == null || grant == null) {
        return attempt == null && (requeuedAttempt == 0 || seen);
      }
      return attempt == grant.attempt();
    }

    /** Whether a report of a 429 has been heard before: what it is on is back in line since. */
    private boolean isRequeued(Integer attempt) {
      boolean open = status == Status.QUEUED || status == Status.GRANTED;
      return requeuedAttempt > 0
          && (attempt == null ? open && !isOfNow(null) : attempt == requeuedAttempt);
    }

    /** The asker does not want it any more. */
    void cancel() {
      CompletableFuture<Grant> asking;
      synchronized (this) {
        if (status == Status.GRANTED) {
          over(Outcome.NOT_SENT, null, null);
          return;
        }
        if (status != Status.QUEUED) {
          return;
        }
        status = Status.SETTLED;
        outcome = Outcome.CANCELLED;
        asking = asked;
      }
      asking.cancel(false);
      changed.complete(null);
    }

    private void abandon() {
      endLate();
      synchronized (this) {
        if (status == Status.GRANTED && seen) {
          over(Outcome.FAILED_AFTER_SEND, null, null);
          return;
        }
      }
      cancel();
    }

    /** The call runs; the lease lives on for another time to live. */
    synchronized boolean renew(Integer attempt, UsageReport usage, ProviderSignal signal) {
      if (status != Status.GRANTED || !isOfNow(attempt)) {
        return false;
      }
      touchedMs = nowMs.getAsLong();
      expiresMs = touchedMs + ttlMs;
      grant.inProgress(usage, signal);
      return true;
    }

    /** The call ended; the same report again is fine, another one is not. */
    synchronized boolean settle(
        Integer attempt, Outcome reported, UsageReport usage, ProviderSignal signal) {
      if (!isOfNow(attempt)) {
        return false;
      }
      if (status == Status.SETTLED && !late) {
        return outcome == reported && Objects.equals(usage, settledUsage);
      }
      if (status != Status.GRANTED && !late) {
        return false;
      }
      over(reported, usage, signal);
      return true;
    }

    /** The provider said 429: back in line, once for each attempt. */
    boolean requeue(Integer attempt, ProviderSignal signal) {
      CompletableFuture<Grant> again;
      synchronized (this) {
        if (isRequeued(attempt)) {
          return true;
        }
        if (status != Status.GRANTED || !isOfNow(attempt)) {
          return false;
        }
        requeuedAttempt = grant.attempt();
        seen = false;
        again = grant.requeue(signal);
        status = Status.QUEUED;
        touchedMs = nowMs.getAsLong();
      }
      follow(again);
      later(UNASKED_MS, this::watch);
      return true;
    }

    private void over(Outcome reported, UsageReport usage, ProviderSignal signal) {
      late = false;
      status = Status.SETTLED;
      outcome = reported;
      settledUsage = usage;
      touchedMs = nowMs.getAsLong();
      grant.settle(reported, usage, signal);
    }

    private synchronized boolean isOver() {
      return status == Status.SETTLED || status == Status.REJECTED;
    }

    private synchronized boolean isOld() {
      return isOver() && nowMs.getAsLong() - touchedMs > KEPT_MS;
    }
  }

  /**
   * How a ticket stands.
   *
   * @param grant null unless granted or settled
   * @param refused null unless rejected
   * @param place null unless queued and told
   * @param outcome null unless settled
   * @param leftMs until the lease is given up, null unless granted
   */
  record View(
      String id,
      Status status,
      Grant grant,
      RefusedException refused,
      QueueUpdate place,
      Outcome outcome,
      Long leftMs) {}

  private final Admission admission;
  private final Scheduler scheduler;
  private final LongSupplier nowMs;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, Ticket> tickets = new LinkedHashMap<>();

  LeaseDesk(Admission admission, Scheduler scheduler, LongSupplier nowMs) {
    this.admission = admission;
    this.scheduler = scheduler;
    this.nowMs = nowMs;
  }

  /**
   * Asks for a call.
   *
   * @param call without a listener
   * @return null if there are too many
   * @throws IllegalArgumentException if the call cannot be
   */
  Ticket ask(String owner, LeaseCall.Builder call) {
    Ticket ticket = new Ticket(newId(), owner);
    LeaseCall asking = call.onQueued(ticket::queued).build();
    if (!keep(ticket)) {
      return null;
    }
    ticket.follow(admission.ask(asking));
    later(UNASKED_MS, ticket::watch);
    return ticket;
  }

  /** The ticket with this id, if it is this owner's; else null. */
  synchronized Ticket find(String owner, String id) {
    Ticket ticket = tickets.get(id);
    return ticket != null && ticket.owner.equals(owner) ? ticket : null;
  }

  /** Completes when the ticket is decided, or after a time. */
  CompletableFuture<Void> decided(Ticket ticket, Duration atMost) {
    CompletableFuture<Void> either = ticket.changed().copy();
    if (!either.isDone()) {
      Scheduler.Task late = later(atMost.toMillis(), () -> either.complete(null));
      var unused = either.whenComplete((done, error) -> late.cancel());
    }
    return either;
  }

  /** The gateway stops: whatever is open ends, as its holder is taken to be gone. */
  void close() {
    List<Ticket> all;
    synchronized (this) {
      all = List.copyOf(tickets.values());
    }
    for (Ticket ticket : all) {
      ticket.abandon();
    }
  }

  private synchronized boolean keep(Ticket ticket) {
    Iterator<Ticket> oldest = tickets.values().iterator();
    while (oldest.hasNext() && oldest.next().isOld()) {
      oldest.remove();
    }
    if (tickets.size() >= TICKETS_MAX) {
      Iterator<Ticket> any = tickets.values().iterator();
      boolean room = false;
      while (!room && any.hasNext()) {
        if (any.next().isOver()) {
          any.remove();
          room = true;
        }
      }
      if (!room) {
        return false;
      }
    }
    tickets.put(ticket.id, ticket);
    return true;
  }

  private String newId() {
    byte[] bytes = new byte[ID_BYTES];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private Scheduler.Task later(long delayMs, Runnable task) {
    return scheduler.schedule(task, Math.max(0, delayMs), TimeUnit.MILLISECONDS);
  }
}
