package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LimitForgotten;
import dev.fairway.admission.engine.Event.LimitLearned;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Limits that answers named, followed by events and commands alone: never above the operator's,
 * forgotten when none has named them for ten minutes, and never the reason why a call is refused
 * for good. SEED keeps them until the operator names another number.
 */
final class LimitBook {
  private static final long FORGET_MS = 600_000;

  /** A limit that is named again is noted at most that often. */
  private static final long NOTED_MS = 60_000;

  private final List<String> wrong = new ArrayList<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();
  private final Map<String, LeaseRequest> requests = new HashMap<>();

  /** Calls that are out when their quota is removed still end; nobody is decided by it any more. */
  private final Set<String> removed = new HashSet<>();

  /** By quota and dimension. */
  private final Map<String, Long> learned = new HashMap<>();

  private final Map<String, Long> namedAtMs = new HashMap<>();

  /** What was learned is never above the operator's limit, and ends with the answers. */
  static List<String> learnedLimitsEnd(List<Step> steps) {
    LimitBook book = new LimitBook();
    for (Step step : steps) {
      book.read(step);
      book.checkTimes(step);
    }
    return book.wrong;
  }

  /** Who is refused because of a learned limit is told when to come back, nobody else is. */
  static List<String> nobodyIsRefusedForGood(List<Step> steps) {
    LimitBook book = new LimitBook();
    for (Step step : steps) {
      if (step.command() instanceof Command.RequestLease c) {
        LeaseRequest r = c.request();
        book.requests.put(Invariants.id(r.agentId(), r.requestId()), r);
      }
      for (Event event : step.handled().events()) {
        // Whoever waits and is larger than a new limit is refused in the same step.
        if (event instanceof Event.QuotaDefined e) {
          book.definitions.put(e.quotaId(), e.definition());
        } else if (event instanceof LimitLearned e && book.forgets(e.quotaId())) {
          book.learned.put(e.quotaId() + e.dimension(), e.limitPerMinute());
        } else if (event instanceof LeaseRejected e && e.reason() == RejectReason.NEVER_FITS) {
          book.checkRefusal(e, step.atMs());
        }
      }
      book.read(step);
    }
    return book.wrong;
  }

  private void read(Step step) {
    boolean counts = true;
    for (Event event : step.handled().events()) {
      counts &=
          !(event instanceof Event.DuplicateIgnored) && !(event instanceof Event.SettlementIgnored);
      if (event instanceof Event.QuotaDefined e) {
        definitions.put(e.quotaId(), e.definition());
        removed.remove(e.quotaId());
        forget(e.quotaId());
      } else if (event instanceof Event.QuotaRemoved e) {
        removed.add(e.quotaId());
        forget(e.quotaId());
      } else if (event instanceof LimitForgotten e) {
        String name = e.quotaId() + e.dimension();
        Long named = namedAtMs.get(name);
        if (learned.remove(name) == null || step.atMs() - named < FORGET_MS - NOTED_MS) {
          wrong.add(e + " at " + step.atMs() + ", though it was named at " + named);
        }
      }
    }
    if (counts && step.command() instanceof Command.SettleLease c) {
      named(c.settlement(), step.atMs());
    }
    for (Event event : step.handled().events()) {
      if (event instanceof LimitLearned e && forgets(e.quotaId())) {
        long most = definitions.get(e.quotaId()).limits().get(e.dimension());
        if (e.limitPerMinute() > most || e.limitPerMinute() < 1) {
          wrong.add(e + " of an operator's limit of " + most);
        }
        learned.put(e.quotaId() + e.dimension(), e.limitPerMinute());
        if (e.limitPerMinute() >= most) {
          learned.remove(e.quotaId() + e.dimension());
        }
      }
    }
  }

  private void forget(String quotaId) {
    learned.keySet().removeIf(name -> name.startsWith(quotaId));
  }

  private boolean forgets(String quotaId) {
    return !removed.contains(quotaId)
        && Definitions.has(definitions.get(quotaId), Rule.LIMIT_EXPIRY);
  }

  private void named(Settlement settlement, long atMs) {
    Signal signal = settlement.signal();
    if (signal != null && isReadable(signal)) {
      signal
          .limits()
          .forEach(
              (d, reading) -> {
                if (reading.limit() != null) {
                  namedAtMs.put(settlement.quotaId() + d, atMs);
                }
              });
    }
  }

  /** Headers cannot be older than their call. */
  private static boolean isReadable(Signal signal) {
    return signal.ageMs() == null
        || signal.msSinceSend() == null
        || signal.ageMs() <= signal.msSinceSend();
  }

  private void checkTimes(Step step) {
    learned.forEach(
        (name, limit) -> {
          Long named = namedAtMs.get(name);
          // A command of the same millisecond may come before the tick that forgets.
          if (named == null || step.atMs() - named > FORGET_MS) {
            wrong.add(name + " is held at " + limit + " at " + step.atMs() + ", named at " + named);
          }
        });
  }

  private void checkRefusal(LeaseRejected e, long atMs) {
    QuotaDefinition own = definitions.get(e.quotaId());
    LeaseRequest request = requests.get(Invariants.id(e.agentId(), e.requestId()));
    boolean beyond = !Definitions.has(own, Rule.LIMIT_EXPIRY) || isBeyond(own, request);
    boolean held = isLearned(own.id());
    for (String other : own.also()) {
      beyond |= isBeyond(definitions.get(other), request);
      held |= isLearned(other);
    }
    if (e.retryAtMs() == null && !beyond) {
      wrong.add(e + " for good, of " + own.limits() + ", of which " + learned + " are learned");
    }
    if (e.retryAtMs() != null
        && (!held || e.retryAtMs() <= atMs || e.retryAtMs() > atMs + FORGET_MS)) {
      wrong.add(e + " at " + atMs + ", of which " + learned + " are learned");
    }
  }

  private boolean isLearned(String quotaId) {
    return learned.keySet().stream().anyMatch(name -> name.startsWith(quotaId));
  }

  /** Whether what the agent itself asks for exceeds what the operator's limits can hold. */
  private static boolean isBeyond(QuotaDefinition definition, LeaseRequest request) {
    Amounts limits = definition.limits();
    Long claimed = request.estimate().inputTokens();
    long input = (claimed == null ? 0 : claimed) + request.estimate().cachedTokens();
    for (Dimension d : List.of(Dimension.INPUT_TOKENS, Dimension.TOKENS)) {
      if (limits.has(d) && input > limits.get(d)) {
        return true;
      }
    }
    return false;
  }
}
