package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.mapping.Cause;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.admission.mapping.RowMapper;
import dev.fairway.replay.verify.Conservation;
import dev.fairway.schemas.StateRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What must hold of every run. Each check looks at events, rows and snapshots only, and returns
 * what is wrong; none calls the engine's arithmetic.
 */
final class Invariants {
  private static final int TOLD_MAX = 5;

  /** A request is remembered this long; after that its id, and its lease's, may come again. */
  private static final long REMEMBERED_MS = 600_000;

  private Invariants() {}

  /**
   * What a bucket gave out in any window is at most its depth and the refill of that window. Holds
   * where every estimate is exact and nobody else uses the key; an oversize call may take as much
   * more as its charge exceeds the cap.
   */
  static List<String> chargesFitEveryWindow(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (String quotaId : quotaIds(steps)) {
      List<Event.LeaseGranted> granted = grantsOf(steps, quotaId);
      QuotaSnapshot quota = snapshot(steps.get(steps.size() - 1), quotaId);
      for (Dimension d : Dimension.values()) {
        if (d.refills() && quota.definition().limits().has(d)) {
          checkWindows(granted, d, quota, mode(steps.get(steps.size() - 1), quotaId, d), wrong);
        }
      }
    }
    return wrong;
  }

  private static void checkWindows(
      List<Event.LeaseGranted> granted,
      Dimension d,
      QuotaSnapshot quota,
      MarginModeName mode,
      List<String> wrong) {
    // What is kept in reserve does not slow the refill.
    double share = mode == MarginModeName.RATE ? quota.marginBp() / 10_000.0 : 1;
    double perMs = quota.definition().limits().get(d) * share / 60_000.0;
    long cap = quota.caps().get(d);
    for (int from = 0; from < granted.size(); from++) {
      double sum = 0;
      double largest = 0;
      for (int to = from; to < granted.size(); to++) {
        sum += granted.get(to).charged().get(d);
        largest = Math.max(largest, granted.get(to).charged().get(d));
        long windowMs = granted.get(to).grantedAtMs() - granted.get(from).grantedAtMs();
        double oversize = Math.max(0, largest - cap);
        // The refill that was under way when the window began is worth less than one token.
        if (sum > cap + perMs * windowMs + oversize + 1) {
          wrong.add(
              quota.definition().id()
                  + ": "
                  + sum
                  + " "
                  + d.wireName()
                  + " in "
                  + windowMs
                  + " ms, of "
                  + (cap + perMs * windowMs));
        }
      }
    }
  }

  static MarginModeName mode(Step step, String quotaId, Dimension d) {
    for (Row row : step.rows()) {
      if (row instanceof Row.BalanceRow r && r.quotaId().equals(quotaId)) {
        return r.buckets().stream().filter(b -> b.dimension() == d).findFirst().get().mode();
      }
    }
    throw new IllegalStateException("Expected a balance row of " + quotaId);
  }

  /** A lease changes each bucket once, net, whatever settlements come how often. */
  static List<String> eachLeaseChangesABucketOnce(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Amounts> held = new HashMap<>();
    Set<String> settled = new HashSet<>();
    Set<String> resynced = new HashSet<>();
    ResetBook resets = new ResetBook();
    Map<String, Long> endedAtMs = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        resets.read(step, event);
        if (event instanceof Event.LeaseGranted e) {
          Long ended = endedAtMs.get(e.leaseId());
          boolean forgotten = ended != null && step.atMs() >= ended + REMEMBERED_MS;
          if (forgotten) {
            settled.remove(e.leaseId());
          }
          if (held.put(e.leaseId(), e.charged()) != null && !forgotten) {
            wrong.add("lease " + e.leaseId() + " was granted twice");
          }
        } else if (event instanceof Event.LeaseExpired e) {
          endedAtMs.put(e.leaseId(), step.atMs());
          held.merge(e.leaseId(), e.adjusted(), Amounts::minus);
        } else if (event instanceof Event.LeaseRenewed e) {
          held.merge(e.leaseId(), e.adjusted(), Amounts::minus);
        } else if (event instanceof Event.BucketsResynced e) {
          resynced.add(e.quotaId());
        } else if (event instanceof Event.LeaseSettled e) {
          if (!settled.add(e.leaseId())) {
            wrong.add("lease " + e.leaseId() + " was settled twice");
          }
          endedAtMs.put(e.leaseId(), step.atMs());
          Amounts charged = held.get(e.leaseId());
          for (Dimension d : Dimension.values()) {
            boolean mayBeAbsorbed =
                e.adjusted().get(d) == 0
                    && (resynced.contains(e.quotaId()) || resets.cameBack(step, e, d));
            boolean counts = d.refills() && charged != null && charged.has(d) && e.actual().has(d);
            if (counts
                && !mayBeAbsorbed
                && charged.get(d) - e.adjusted().get(d) != e.actual().get(d)) {
              wrong.add("lease " + e.leaseId() + " nets " + charged + " less " + e.adjusted());
            }
          }
        }
      }
    }
    return wrong;
  }

  /** Nothing comes back at expiry, no refund lifts a level above its cap, and debt stays. */
  static List<String> refundsAreBounded(List<Step> steps) {
    List<String> wrong = new ArrayList<>(conserved(steps));
    Map<String, QuotaSnapshot> before = new HashMap<>();
    for (Step step : steps) {
      for (QuotaSnapshot quota : step.snapshots()) {
        QuotaSnapshot last = before.put(quota.definition().id(), quota);
        for (Dimension d : Dimension.values()) {
          boolean defined = step.command() instanceof Command.DefineQuota;
          if (last != null && d.refills() && quota.levels().has(d) && !defined) {
            long most = Math.max(last.levels().get(d), quota.caps().get(d));
            if (quota.levels().get(d) > most) {
              wrong.add(quota.definition().id() + " rose to " + quota.levels() + " above its cap");
            }
          }
        }
      }
    }
    return wrong;
  }

  /** Every balance, at every prefix, is what its history adds up to; reserved and leases too. */
  static List<String> conserved(List<Step> steps) {
    Conservation conservation = new Conservation(TOLD_MAX);
    conservation.start(EngineRun.KEY);
    for (Step step : steps) {
      conservation.fold(JournalMapper.toAvro(step.handled(), step.command(), Cause.TICK));
      conservation.compare(EngineRun.KEY, stateRows(step.rows()));
    }
    return conservation.findings();
  }

  /** What the state calls reserved is what its open leases hold, and no lease stays for ever. */
  static List<String> reservedIsTheSumOfOpenLeases(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    Map<String, Event.LeaseGranted> open = new LinkedHashMap<>();
    Map<String, Amounts> held = new HashMap<>();
    Map<String, Map<String, Amounts>> alsoHeld = new HashMap<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.QuotaDefined e
            && e.definition().limits().has(Dimension.CONCURRENT_REQUESTS)) {
          // Limited anew, every open lease holds a slot from now on.
          for (Event.LeaseGranted lease : open.values()) {
            if (lease.quotaId().equals(e.quotaId())) {
              held.computeIfPresent(
                  lease.leaseId(), (id, amounts) -> amounts.with(Dimension.CONCURRENT_REQUESTS, 1));
            }
          }
        } else if (event instanceof Event.LeaseGranted e) {
          open.put(e.leaseId(), e);
          held.put(e.leaseId(), e.charged());
          alsoHeld.put(e.leaseId(), new HashMap<>(e.taken().also()));
        } else if (event instanceof Event.LeaseRenewed e) {
          held.merge(e.leaseId(), e.adjusted(), Amounts::minus);
          e.shift()
              .also()
              .forEach((id, a) -> alsoHeld.get(e.leaseId()).merge(id, a, Amounts::minus));
        } else if (event instanceof Event.LeaseSettled e) {
          open.remove(e.leaseId());
        } else if (event instanceof Event.LeaseExpired e) {
          open.remove(e.leaseId());
        }
      }
      for (QuotaSnapshot quota : step.snapshots()) {
        Amounts byEvents = Amounts.NONE;
        for (Event.LeaseGranted e : open.values()) {
          if (e.quotaId().equals(quota.definition().id())) {
            byEvents = byEvents.plus(held.get(e.leaseId()));
          }
        }
        for (Event.LeaseGranted e : open.values()) {
          byEvents =
              byEvents.plus(
                  alsoHeld
                      .getOrDefault(e.leaseId(), Map.of())
                      .getOrDefault(quota.definition().id(), Amounts.NONE));
        }
        Amounts byRows = Amounts.NONE;
        for (Row row : step.rows()) {
          if (row instanceof Row.LeaseRow r
              && r.lease().status() == Lease.Status.OPEN
              && r.lease().request().quotaId().equals(quota.definition().id())) {
            byRows = byRows.plus(r.lease().charged());
          }
          if (row instanceof Row.LeaseRow r && r.lease().status() == Lease.Status.OPEN) {
            Map<String, Amounts> also = r.lease().taken().also();
            byRows = byRows.plus(also.getOrDefault(quota.definition().id(), Amounts.NONE));
          }
        }
        if (!byRows.minus(byEvents).isZero() || !quota.reserved().minus(byEvents).isZero()) {
          wrong.add(
              "reserved " + quota.reserved() + ", rows hold " + byRows + ", events " + byEvents);
        }
      }
    }
    if (!open.isEmpty()) {
      wrong.add("leases never ended: " + open.keySet());
    }
    return wrong;
  }

  static List<StateRow> stateRows(List<Row> rows) {
    return rows.stream().map(row -> RowMapper.toAvro(EngineRun.KEY, row)).toList();
  }

  static QuotaSnapshot snapshot(Step step, String quotaId) {
    return step.snapshots().stream()
        .filter(quota -> quota.definition().id().equals(quotaId))
        .findFirst()
        .orElseThrow();
  }

  static String id(String agentId, String requestId) {
    return agentId + "/" + requestId;
  }

  private static List<String> quotaIds(List<Step> steps) {
    return steps.get(steps.size() - 1).snapshots().stream()
        .map(quota -> quota.definition().id())
        .toList();
  }

  private static List<Event.LeaseGranted> grantsOf(List<Step> steps, String quotaId) {
    List<Event.LeaseGranted> granted = new ArrayList<>();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        if (event instanceof Event.LeaseGranted e && e.quotaId().equals(quotaId)) {
          granted.add(e);
        }
      }
    }
    return granted;
  }
}
