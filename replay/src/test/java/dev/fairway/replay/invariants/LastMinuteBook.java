package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the leases of the last minute hold, added up one by one from events, against what a rolling
 * window grants and keeps waiting. Who has room goes, and nobody else does. Followed levels
 * (ADAPTIVE) ask for more than the charge, so who waits there is not looked at.
 */
final class LastMinuteBook {
  private static final long MINUTE_MS = 60_000;
  private static final long ARRIVAL_MS = 120;
  private static final long STEP_MS = 250;

  /** What one lease holds of one quota, and from when on that is out of the last minute. */
  private static final class Held {
    long grantedAtMs;
    long sentAtMs;
    Amounts own;
    final Map<String, Amounts> also = new HashMap<>();
    String quotaId;

    Amounts of(String id) {
      return id.equals(quotaId) ? own : also.getOrDefault(id, Amounts.NONE);
    }

    boolean countsAt(long atMs) {
      long leavesMs = sentAtMs + ARRIVAL_MS + MINUTE_MS;
      return Math.floorDiv(leavesMs + STEP_MS - 1, STEP_MS) * STEP_MS > atMs;
    }
  }

  private final List<String> wrong = new ArrayList<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();
  private final Map<String, Held> leases = new HashMap<>();
  private final Map<String, Long> rollsSinceMs = new HashMap<>();
  private Step before;

  /** A rolling window grants what its last minute has room for. */
  static List<String> grantsHaveRoom(List<Step> steps) {
    LastMinuteBook book = new LastMinuteBook();
    steps.forEach(step -> book.read(step, true));
    return book.wrong;
  }

  /** In any window whoever is first in line, and may go, goes at once. */
  static List<String> whoMayGoGoes(List<Step> steps) {
    LastMinuteBook book = new LastMinuteBook();
    for (Step step : steps) {
      book.read(step, false);
      if (step.dueMs() > step.atMs()) { // Else the rest of this is done at once, in a tick.
        book.idle(step);
      }
    }
    return book.wrong;
  }

  /** Every lease of the last minute is known, and holds what its events come to. */
  static List<String> nothingIsForgotten(List<Step> steps) {
    LastMinuteBook book = new LastMinuteBook();
    for (Step step : steps) {
      book.read(step, false);
      book.known(step);
    }
    return book.wrong;
  }

  private void known(Step step) {
    Map<String, Lease> rows = new HashMap<>();
    for (Row row : step.rows()) {
      if (row instanceof Row.LeaseRow r) {
        rows.put(r.lease().leaseId(), r.lease());
      }
    }
    leases.values().removeIf(held -> !held.countsAt(step.atMs()));
    leases.forEach(
        (leaseId, held) ->
            definitions.keySet().forEach(id -> known(step, leaseId, held, id, rows.get(leaseId))));
  }

  private void known(Step step, String leaseId, Held held, String quotaId, Lease row) {
    // Before it rolled, a quota kept its leases for a minute from their grant.
    boolean since = rollsSinceMs.getOrDefault(quotaId, Long.MAX_VALUE) <= held.grantedAtMs;
    for (Dimension d : Dimension.values()) {
      long holds = held.of(quotaId).get(d);
      if (since && adds(definitions.get(quotaId), d) && holds > 0) {
        Amounts kept =
            row == null
                ? Amounts.NONE
                : quotaId.equals(held.quotaId)
                    ? row.charged()
                    : row.taken().also().getOrDefault(quotaId, Amounts.NONE);
        if (kept.get(d) != holds) {
          wrong.add(
              leaseId
                  + " holds "
                  + holds
                  + " "
                  + d
                  + " of "
                  + quotaId
                  + ", and "
                  + (row == null ? "is forgotten" : "is kept with " + kept)
                  + " at "
                  + step.atMs());
        }
      }
    }
  }

  private void read(Step step, boolean check) {
    for (Event event : step.handled().events()) {
      if (event instanceof Event.QuotaDefined e) {
        definitions.put(e.quotaId(), e.definition());
        if (e.definition().window() == Window.ROLLING) {
          rollsSinceMs.putIfAbsent(e.quotaId(), step.atMs());
        } else {
          rollsSinceMs.remove(e.quotaId());
        }
      } else if (event instanceof Event.QuotaRemoved e) {
        rollsSinceMs.remove(e.quotaId());
      } else if (event instanceof Event.LeaseGranted e) {
        granted(step, e, check);
      } else if (event instanceof Event.LeaseRenewed e) {
        moved(e.leaseId(), e.adjusted(), e.shift(), e.sendDelayMs());
      } else if (event instanceof Event.LeaseSettled e) {
        moved(e.leaseId(), Amounts.NONE, e.shift(), e.sendDelayMs());
        Held held = leases.get(e.leaseId());
        if (held != null) {
          held.own = e.actual(); // Also where the provider had it already, and nothing moved.
        }
      } else if (event instanceof Event.LeaseExpired e) {
        moved(e.leaseId(), e.adjusted(), e.shift(), null);
      } else if (event instanceof Event.UnleasedCharged e && e.tenant() != null) {
        unleased(step, e);
      }
    }
    before = step;
  }

  private void granted(Step step, Event.LeaseGranted e, boolean check) {
    Held held = new Held();
    held.quotaId = e.quotaId();
    held.grantedAtMs = e.grantedAtMs();
    held.sentAtMs = e.grantedAtMs() + delayMs(e.quotaId());
    held.own = e.charged();
    held.also.putAll(e.taken().also());
    if (check) {
      checkRoom(step, e, e.quotaId(), e.charged());
      held.also.forEach((id, charge) -> checkRoom(step, e, id, charge));
    }
    leases.put(e.leaseId(), held);
  }

  /** It counts from when it says that it was sent, or else from its report. */
  private void unleased(Step step, Event.UnleasedCharged e) {
    Held held = new Held();
    held.quotaId = e.quotaId();
    held.grantedAtMs = step.atMs();
    held.sentAtMs = e.sentAtMs() == null ? step.atMs() : e.sentAtMs();
    held.own = e.charged();
    held.also.putAll(e.also());
    leases.put(Identity.ofUnleased(e.agentId(), e.requestId()), held);
  }

  /** From grant to send as the quota has learned it, with what it may lie off. */
  private long delayMs(String quotaId) {
    Row.BalanceRow row = before == null ? null : balances(before, quotaId);
    return row == null ? 0 : Math.max(row.sendDelayMeanUs() / 1000, row.sendDelayMaxMs());
  }

  private void moved(String leaseId, Amounts adjusted, Event.Shift shift, Long sendDelayMs) {
    Held held = leases.get(leaseId);
    if (held != null) {
      held.own = held.own.minus(adjusted);
      shift.also().forEach((id, a) -> held.also.computeIfPresent(id, (i, has) -> has.minus(a)));
      held.sentAtMs = sendDelayMs == null ? held.sentAtMs : held.grantedAtMs + sendDelayMs;
    }
  }

  private long sum(String quotaId, Dimension d, long atMs) {
    long sum = 0;
    for (Held held : leases.values()) {
      sum += held.countsAt(atMs) ? Math.max(0, held.of(quotaId).get(d)) : 0;
    }
    return sum;
  }

  private void checkRoom(Step step, Event.LeaseGranted e, String quotaId, Amounts charge) {
    QuotaDefinition definition = definitions.get(quotaId);
    for (Dimension d : Dimension.values()) {
      if (adds(definition, d)) {
        long sum = sum(quotaId, d, step.atMs());
        long most = room(step, quotaId, d);
        if (sum > 0 && charge.get(d) > 0 && sum + charge.get(d) > most) {
          wrong.add(
              e.leaseId()
                  + " took "
                  + charge.get(d)
                  + " "
                  + d
                  + " of "
                  + quotaId
                  + " beside "
                  + sum
                  + " in the last minute, of "
                  + most);
        }
      }
    }
  }

  private static boolean adds(QuotaDefinition definition, Dimension d) {
    return definition.window() == Window.ROLLING
        && Definitions.has(definition, Rule.EXACT_WINDOWS)
        && d.refills()
        && d != Dimension.OUTPUT_TOKENS
        && definition.limits().has(d);
  }

  /** All of the limit where the level is followed, else the margin's part of it. */
  private long room(Step step, String quotaId, Dimension d) {
    Row.BalanceRow row = balances(step, quotaId);
    Row.BucketRow bucket =
        row.buckets().stream().filter(b -> b.dimension() == d).findFirst().orElseThrow();
    long limit = definitions.get(quotaId).limits().get(d);
    limit = bucket.learnedLimit() == null ? limit : Math.min(limit, bucket.learnedLimit());
    return bucket.mode() == MarginModeName.ADAPTIVE ? limit : limit * row.marginBp() / 10_000;
  }

  private void idle(Step step) {
    for (var quota : step.snapshots()) {
      String id = quota.definition().id();
      Row.BalanceRow row = balances(step, id);
      boolean plain =
          quota.definition().also().isEmpty()
              && quota.definition().tenants().isEmpty()
              && quota.definition().classes().isEmpty()
              && quota.definition().state() == QuotaDefinition.State.ACTIVE
              && !sharesWithWaiters(step, id)
              && quota.holdReason() == null
              && !BreakerFacts.isOpen(quota.breaker())
              && quota.breaker().ramp() == null
              && !row.removed()
              && row.buckets().stream().noneMatch(b -> b.mode() == MarginModeName.ADAPTIVE);
      Waiter head = head(step, id);
      if (plain && head != null && mayGo(step, id, head, quota.levels(), quota.caps())) {
        wrong.add(head.request().requestId() + " waits at " + step.atMs() + " and may go");
      }
    }
  }

  /** Another quota's head may hold back those of this one. */
  private boolean sharesWithWaiters(Step step, String quotaId) {
    return step.snapshots().stream()
        .anyMatch(q -> q.definition().also().contains(quotaId) && q.waiting() > 0);
  }

  private static Waiter head(Step step, String quotaId) {
    Map<String, Long> shifts = new HashMap<>();
    for (Row row : step.rows()) {
      if (row instanceof Row.FlowRow r && r.quotaId().equals(quotaId)) {
        shifts.put(r.agentId(), r.shift());
      }
    }
    return step.rows().stream()
        .filter(row -> row instanceof Row.WaiterRow)
        .map(row -> ((Row.WaiterRow) row).waiter())
        .filter(waiter -> waiter.request().quotaId().equals(quotaId))
        .min(
            Comparator.comparingLong((Waiter waiter) -> place(waiter, shifts))
                .thenComparingLong(Waiter::arrival))
        .orElse(null);
  }

  /** Its tag, moved by what its agent's calls turned out to be since it came in line. */
  private static long place(Waiter waiter, Map<String, Long> shifts) {
    long shift = shifts.getOrDefault(waiter.request().agentId(), 0L);
    return waiter.finishTag() + shift - waiter.flowShift();
  }

  private boolean mayGo(Step step, String id, Waiter head, Amounts levels, Amounts caps) {
    QuotaDefinition definition = definitions.get(id);
    if (head.request().estimate().cachedTokens() > 0) {
      return false; // Whether its cache is still warm, and what it takes then, is not known here.
    }
    for (Dimension d : Dimension.values()) {
      if (definition.limits().has(d)) {
        long charge = head.estimate().get(d);
        boolean there = levels.get(d) >= Math.min(charge, d.refills() ? caps.get(d) : charge);
        long sum = adds(definition, d) ? sum(id, d, step.atMs()) : 0;
        boolean room = sum == 0 || sum + charge <= room(step, id, d);
        if (!there || !room || justReset(definition, balances(step, id), d, step.atMs())) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean justReset(
      QuotaDefinition definition, Row.BalanceRow row, Dimension d, long atMs) {
    if (definition.window() != Window.FIXED || !d.refills()) {
      return false;
    }
    Long known =
        row.buckets().stream()
            .filter(b -> b.dimension() == d)
            .findFirst()
            .orElseThrow()
            .resetAtMs();
    return Math.floorMod(atMs - (known == null ? 0 : known), MINUTE_MS) < 150;
  }

  private static Row.BalanceRow balances(Step step, String quotaId) {
    return step.rows().stream()
        .filter(row -> row instanceof Row.BalanceRow r && r.quotaId().equals(quotaId))
        .map(row -> (Row.BalanceRow) row)
        .findFirst()
        .orElse(null);
  }
}
