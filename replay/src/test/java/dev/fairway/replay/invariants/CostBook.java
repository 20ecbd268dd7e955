package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Waiter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What requests cost in the order of quotas that share one. */
final class CostBook {
  private static final long MINUTE = 100_000_000;

  private CostBook() {}

  /** Quotas that take from others, or that others take from. */
  static Set<String> sharing(List<QuotaSnapshot> quotas) {
    Set<String> sharing = new HashSet<>();
    for (QuotaSnapshot quota : quotas) {
      if (!quota.definition().also().isEmpty()) {
        sharing.add(quota.definition().id());
        sharing.addAll(quota.definition().also());
      }
    }
    return sharing;
  }

  /** Each costs the largest part of a minute that it takes of any limit, in the same unit. */
  static List<String> sharedCostsCountEveryLimit(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (Step step : steps) {
      Map<String, QuotaDefinition> definitions = new HashMap<>();
      step.snapshots().forEach(q -> definitions.put(q.definition().id(), q.definition()));
      Set<String> sharing = sharing(step.snapshots());
      for (Event event : step.handled().events()) {
        // What comes back after a 429 keeps what was known of it.
        if (event instanceof Event.LeaseEnqueued e
            && step.command() instanceof Command.RequestLease
            && sharing.contains(e.quotaId())) {
          long expected = cost(definitions, e.quotaId(), e.waiter());
          if (e.waiter().cost() != expected) {
            wrong.add(e.quotaId() + ": costs " + e.waiter().cost() + ", not " + expected);
          }
        }
      }
    }
    return wrong;
  }

  /** What a waiting request costs in a shared order. */
  static long cost(Map<String, QuotaDefinition> definitions, String quotaId, Waiter waiter) {
    QuotaDefinition own = definitions.get(quotaId);
    long cost = Math.max(1, largest(own, waiter.estimate()));
    for (String other : own.also()) {
      cost = Math.max(cost, largest(definitions.get(other), waiter.demand()));
    }
    return cost;
  }

  /** The largest part of a minute that amounts are of any limit of a quota. */
  static long largest(QuotaDefinition quota, Amounts amounts) {
    long largest = 0;
    for (Dimension d : Dimension.values()) {
      if (d.refills() && quota.limits().has(d)) {
        BigInteger share =
            BigInteger.valueOf(amounts.get(d))
                .multiply(BigInteger.valueOf(MINUTE))
                .divide(BigInteger.valueOf(quota.limits().get(d)));
        largest = Math.max(largest, share.longValueExact());
      }
    }
    return largest;
  }

  /** What an engine would have written that counts its own limits alone. */
  static List<Step> ofItsOwnLimits(List<Step> steps) {
    Map<String, QuotaDefinition> definitions = new HashMap<>();
    steps.forEach(
        step ->
            step.snapshots().forEach(q -> definitions.put(q.definition().id(), q.definition())));
    return Tamper.each(
        steps,
        Event.LeaseEnqueued.class,
        e -> {
          Waiter w = e.waiter();
          long cost = Math.max(1, largest(definitions.get(e.quotaId()), w.estimate()));
          return new Event.LeaseEnqueued(Tamper.costing(w, cost), e.retries());
        });
  }
}
