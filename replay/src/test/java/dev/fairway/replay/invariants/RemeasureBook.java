package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Cost;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Told;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A definition changes what calls cost: who waits is in line as if it had come at what it costs
 * now, and who is out costs now what its tag has of it.
 */
final class RemeasureBook {
  private static final Dimension[] REFERENCES = {
    Dimension.INPUT_TOKENS, Dimension.TOKENS, Dimension.OUTPUT_TOKENS, Dimension.REQUESTS
  };

  private final List<String> wrong = new ArrayList<>();
  private final Step before;
  private final Step after;
  private final Map<String, QuotaDefinition> definitionsBefore;
  private final Map<String, QuotaDefinition> definitions;

  private RemeasureBook(Step before, Step after) {
    this.before = before;
    this.after = after;
    this.definitionsBefore = definitions(before);
    this.definitions = definitions(after);
  }

  static List<String> definitionsMeasureAnew(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (int i = 1; i < steps.size(); i++) {
      RemeasureBook book = new RemeasureBook(steps.get(i - 1), steps.get(i));
      for (Event event : steps.get(i).handled().events()) {
        if (event instanceof Event.QuotaDefined e) {
          book.defined(e.quotaId());
        }
      }
      wrong.addAll(book.wrong);
    }
    return wrong;
  }

  private static Map<String, QuotaDefinition> definitions(Step step) {
    Map<String, QuotaDefinition> definitions = new HashMap<>();
    for (QuotaSnapshot quota : step.snapshots()) {
      definitions.put(quota.definition().id(), quota.definition());
    }
    return definitions;
  }

  private void defined(String quotaId) {
    Set<String> sharedBefore = CostBook.sharing(before.snapshots());
    Set<String> shared = CostBook.sharing(after.snapshots());
    for (QuotaDefinition quota : definitions.values()) {
      boolean measured = quota.id().equals(quotaId) || quota.also().contains(quotaId);
      boolean known =
          definitionsBefore.containsKey(quota.id())
              && definitions.keySet().containsAll(quota.also())
              && definitionsBefore.keySet().containsAll(quota.also());
      boolean alike = sharedBefore.contains(quota.id()) == shared.contains(quota.id());
      // Where calls cost something else on their own, all begin anew.
      boolean sameUnit =
          known
              && (shared.contains(quota.id())
                  || Definitions.cost(definitionsBefore.get(quota.id()))
                      == Definitions.cost(quota));
      if (measured && sameUnit && alike) {
        lines(quota, shared.contains(quota.id()));
        leases(quota, shared.contains(quota.id()));
      }
    }
  }

  // ---- who waits

  private void lines(QuotaDefinition quota, boolean shared) {
    Map<String, Waiter> now = new HashMap<>();
    waiters(after, quota.id()).forEach(w -> now.put(id(w), w));
    if (shared) {
      now.values().forEach(w -> cost(quota, w));
    }
    Map<String, List<Waiter>> lines = new HashMap<>();
    for (Waiter w : waiters(before, quota.id())) {
      String line = w.standing().tenant() + " " + w.request().agentId();
      lines.computeIfAbsent(line, name -> new ArrayList<>()).add(w);
    }
    lines.values().forEach(line -> line(line, now));
  }

  private void cost(QuotaDefinition quota, Waiter waiter) {
    long expected = CostBook.cost(definitions, quota.id(), waiter);
    if (waiter.cost() != expected) {
      wrong.add(id(waiter) + " costs " + waiter.cost() + " since, not " + expected);
    }
  }

  /**
   * One that somebody left in the same step, or that went to another tenant, tells nothing. Who
   * came back to a place from before the first one's follows nobody.
   */
  private void line(List<Waiter> line, Map<String, Waiter> now) {
    line.sort(Comparator.comparingLong(Waiter::finishTag).thenComparingLong(Waiter::arrival));
    Waiter last = null;
    Waiter lastNow = null;
    long earliest = 0;
    for (Waiter w : line) {
      Waiter again = now.get(id(w));
      if (again == null || !again.standing().tenant().equals(w.standing().tenant())) {
        return;
      }
      long expected = w.startTag();
      if (last == null || expected < line.get(0).startTag()) {
        boolean shorter = length(again) < length(w);
        if (again.startTag() < expected || (again.startTag() > expected && !shorter)) {
          wrong.add(id(w) + " was from " + expected + ", and is from " + again.startTag());
        }
        if (again.finishTag() > w.finishTag() && shorter) {
          wrong.add(id(w) + " ends at " + again.finishTag() + ", after " + w.finishTag());
        }
        earliest = last == null ? again.startTag() : earliest;
      } else {
        expected = Math.max(earliest, expected + lastNow.finishTag() - last.finishTag());
        if (again.startTag() != expected) {
          wrong.add(id(w) + " starts at " + again.startTag() + ", not at " + expected);
        }
      }
      last = w;
      lastNow = again;
    }
  }

  private static long length(Waiter waiter) {
    return waiter.finishTag() - waiter.startTag();
  }

  private static String id(Waiter waiter) {
    return Invariants.id(waiter.request().agentId(), waiter.request().requestId());
  }

  /** As they stand: rows have the tags of when they came in line, and flows how far they moved. */
  private static List<Waiter> waiters(Step step, String quotaId) {
    Map<String, Long> shifts = new HashMap<>();
    List<Waiter> waiters = new ArrayList<>();
    for (Row row : step.rows()) {
      if (row instanceof Row.FlowRow r && r.quotaId().equals(quotaId)) {
        shifts.put(r.tenant() + " " + r.agentId(), r.shift());
      }
    }
    for (Row row : step.rows()) {
      if (row instanceof Row.WaiterRow r && r.waiter().request().quotaId().equals(quotaId)) {
        Waiter w = r.waiter();
        String flow = w.standing().tenant() + " " + w.request().agentId();
        long by = shifts.getOrDefault(flow, 0L) - w.flowShift();
        waiters.add(Tamper.placed(w, w.startTag() + by));
      }
    }
    return waiters;
  }

  // ---- who is out

  private void leases(QuotaDefinition quota, boolean shared) {
    Map<String, Lease> now = new HashMap<>();
    leases(after, quota.id()).forEach(lease -> now.put(lease.leaseId(), lease));
    for (Lease lease : leases(before, quota.id())) {
      Lease again = now.get(lease.leaseId());
      QuotaDefinition old = definitionsBefore.get(quota.id());
      boolean asEstimated = lease.cost() == cost(definitionsBefore, old, shared, lease);
      if (again == null || !asEstimated || !lease.told().equals(Told.NOTHING)) {
        continue;
      }
      long expected = cost(definitions, quota, shared, lease);
      if (again.cost() != expected) {
        wrong.add(lease.leaseId() + " costs " + again.cost() + " since, not " + expected);
      }
    }
  }

  private static List<Lease> leases(Step step, String quotaId) {
    List<Lease> leases = new ArrayList<>();
    for (Row row : step.rows()) {
      if (row instanceof Row.LeaseRow r
          && r.lease().request().quotaId().equals(quotaId)
          && r.lease().status() == Lease.Status.OPEN) {
        leases.add(r.lease());
      }
    }
    return leases;
  }

  private static long cost(
      Map<String, QuotaDefinition> definitions,
      QuotaDefinition quota,
      boolean shared,
      Lease lease) {
    LeaseRequest.Estimate estimate = lease.request().estimate();
    boolean counts = lease.coldCache() || Boolean.TRUE.equals(quota.cacheReadsCount());
    long input = lease.forecast().inputTokens() + (counts ? estimate.cachedTokens() : 0);
    long output = lease.forecast().outputTokens();
    Amounts all =
        Amounts.of(Dimension.INPUT_TOKENS, input)
            .with(Dimension.OUTPUT_TOKENS, output)
            .with(Dimension.TOKENS, input + output)
            .with(Dimension.REQUESTS, 1);
    if (shared) {
      long cost = CostBook.largest(quota, all);
      for (String other : quota.also()) {
        cost = Math.max(cost, CostBook.largest(definitions.get(other), all));
      }
      return Math.max(1, cost);
    }
    if (Definitions.cost(quota) == Cost.ESTIMATED_TOKENS) {
      return Math.max(1, input + output);
    }
    long reference = 1;
    for (int i = REFERENCES.length - 1; i >= 0; i--) {
      reference = quota.limits().has(REFERENCES[i]) ? quota.limits().get(REFERENCES[i]) : reference;
    }
    long cost = 1;
    for (Dimension d : REFERENCES) {
      if (quota.limits().has(d)) {
        cost = Math.max(cost, all.get(d) * reference / quota.limits().get(d));
      }
    }
    return cost;
  }
}
