package dev.fairway.admission.engine.oracle;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Where the engine's commands and events become the oracle's, and nowhere else. */
final class SeedEdge {
  private final SeedOracle oracle;
  private final Map<String, Event.LeaseGranted> grants = new LinkedHashMap<>();

  SeedEdge(SeedOracle oracle) {
    this.oracle = oracle;
  }

  /** What the oracle answers to a command. */
  List<String> expected(Command command, long atMs, List<Event> events) {
    List<String> order = order(events);
    if (command instanceof Command.RequestLease c) {
      return oracle.request(ask(c.request()), atMs, order);
    }
    if (command instanceof Command.SettleLease c) {
      return settlement(c.settlement(), atMs, order);
    }
    return oracle.tick(atMs, order);
  }

  /** What the engine answered, in the oracle's words. */
  List<String> found(List<Event> events) {
    List<String> lines = new ArrayList<>();
    for (Event event : events) {
      String line = line(event);
      if (line != null) {
        lines.add(line);
      }
      if (event instanceof Event.LeaseGranted e) {
        grants.put(e.leaseId(), e);
      }
    }
    return lines;
  }

  private List<String> settlement(Settlement s, long atMs, List<String> order) {
    Settlement.Usage usage = s.usage();
    if (s.outcome() == Settlement.Outcome.CANCELLED) {
      return oracle.cancel(s.agentId(), s.requestId(), atMs, order);
    }
    if (s.outcome() == Settlement.Outcome.UNLEASED) {
      return oracle.unleased(
          s.agentId(), s.requestId(), usage.inputTokens(), usage.outputTokens(), atMs);
    }
    Event.LeaseGranted grant = grants.get(s.leaseId());
    return oracle.settle(
        grant.agentId(),
        grant.requestId(),
        grant.attempt(),
        s.outcome().name(),
        usage == null ? null : usage.inputTokens(),
        usage == null ? null : usage.outputTokens(),
        s.requeue(),
        signal(s.signal()),
        atMs,
        order);
  }

  private static SeedSignal signal(Signal signal) {
    if (signal == null) {
      return null;
    }
    Map<String, Long> limits = new LinkedHashMap<>();
    Map<String, Long> remaining = new LinkedHashMap<>();
    for (Dimension d : Dimension.values()) {
      Signal.Reading reading = signal.limits().get(d);
      if (reading != null && reading.limit() != null) {
        limits.put(d.wireName(), reading.limit());
      }
      if (reading != null && reading.remaining() != null) {
        remaining.put(d.wireName(), reading.remaining());
      }
    }
    return new SeedSignal(signal.retryAfterMs(), limits, remaining);
  }

  private static SeedCall.Ask ask(LeaseRequest r) {
    return new SeedCall.Ask(
        r.agentId(),
        r.requestId(),
        r.taskId(),
        r.role(),
        r.retryOf(),
        r.repeatFailures(),
        r.unblocks(),
        r.estimate().inputTokens(),
        r.estimate().cachedTokens(),
        r.estimate().cacheExpiresAtMs(),
        r.estimate().maxOutputTokens(),
        r.deadlineMs());
  }

  private static List<String> order(List<Event> events) {
    List<String> names = new ArrayList<>();
    for (Event event : events) {
      if (event instanceof Event.LeaseExpired e) {
        names.add(e.agentId() + "/" + e.requestId());
      } else if (event instanceof Event.LeaseRejected e) {
        names.add(e.agentId() + "/" + e.requestId());
      }
    }
    return names;
  }

  private static String line(Event event) {
    if (event instanceof Event.LeaseGranted e) {
      return "granted " + name(e) + " " + e.charged() + " until " + e.expiresAtMs();
    }
    if (event instanceof Event.LeaseQueued e) {
      return "queued " + name(e) + " #" + e.position() + " in " + e.etaMs();
    }
    if (event instanceof Event.LeaseRejected e) {
      return "rejected " + name(e) + " " + e.reason() + " " + e.retryAtMs();
    }
    if (event instanceof Event.DecisionRepeated e) {
      return "repeated " + name(e.decision()) + " " + state(e.decision());
    }
    if (event instanceof Event.LeaseSettled e) {
      return "settled "
          + e.agentId()
          + "/"
          + e.requestId()
          + " "
          + e.outcome()
          + " "
          + e.adjusted();
    }
    if (event instanceof Event.LeaseRenewed e) {
      return "renewed "
          + e.agentId()
          + "/"
          + e.requestId()
          + " "
          + e.adjusted()
          + " until "
          + e.expiresAtMs();
    }
    return smallLine(event);
  }

  private static String smallLine(Event event) {
    if (event instanceof Event.LeaseExpired e) {
      return "expired " + e.agentId() + "/" + e.requestId();
    }
    if (event instanceof Event.LeaseCancelled e) {
      return "cancelled " + e.agentId() + "/" + e.requestId();
    }
    if (event instanceof Event.RequestIgnored e) {
      return "ignored " + e.agentId() + "/" + e.requestId();
    }
    if (event instanceof Event.UnleasedCharged e) {
      return "unleased " + e.agentId() + "/" + e.requestId() + " " + e.charged();
    }
    if (event instanceof Event.DuplicateIgnored || event instanceof Event.SettlementIgnored) {
      return "nothing";
    }
    if (event instanceof Event.MarginCut e) {
      return margin(e.fromBp(), e.toBp());
    }
    if (event instanceof Event.MarginRestored e) {
      return margin(e.fromBp(), e.toBp());
    }
    if (event instanceof Event.QuotaHeld e) {
      return "held " + e.reason() + " until " + e.untilMs();
    }
    if (event instanceof Event.LimitLearned e) {
      return "learned " + e.dimension().wireName() + " " + e.limitPerMinute();
    }
    if (event instanceof Event.BucketsResynced e) {
      return "resynced "
          + e.dimensions().stream().map(r -> r.dimension().wireName() + " " + r.after()).toList();
    }
    // LeaseEnqueued is the engine's own; when an ETA is told again is no rule of the seed.
    return null;
  }

  private static String margin(int fromBp, int toBp) {
    return "margin " + Rational.of(fromBp, 10_000) + " -> " + Rational.of(toBp, 10_000);
  }

  private static String state(Event.Decision decision) {
    if (decision instanceof Event.LeaseGranted) {
      return "OPEN";
    }
    if (decision instanceof Event.LeaseQueued) {
      return "WAITING";
    }
    switch (((Event.LeaseRejected) decision).reason()) {
      case ALREADY_SETTLED:
        return "SETTLED";
      case LEASE_EXPIRED:
        return "EXPIRED";
      default:
        return "REJECTED";
    }
  }

  private static String name(Event.Decision decision) {
    return decision.agentId() + "/" + decision.requestId();
  }
}
