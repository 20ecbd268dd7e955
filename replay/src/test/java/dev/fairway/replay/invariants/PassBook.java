package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Waiter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What passes a head that waits. In the dimension that it waits for, small requests together take
 * at most half of what the head takes, and others together a tenth. Which one that is follows from
 * what is left where a balance tells it; elsewhere it may be any.
 */
final class PassBook {
  private final List<String> wrong;
  private final Map<String, Waiter> waiting = new HashMap<>();
  private final Map<String, Amounts> passed = new HashMap<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();

  PassBook(List<String> wrong) {
    this.wrong = wrong;
  }

  void read(Step step) {
    for (Event event : step.handled().events()) {
      if (event instanceof Event.QuotaDefined e) {
        definitions.put(e.quotaId(), e.definition());
      } else if (event instanceof Event.LeaseEnqueued e) {
        waiting.put(
            Invariants.id(e.waiter().request().agentId(), e.waiter().request().requestId()),
            e.waiter());
      } else if (event instanceof Event.LeaseGranted e && e.order().passedRequestId() != null) {
        pass(step, e);
      }
    }
  }

  private void pass(Step step, Event.LeaseGranted e) {
    String head = Invariants.id(e.order().passedAgentId(), e.order().passedRequestId());
    Waiter waiter = waiting.get(head);
    boolean small = e.order().lane() == Lane.BACKFILL_SMALL;
    Amounts taken = e.charged();
    for (Amounts also : e.taken().also().values()) {
      taken = taken.max(also);
    }
    Amounts sum =
        passed.merge(head + "/" + waiter.attempt() + e.order().lane(), taken, Amounts::plus);
    for (Dimension d : Dimension.values()) {
      // The cached prefix may have got cold since, and is the head's demand then too.
      long needs = waiter.demand().get(d) + waiter.request().estimate().cachedTokens();
      long most = small ? needs / 2 : needs / 10;
      boolean smallEnough = !small || taken.get(d) <= deepest(d) / 32;
      boolean counts = d.refills() && waiter.demand().has(d) && sum.has(d);
      counts = counts && mayWaitFor(step, e.quotaId(), d, needs);
      if (counts && smallEnough && sum.get(d) <= most) {
        return;
      }
    }
    wrong.add(
        sum + " passed " + head + ", which takes " + waiter.demand() + ", as " + e.order().lane());
  }

  /**
   * Whether a head may wait for that dimension. Not where a token bucket, from which nobody keeps
   * anything, still has all that it needs after the step: it had no less before the grants.
   */
  private static boolean mayWaitFor(Step step, String quotaId, Dimension d, long needs) {
    QuotaSnapshot quota = Invariants.snapshot(step, quotaId);
    QuotaDefinition definition = quota.definition();
    boolean told =
        definition.window() == Window.TOKEN_BUCKET
            && definition.also().isEmpty()
            && definition.classes().isEmpty()
            && Invariants.mode(step, quotaId, d) != MarginModeName.ADAPTIVE;
    return !told || quota.levels().get(d) < needs;
  }

  /** The deepest bucket of any quota of the key: who passes may take from several. */
  private long deepest(Dimension d) {
    long deepest = 0;
    for (QuotaDefinition definition : definitions.values()) {
      Amounts depth = definition.depth();
      if (definition.limits().has(d)) {
        deepest =
            Math.max(
                deepest, depth != null && depth.has(d) ? depth.get(d) : definition.limits().get(d));
      }
    }
    return deepest;
  }
}
