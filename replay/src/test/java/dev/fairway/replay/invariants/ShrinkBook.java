package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What a margin that shrinks does to a bucket that it scales: the time until the bucket is full,
 * when the largest call goes, gets no shorter. What a step refunds and refills aside.
 */
final class ShrinkBook {
  private static final double ONE_BP = 10_000;

  private final List<String> wrong = new ArrayList<>();

  static List<String> shrinkingLetsNobodyGoSooner(List<Step> steps) {
    ShrinkBook book = new ShrinkBook();
    Step before = null;
    for (Step step : steps) {
      for (QuotaSnapshot quota : before == null ? List.<QuotaSnapshot>of() : step.snapshots()) {
        String id = quota.definition().id();
        Row.BalanceRow now = balances(step, id);
        Row.BalanceRow then = balances(before, id);
        if (then != null && now.marginBp() < then.marginBp()) {
          book.check(before, step, then, now);
        }
      }
      before = step;
    }
    return book.wrong;
  }

  private void check(Step before, Step step, Row.BalanceRow then, Row.BalanceRow now) {
    QuotaSnapshot after = Invariants.snapshot(step, now.quotaId());
    QuotaSnapshot first = Invariants.snapshot(before, now.quotaId());
    QuotaDefinition definition = after.definition();
    boolean resynced =
        step.handled().events().stream()
            .anyMatch(
                e -> e instanceof Event.BucketsResynced r && r.quotaId().equals(now.quotaId()));
    if (!Definitions.has(definition, Rule.KEEP_USE)
        || definition.window() == Window.FIXED
        || resynced
        || !sameButMargin(definition, first.definition())) {
      return;
    }
    Map<Dimension, Row.BucketRow> old = new HashMap<>();
    then.buckets().forEach(b -> old.put(b.dimension(), b));
    for (Row.BucketRow b : now.buckets()) {
      Row.BucketRow was = old.get(b.dimension());
      if (b.mode() == MarginModeName.RATE
          && was.mode() == MarginModeName.RATE
          && Objects.equals(b.learnedLimit(), was.learnedLimit())) {
        Dimension d = b.dimension();
        double refilled =
            definition.limits().get(d) * (now.refilledAtMs() - then.refilledAtMs()) / 60_000.0;
        double missed = first.caps().get(d) - was.balance();
        double missing = after.caps().get(d) - b.balance() + refunds(step, now.quotaId(), d);
        double soonest = (missed - 2) * ONE_BP / then.marginBp() - refilled;
        if (missing * ONE_BP / now.marginBp() < soonest - 2) {
          wrong.add(
              now.quotaId()
                  + ": full in "
                  + missing
                  + " "
                  + d
                  + " at margin "
                  + now.marginBp()
                  + ", before in "
                  + missed
                  + " at "
                  + then.marginBp());
        }
      }
    }
  }

  private static boolean sameButMargin(QuotaDefinition one, QuotaDefinition other) {
    return one.window() == other.window()
        && one.limits().equals(other.limits())
        && Objects.equals(one.depth(), other.depth())
        && Objects.equals(one.level(), other.level());
  }

  private static long refunds(Step step, String quotaId, Dimension d) {
    long sum = 0;
    for (Event event : step.handled().events()) {
      if (event instanceof Event.LeaseSettled e) {
        sum += e.quotaId().equals(quotaId) ? Math.max(0, e.adjusted().get(d)) : 0;
        sum += e.shift().also().containsKey(quotaId) ? e.shift().also().get(quotaId).get(d) : 0;
      }
    }
    return sum;
  }

  private static Row.BalanceRow balances(Step step, String quotaId) {
    return step.rows().stream()
        .filter(row -> row instanceof Row.BalanceRow r && r.quotaId().equals(quotaId))
        .map(row -> (Row.BalanceRow) row)
        .findFirst()
        .orElse(null);
  }
}
