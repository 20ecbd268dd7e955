package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Taken;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** What engines would have written whose buckets or margins are broken. */
final class BrokenBuckets {
  private BrokenBuckets() {}

  static List<Step> settleTwice(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      List<Event> events = new ArrayList<>(step.handled().events());
      step.handled().events().stream().filter(LeaseSettled.class::isInstance).forEach(events::add);
      result.add(Tamper.events(step, events));
    }
    return result;
  }

  static List<Step> grantAtOnce(List<Step> steps) {
    Map<String, Long> enqueuedAtMs = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseEnqueued e) {
          enqueuedAtMs.put(e.waiter().request().requestId(), step.atMs());
        }
      }
    }
    return Tamper.each(
        steps,
        LeaseGranted.class,
        e -> Tamper.granted(e, e.charged(), enqueuedAtMs.get(e.requestId()), e.virtualTime()));
  }

  static List<Step> refundOnReap(List<Step> steps) {
    Map<String, Amounts> charged = new HashMap<>();
    Map<String, Amounts> refunded = new HashMap<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseGranted e) {
          charged.put(e.leaseId(), e.charged());
        } else if (event instanceof LeaseExpired e) {
          refunded.merge(e.quotaId(), charged.get(e.leaseId()), Amounts::plus);
        }
      }
      Step changed = step;
      for (Map.Entry<String, Amounts> entry : Map.copyOf(refunded).entrySet()) {
        UnaryOperator<Row.BucketRow> raise =
            b ->
                Tamper.bucket(
                    b,
                    b.balance() + entry.getValue().get(b.dimension()),
                    b.remainder(),
                    b.clipped());
        changed = Tamper.rows(changed, row -> Tamper.buckets(row, entry.getKey(), raise));
      }
      result.add(changed);
    }
    return result;
  }

  static List<Step> refundAboveTheCap(List<Step> steps) {
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      Set<String> refunds = new LinkedHashSet<>();
      for (Event event : step.handled().events()) {
        if (event instanceof LeaseSettled e && e.adjusted().get(Dimension.INPUT_TOKENS) > 0) {
          refunds.add(e.quotaId());
        }
      }
      result.add(
          Tamper.snapshots(
              step,
              q ->
                  refunds.contains(q.definition().id())
                      ? Tamper.snapshot(
                          q,
                          q.levels()
                              .with(
                                  Dimension.INPUT_TOKENS, q.caps().get(Dimension.INPUT_TOKENS) + 1),
                          q.reserved())
                      : q));
    }
    return result;
  }

  /** Each time a bucket is refilled, the fraction is dropped instead of carried. */
  static List<Step> forgetRemainder(List<Step> steps) {
    long partsPerToken = 600_000_000L;
    Map<String, Long> lost = new HashMap<>();
    Map<String, Long> refilledAtMs = new HashMap<>();
    List<Step> result = new ArrayList<>();
    for (Step step : steps) {
      for (Row row : step.rows()) {
        if (row instanceof Row.BalanceRow r) {
          Long before = refilledAtMs.put(r.quotaId(), r.refilledAtMs());
          if (before != null && before != r.refilledAtMs()) {
            r.buckets()
                .forEach(b -> lost.merge(r.quotaId() + b.dimension(), b.remainder(), Long::sum));
          }
        }
      }
      result.add(
          Tamper.rows(
              step,
              row ->
                  row instanceof Row.BalanceRow r
                      ? Tamper.buckets(
                          row,
                          r.quotaId(),
                          b ->
                              Tamper.bucket(
                                  b,
                                  b.balance()
                                      - lost.getOrDefault(r.quotaId() + b.dimension(), 0L)
                                          / partsPerToken,
                                  0,
                                  b.clipped()))
                      : row));
    }
    return result;
  }

  /** Every interactive request is let in as if its reserve paid. */
  static List<Step> everythingOutOfReserve(List<Step> steps) {
    return Tamper.each(
        steps,
        LeaseGranted.class,
        e ->
            Tamper.taken(
                e,
                new Taken(e.taken().also(), e.charged(), e.taken().ceiling(), true, null, false)));
  }

  static Row reopen(Row row) {
    if (!(row instanceof Row.LeaseRow r) || r.lease().status() != Lease.Status.EXPIRED) {
      return row;
    }
    return Tamper.lease(r.lease(), Lease.Status.OPEN, r.lease().charged(), null);
  }

  static List<Step> followForEver(List<Step> steps) {
    return eachBucket(
        steps,
        b ->
            b.answeredAtMs() == null
                ? b
                : new Row.BucketRow(
                    b.dimension(),
                    b.balance(),
                    b.remainder(),
                    b.learnedLimit(),
                    b.absorbedBeforeMs(),
                    b.clipped(),
                    MarginModeName.ADAPTIVE,
                    b.answeredAtMs(),
                    b.resetAtMs(),
                    b.outside(),
                    b.learnedAtMs()));
  }

  static List<Step> eachBucket(List<Step> steps, UnaryOperator<Row.BucketRow> change) {
    return steps.stream()
        .map(
            step ->
                Tamper.rows(
                    step,
                    row ->
                        row instanceof Row.BalanceRow r
                            ? Tamper.buckets(row, r.quotaId(), change)
                            : row))
        .toList();
  }
}
