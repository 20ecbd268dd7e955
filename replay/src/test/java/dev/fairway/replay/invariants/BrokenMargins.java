package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Forecast;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;

/** What engines would have written whose margins or learned outputs are broken. */
final class BrokenMargins {
  private BrokenMargins() {}

  /** A margin that shrinks only clips a balance, so that one that was not full may be. */
  static List<Step> onlyClip(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    Map<String, Row.BalanceRow> last = new HashMap<>();
    for (Step step : steps) {
      result.add(Tamper.rows(step, row -> clipped(step, row, last)));
      for (Row row : step.rows()) {
        if (row instanceof Row.BalanceRow r) {
          last.put(r.quotaId(), r);
        }
      }
    }
    return result;
  }

  private static Row clipped(Step step, Row row, Map<String, Row.BalanceRow> last) {
    if (!(row instanceof Row.BalanceRow r)
        || !last.containsKey(r.quotaId())
        || r.marginBp() >= last.get(r.quotaId()).marginBp()) {
      return row;
    }
    Map<Dimension, Long> balances = new HashMap<>();
    last.get(r.quotaId()).buckets().forEach(b -> balances.put(b.dimension(), b.balance()));
    return Tamper.buckets(
        row,
        r.quotaId(),
        b -> {
          long cap = Invariants.snapshot(step, r.quotaId()).caps().get(b.dimension());
          long balance = Math.min(cap, balances.getOrDefault(b.dimension(), cap));
          return Tamper.bucket(b, balance, b.remainder(), b.clipped());
        });
  }

  /** Who is larger than what the margin leaves of a bucket waits on when it is full. */
  static List<Step> strandTheLarge(List<Step> steps) {
    return BrokenWindows.idle(steps, BrokenMargins::isLarge);
  }

  private static boolean isLarge(Step step, LeaseGranted e) {
    for (Dimension d : Dimension.values()) {
      long cap = Invariants.snapshot(step, e.quotaId()).caps().get(d);
      if (d.refills() && e.charged().has(d) && e.charged().get(d) > cap) {
        return true;
      }
    }
    return false;
  }

  /** Another output is reserved for who comes. */
  static List<Step> reserve(List<Step> steps, LongUnaryOperator output) {
    return Tamper.each(
        steps,
        LeaseEnqueued.class,
        e -> {
          Waiter w = e.waiter();
          Forecast other =
              new Forecast(
                  w.forecast().inputTokens(), output.applyAsLong(w.forecast().outputTokens()));
          return new LeaseEnqueued(Tamper.expecting(w, other), e.retries());
        });
  }
}
