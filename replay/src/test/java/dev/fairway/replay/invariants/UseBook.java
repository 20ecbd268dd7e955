package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Told;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Follows what is told of calls: on the way, and of those without a lease; where reports are
 * strict.
 */
final class UseBook {
  private static final long REMEMBERED_MS = 600_000;

  private final List<String> wrong = new ArrayList<>();
  private final Map<String, Told> told = new HashMap<>();
  private final Map<String, Long> unleasedAtMs = new HashMap<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();

  private UseBook() {}

  /** What was told on the way only grows, and the end gives nothing of it back. */
  static List<String> whatIsToldCounts(List<Step> steps) {
    UseBook book = new UseBook();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        book.define(event);
        if (event instanceof LeaseRenewed e && book.strict(e.quotaId())) {
          book.renewed(e);
        } else if (event instanceof LeaseSettled e && book.strict(e.quotaId())) {
          book.settled(step, e);
        }
      }
    }
    return book.wrong;
  }

  /**
   * What a call turned out to be moves its agent's tag: all of its length comes back where it was
   * not made, and where a quota counts but tokens, its length is that of the tokens it used.
   */
  static List<String> tagsFollowUse(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Lease> leases = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.LeaseExpired e) {
          leases.remove(e.leaseId());
        } else if (event instanceof LeaseSettled e && leases.containsKey(e.leaseId())) {
          Lease before = leases.get(e.leaseId());
          Long used = cost(Invariants.snapshot(step, e.quotaId()).definition(), before, e);
          if (used != null
              && e.tagShift() != length(used, before) - length(before.cost(), before)) {
            wrong.add(e + " moves the tag by " + e.tagShift() + ", of a cost of " + before.cost());
          }
        }
      }
      leases.clear();
      for (Row row : step.rows()) {
        if (row instanceof Row.LeaseRow r) {
          leases.put(r.lease().leaseId(), r.lease());
        }
      }
    }
    return wrong;
  }

  /** What a call really cost, where it is easily told; null elsewhere. */
  private static Long cost(QuotaDefinition quota, Lease before, LeaseSettled e) {
    boolean told = before.told().input() != null || before.told().output() != null;
    if (e.outcome() == Outcome.NOT_SENT && !told) {
      return 0L;
    }
    boolean known = e.outcome() == Outcome.SUCCEEDED && e.usedInput() != null;
    boolean tokens = e.quotaId().equals("k/b") && before.charged().has(Dimension.TOKENS);
    return known && e.usedOutput() != null && tokens && quota.also().isEmpty()
        ? (Long) Math.max(1, e.actual().get(Dimension.TOKENS))
        : null;
  }

  private static long length(long cost, Lease lease) {
    return cost * 1_000_000 / lease.weightMilli();
  }

  /** Each call without a lease is charged once, and none takes a bucket deeper than its limit. */
  static List<String> unleasedCallsCountOnce(List<Step> steps) {
    UseBook book = new UseBook();
    for (Step step : steps) {
      step.handled().events().forEach(book::define);
      if (step.command() instanceof Command.SettleLease c
          && c.settlement().outcome() == Outcome.UNLEASED
          && book.strict(c.settlement().quotaId())) {
        book.unleased(step, c.settlement());
      }
    }
    return book.wrong;
  }

  /** Of a call that succeeded counts what was told of it, as its quota says. */
  static List<String> endsCountAsTheQuotaSays(List<Step> steps) {
    UseBook book = new UseBook();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        book.define(event);
        if (event instanceof LeaseSettled e
            && e.outcome() == Outcome.SUCCEEDED
            && book.strict(e.quotaId())
            && step.command() instanceof Command.SettleLease c) {
          book.counted(e, c.settlement().usage());
        }
      }
    }
    return book.wrong;
  }

  private void counted(LeaseSettled e, Settlement.Usage usage) {
    if (usage == null || usage.inputTokens() == null || usage.outputTokens() == null) {
      return;
    }
    QuotaDefinition d = definitions.get(e.quotaId());
    boolean reads = d.cacheReadsCount() != null && d.cacheReadsCount();
    long input =
        usage.inputTokens()
            + (usage.cacheWriteTokens() == null ? 0 : usage.cacheWriteTokens())
            + (reads && usage.cacheReadTokens() != null ? usage.cacheReadTokens() : 0);
    long output = usage.outputTokens() * (d.outputBurndown() == null ? 1 : d.outputBurndown());
    counted(e, Dimension.INPUT_TOKENS, input);
    counted(e, Dimension.OUTPUT_TOKENS, output);
    counted(e, Dimension.TOKENS, input + output);
  }

  private void counted(LeaseSettled e, Dimension d, long expected) {
    // What is limited no more stays as it was charged.
    boolean counts = e.actual().has(d) && definitions.get(e.quotaId()).limits().has(d);
    if (counts && e.actual().get(d) != expected) {
      wrong.add("lease " + e.leaseId() + " used " + e.actual() + ", and not " + expected + " " + d);
    }
  }

  private void define(Event event) {
    if (event instanceof Event.QuotaDefined e) {
      definitions.put(e.quotaId(), e.definition());
    }
  }

  private boolean strict(String quotaId) {
    QuotaDefinition definition = definitions.get(quotaId);
    return definition != null && Definitions.has(definition, Rule.STRICT_REPORTS);
  }

  private void renewed(LeaseRenewed e) {
    Told before = told.put(e.leaseId(), e.told());
    if (before != null
        && ((before.sent() && !e.told().sent())
            || less(e.told().input(), before.input())
            || less(e.told().output(), before.output()))) {
      wrong.add("lease " + e.leaseId() + " told " + before + ", and then " + e.told());
    }
  }

  private static boolean less(Long now, Long before) {
    return before != null && (now == null || now < before);
  }

  private void settled(Step step, LeaseSettled e) {
    Told before = told.remove(e.leaseId());
    if (before == null || !(step.command() instanceof Command.SettleLease c)) {
      return;
    }
    if (before.sent() && e.outcome() == Outcome.NOT_SENT) {
      wrong.add("lease " + e.leaseId() + " ends as never sent, after " + before);
    }
    Settlement.Usage usage = c.settlement().usage();
    boolean untold = usage == null || usage.inputTokens() == null;
    if (untold
        && before.input() != null
        && e.actual().has(Dimension.INPUT_TOKENS)
        && e.actual().get(Dimension.INPUT_TOKENS) != before.input()) {
      wrong.add("lease " + e.leaseId() + " used " + e.actual() + ", after " + before);
    }
  }

  private void unleased(Step step, Settlement settlement) {
    String id = Invariants.id(settlement.agentId(), settlement.requestId());
    Long lastMs = unleasedAtMs.get(id);
    boolean again = lastMs != null && step.atMs() < lastMs + REMEMBERED_MS;
    UnleasedCharged charged = null;
    int counted = 0;
    for (Event event : step.handled().events()) {
      if (event instanceof UnleasedCharged e) {
        charged = e;
        counted++;
      } else if (event instanceof LeaseSettled e
          && Invariants.id(e.agentId(), e.requestId()).equals(id)) {
        counted++; // The lease of its own request: the same call.
      } else if (event instanceof Event.SettlementIgnored) {
        return; // Of a quota that is not known.
      }
    }
    if (counted != (again ? 0 : 1)) {
      wrong.add(id + " without a lease: " + step.handled().events() + ", last at " + lastMs);
    }
    if (counted > 0) {
      unleasedAtMs.put(id, step.atMs());
    }
    if (charged != null) {
      depth(step, charged);
    }
  }

  private void depth(Step step, UnleasedCharged e) {
    for (Row row : step.rows()) {
      if (row instanceof Row.BalanceRow r && r.quotaId().equals(e.quotaId())) {
        r.buckets().forEach(bucket -> depth(bucket, e));
      }
    }
  }

  private void depth(Row.BucketRow bucket, UnleasedCharged e) {
    QuotaDefinition definition = definitions.get(e.quotaId());
    Dimension d = bucket.dimension();
    boolean given = definition.depth() != null && definition.depth().has(d);
    long limit = definition.limits().get(d);
    long most = Math.max(limit, given ? definition.depth().get(d) : 0);
    if (d.refills() && e.charged().get(d) > 0 && bucket.balance() < -most) {
      wrong.add(e.requestId() + " without a lease took " + e.charged() + ", to " + bucket);
    }
  }
}
