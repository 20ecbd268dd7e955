package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What tenants with a ceiling, and classes with a reserve, take within any window of runs with
 * exact estimates.
 */
final class PartInvariants {
  private PartInvariants() {}

  /** A tenant takes at most its share of the bucket and of the refill. */
  static List<String> ceilingsFitEveryWindow(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (QuotaSnapshot quota : last(steps).snapshots()) {
      quota
          .definition()
          .tenants()
          .forEach(
              (name, tenant) -> {
                if (tenant.ceiling() != null) {
                  List<LeaseGranted> grants =
                      grants(steps, quota, e -> e.order().tenant().equals(name));
                  checkWindows(
                      steps, quota, grants, LeaseGranted::charged, tenant.ceiling(), name, wrong);
                }
              });
    }
    return wrong;
  }

  /**
   * A reserve pays for calls of its class alone, for first attempts, and in any window no more than
   * its share.
   */
  static List<String> reservesFitEveryWindow(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (QuotaSnapshot quota : last(steps).snapshots()) {
      for (LeaseGranted e : grants(steps, quota, e -> true)) {
        String leaseClass = e.order().leaseClass();
        boolean may =
            quota.definition().classes().getOrDefault(leaseClass, 0.0) > 0 && e.attempt() == 1;
        boolean paid = !e.taken().reserve().isZero() || e.order().lane() == Lane.RESERVE;
        if (paid && !may) {
          wrong.add(e + " is paid for by a reserve that is not its own");
        }
      }
      quota
          .definition()
          .classes()
          .forEach(
              (name, share) -> {
                List<LeaseGranted> grants =
                    grants(steps, quota, e -> e.order().leaseClass().equals(name));
                checkWindows(steps, quota, grants, e -> e.taken().reserve(), share, name, wrong);
              });
    }
    return wrong;
  }

  /**
   * Who goes out of turn by its class's reserve finds all that it takes in it: afterwards the
   * reserve owes nothing of what it paid.
   */
  static List<String> reservesPayWhatTheyHave(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (Step step : steps) {
      Map<String, LeaseGranted> paid = new HashMap<>();
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseGranted e && e.order().lane() == Lane.RESERVE) {
          paid.put(e.quotaId() + " " + e.order().leaseClass(), e);
        } else if (!(event instanceof LeaseGranted) && mayOwe(event)) {
          paid.values().removeIf(e -> e.quotaId().equals(event.quotaId()));
        }
      }
      for (Row row : step.rows()) {
        if (row instanceof Row.ReserveRow r) {
          LeaseGranted e = paid.get(r.quotaId() + " " + r.leaseClass());
          for (Row.BucketRow bucket : r.buckets()) {
            boolean took = e != null && e.taken().reserve().get(bucket.dimension()) > 0;
            if (took && bucket.balance() < 0) {
              wrong.add(e + " was paid for by a reserve that now owes " + bucket);
            }
          }
        }
      }
    }
    return wrong;
  }

  /** Whether a reserve may owe something by it, whoever was granted before. */
  private static boolean mayOwe(Event event) {
    return event instanceof Event.LeaseSettled
        || event instanceof Event.LeaseRenewed
        || event instanceof Event.LeaseExpired
        || event instanceof Event.QuotaDefined
        || event instanceof Event.UnleasedCharged;
  }

  private static void checkWindows(
      List<Step> steps,
      QuotaSnapshot quota,
      List<LeaseGranted> grants,
      Function<LeaseGranted, Amounts> taken,
      double share,
      String name,
      List<String> wrong) {
    for (Dimension d : Dimension.values()) {
      if (!d.refills() || !quota.definition().limits().has(d)) {
        continue;
      }
      String id = quota.definition().id();
      boolean scaled = Invariants.mode(last(steps), id, d) == MarginModeName.RATE;
      double margin = scaled ? quota.marginBp() / 10_000.0 : 1;
      double perMs = share * margin * quota.definition().limits().get(d) / 60_000.0;
      double cap = Math.max(1, share * quota.caps().get(d));
      for (int from = 0; from < grants.size(); from++) {
        double sum = 0;
        double largest = 0;
        for (LeaseGranted e : grants.subList(from, grants.size())) {
          sum += taken.apply(e).get(d);
          largest = Math.max(largest, taken.apply(e).get(d));
          long windowMs = e.grantedAtMs() - grants.get(from).grantedAtMs();
          if (sum > cap + perMs * windowMs + Math.max(0, largest - cap) + 1) {
            wrong.add(id + ": " + name + " took " + sum + " " + d + " in " + windowMs + " ms");
          }
        }
      }
    }
  }

  private static List<LeaseGranted> grants(
      List<Step> steps, QuotaSnapshot quota, Predicate<LeaseGranted> counts) {
    List<LeaseGranted> granted = new ArrayList<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseGranted e
            && e.quotaId().equals(quota.definition().id())
            && counts.test(e)) {
          granted.add(e);
        }
      }
    }
    return granted;
  }

  private static Step last(List<Step> steps) {
    return steps.get(steps.size() - 1);
  }
}
