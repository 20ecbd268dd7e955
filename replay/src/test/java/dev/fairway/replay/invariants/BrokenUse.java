package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Told;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What engines would have written that count what is told of calls in another way. */
final class BrokenUse {
  private BrokenUse() {}

  static List<Step> giveBackWhatWasTold(List<Step> steps) {
    return Tamper.each(
        steps,
        LeaseSettled.class,
        e -> {
          Amounts none = e.actual();
          for (Dimension d : Dimension.values()) {
            none = none.has(d) ? none.with(d, 0) : none;
          }
          return settled(e, e.outcome(), none);
        });
  }

  /** An output token counts as one, whatever the quota says. */
  static List<Step> forgetTheBurndown(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      Settlement.Usage usage =
          step.command() instanceof Command.SettleLease c ? c.settlement().usage() : null;
      long output = usage == null || usage.outputTokens() == null ? 0 : usage.outputTokens();
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        boolean burns =
            event instanceof LeaseSettled e
                && e.quotaId().equals("k/b")
                && e.actual().has(Dimension.TOKENS);
        events.add(burns ? withLess((LeaseSettled) event, 2 * output) : event);
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  /** What is read from the cache never counts. */
  static List<Step> forgetCacheReads(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      Settlement.Usage usage =
          step.command() instanceof Command.SettleLease c ? c.settlement().usage() : null;
      long read = usage == null || usage.cacheReadTokens() == null ? 0 : usage.cacheReadTokens();
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        boolean reads =
            event instanceof LeaseSettled e
                && e.quotaId().equals("k/a")
                && e.actual().has(Dimension.INPUT_TOKENS);
        events.add(reads ? withLess((LeaseSettled) event, read) : event);
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  private static LeaseSettled withLess(LeaseSettled e, long tokens) {
    Dimension d = e.actual().has(Dimension.TOKENS) ? Dimension.TOKENS : Dimension.INPUT_TOKENS;
    return settled(e, e.outcome(), e.actual().with(d, e.actual().get(d) - tokens));
  }

  static List<Step> believeNeverSent(List<Step> steps) {
    return Tamper.each(
        steps,
        LeaseSettled.class,
        e ->
            e.outcome() == Outcome.FAILED_AFTER_SEND || e.outcome() == Outcome.CANCELLED
                ? settled(e, Outcome.NOT_SENT, e.actual())
                : e);
  }

  private static LeaseSettled settled(LeaseSettled e, Outcome outcome, Amounts actual) {
    return new LeaseSettled(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.leaseId(),
        outcome,
        actual,
        e.adjusted(),
        e.tagShift(),
        e.late(),
        e.sendDelayMs(),
        e.usedInput(),
        e.usedOutput(),
        e.shift());
  }

  /** Each renewal replaces what was told before it. */
  static List<Step> takeTheLastWord(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      boolean silent =
          step.command() instanceof Command.SettleLease c && c.settlement().usage() == null;
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        events.add(
            silent && event instanceof LeaseRenewed e
                ? new LeaseRenewed(
                    e.quotaId(),
                    e.requestId(),
                    e.agentId(),
                    e.leaseId(),
                    e.adjusted(),
                    Told.NOTHING,
                    e.expiresAtMs(),
                    e.sendDelayMs(),
                    e.shift(),
                    e.tagShift(),
                    e.cost())
                : event);
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  static List<Step> dropKnownIds(List<Step> steps) {
    Set<String> known = new HashSet<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      if (step.command() instanceof Command.RequestLease c) {
        known.add(Invariants.id(c.request().agentId(), c.request().requestId()));
      }
      List<Event> events = new ArrayList<>(step.handled().events());
      events.removeIf(
          event ->
              event instanceof UnleasedCharged e
                  && known.contains(Invariants.id(e.agentId(), e.requestId())));
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  /** The report of a call without a lease that comes again is charged again. */
  static List<Step> chargeTwice(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>();
      for (Event event : step.handled().events()) {
        boolean unleased =
            step.command() instanceof Command.SettleLease c
                && c.settlement().outcome() == Outcome.UNLEASED;
        events.add(
            unleased && event instanceof Event.DuplicateIgnored e
                ? uncharged(e.quotaId(), e.requestId(), e.agentId())
                : event);
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  /** A call without a lease is charged beside the lease that its own request was granted. */
  static List<Step> chargeBesideItsLease(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>(step.handled().events());
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e && e.outcome() == Outcome.UNLEASED) {
          events.add(uncharged(e.quotaId(), e.requestId(), e.agentId()));
        }
      }
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  private static UnleasedCharged uncharged(String quotaId, String requestId, String agentId) {
    return new UnleasedCharged(
        quotaId, requestId, agentId, Amounts.NONE, Map.of(), null, 0, 0, Amounts.NONE, null, false);
  }

  /** Whatever is told is charged: the balances fall by it. */
  static List<Step> chargeAbsurdUse(List<Step> steps) {
    return BrokenBuckets.eachBucket(
        steps, b -> Tamper.bucket(b, b.balance() - 200_000, b.remainder(), b.clipped()));
  }

  static UnleasedCharged charging(UnleasedCharged e, Amounts ceiling) {
    return new UnleasedCharged(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.charged(),
        e.also(),
        e.tenant(),
        e.tagShift(),
        e.tenantTag(),
        ceiling,
        e.sentAtMs(),
        e.refused());
  }
}
