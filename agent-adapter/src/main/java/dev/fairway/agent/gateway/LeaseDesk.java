package dev.fairway.agent.gateway;

import dev.fairway.agent.LeaseCall;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Leases of agents that ask over HTTP. Each has a ticket, an id that nobody can guess: who knows it
 * may ask how it stands, and settle it. Thread-safe; nothing here blocks.
 *
 * <p>Nobody renews a lease for such an agent: one that does not report within the lease's time to
 * live is taken to be gone, and one that for {@value #UNASKED_MS} ms does not ask how its request
 * stands, nor waits for the answer, too. What it reports of a lease within {@value #LATE_MS} ms
 * after that still counts, as the coordinator, which has given the lease up by itself, takes one
 * late settlement. {@value #TICKETS_MAX} tickets are kept, settled ones for {@value #KEPT_MS} ms;
 * beyond, the oldest settled one goes, and if none is settled nobody gets another one.
 */
final class LeaseDesk {
  static final int TICKETS_MAX = 20_000;
  static final long UNASKED_MS = 60_000;
  static final long KEPT_MS = 600_000;

  /** Below the 10 minutes of a quota's late settlement window. */
  static final long LATE_MS = 540_000;

  private static final int ID_BYTES = 18;

  private record Key(String owner, String key) {}

  private final Admission admission;
  private final Scheduler scheduler;
  private final LongSupplier nowMs;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, LeaseTicket> tickets = new LinkedHashMap<>();
  private final Map<Key, LeaseTicket> keys = new HashMap<>();
  private boolean draining;

  LeaseDesk(Admission admission, Scheduler scheduler, LongSupplier nowMs) {
    this.admission = admission;
    this.scheduler = scheduler;
    this.nowMs = nowMs;
  }

  /**
   * Asks for a call; who asks again with the same key has the ticket that there is.
   *
   * @param again null: it is a request of its own in any case
   * @param call without a listener
   * @return null if there are too many, or the gateway is going to stop
   * @throws IllegalArgumentException if the call cannot be
   */
  LeaseTicket ask(String owner, LeaseTicket.Again again, LeaseCall.Builder call) {
    LeaseTicket ticket = new LeaseTicket(newId(), owner, again, nowMs, scheduler);
    LeaseCall asking = call.onQueued(ticket::queued).build();
    LeaseTicket kept = keep(ticket);
    if (kept == ticket) {
      ticket.follow(admission.ask(asking));
    }
    return kept;
  }

  /** The ticket with this id, if it is this owner's; else null. */
  synchronized LeaseTicket find(String owner, String id) {
    LeaseTicket ticket = tickets.get(id);
    return ticket != null && ticket.owner.equals(owner) ? ticket : null;
  }

  /**
   * The gateway is going to stop: no other ticket is given, and who has no lease is sent away. The
   * leases that are held go on.
   */
  void drain() {
    List<LeaseTicket> all;
    synchronized (this) {
      draining = true;
      all = List.copyOf(tickets.values());
    }
    all.forEach(LeaseTicket::drain);
  }

  synchronized boolean isDraining() {
    return draining;
  }

  /** Whether any agent has a lease on which it has not reported. */
  synchronized boolean isAnyHeld() {
    return tickets.values().stream().anyMatch(LeaseTicket::isHeld);
  }

  /** The gateway stops: whatever is open ends, as its holder is taken to be gone. */
  void close() {
    List<LeaseTicket> all;
    synchronized (this) {
      all = List.copyOf(tickets.values());
    }
    for (LeaseTicket ticket : all) {
      ticket.abandon();
    }
  }

  private synchronized LeaseTicket keep(LeaseTicket ticket) {
    Key key = keyOf(ticket);
    LeaseTicket known = key == null ? null : keys.get(key);
    if (known != null && known.isOfUse()) {
      return known;
    }
    if (draining) {
      return null;
    }
    while (!tickets.isEmpty() && tickets.values().iterator().next().isOld()) {
      forget(tickets.values().iterator().next());
    }
    if (tickets.size() >= TICKETS_MAX) {
      LeaseTicket over = null;
      Iterator<LeaseTicket> any = tickets.values().iterator();
      while (over == null && any.hasNext()) {
        LeaseTicket next = any.next();
        over = next.isOver() ? next : null;
      }
      if (over == null) {
        return null;
      }
      forget(over);
    }
    tickets.put(ticket.id, ticket);
    if (key != null) {
      keys.put(key, ticket);
    }
    return ticket;
  }

  private void forget(LeaseTicket ticket) {
    tickets.remove(ticket.id);
    ticket.endLate();
    Key key = keyOf(ticket);
    if (key != null) {
      keys.remove(key, ticket);
    }
  }

  private static Key keyOf(LeaseTicket ticket) {
    return ticket.again == null ? null : new Key(ticket.owner, ticket.again.key());
  }

  private String newId() {
    byte[] bytes = new byte[ID_BYTES];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
