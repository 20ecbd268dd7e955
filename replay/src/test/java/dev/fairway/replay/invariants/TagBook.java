package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition.Cost;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Waiter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Follows the tags of the fair queue through a run. */
final class TagBook {
  private static final long TAG_KEPT_MS = 60_000;

  private final List<String> wrong;
  private final Map<String, Waiter> waiting = new HashMap<>();
  private final Map<String, Long> firstTags = new HashMap<>();
  private final Map<String, Event.LeaseRejected> rejected = new HashMap<>();
  private final Map<String, Long> virtualTimes = new HashMap<>();
  private final Map<String, Long> lineTimes = new HashMap<>();
  private final Map<String, Long> topTimes = new HashMap<>();
  private final Map<String, Long> shifts = new HashMap<>();
  private final Map<String, Long> flowTags = new HashMap<>();
  private final Map<String, Long> told = new HashMap<>();
  private final Map<String, Long> moved = new HashMap<>();
  private final Set<String> grantedIn = new HashSet<>();
  private final Map<String, String> lines = new HashMap<>();
  private final Set<String> strict = new HashSet<>();
  private final Map<String, Cost> costs = new HashMap<>();
  private Map<String, Amounts> levels = new HashMap<>();
  private Set<String> sharing = new HashSet<>();

  TagBook(List<String> wrong) {
    this.wrong = wrong;
  }

  void read(Step step) {
    told.clear();
    moved.clear();
    grantedIn.clear();
    sharing(step);
    for (Event event : step.handled().events()) {
      if (event instanceof Event.LeaseEnqueued e) {
        enqueued(step, e.waiter());
      } else if (event instanceof Event.LeaseGranted e) {
        granted(e);
      } else if (event instanceof Event.LeaseRejected e) {
        waiting.remove(Invariants.id(e.agentId(), e.requestId()));
        if (e.keptTag() != null) {
          rejected.put(Invariants.id(e.agentId(), e.requestId()), e);
        }
      } else if (event instanceof Event.LeaseCancelled e) {
        waiting.remove(Invariants.id(e.agentId(), e.requestId()));
      } else if (event instanceof Event.WaiterReweighted e) {
        reweighted(e);
      } else if (event instanceof Event.LeaseSettled e) {
        boolean tells = e.outcome() != Outcome.RATE_LIMITED && e.outcome() != Outcome.OVERLOADED;
        used(step, e, e.agentId(), lines.remove(e.leaseId()), e.tagShift(), tells);
      } else if (event instanceof Event.LeaseRenewed e) {
        used(step, e, e.agentId(), lines.get(e.leaseId()), e.tagShift(), true);
      } else if (event instanceof Event.LeaseExpired e) {
        used(step, e, e.agentId(), lines.get(e.leaseId()), e.tagShift(), true);
      } else if (event instanceof Event.UnleasedCharged e && e.tenant() != null) {
        used(step, e, e.agentId(), e.quotaId() + " " + e.tenant(), e.tagShift(), true);
      } else if (event instanceof Event.QuotaDefined e) {
        if (Definitions.has(e.definition(), Rule.STRICT_PLACES)) {
          strict.add(e.quotaId());
        } else {
          strict.remove(e.quotaId());
        }
        Cost before = costs.put(e.quotaId(), Definitions.cost(e.definition()));
        if (before != costs.get(e.quotaId()) && !sharing.contains(e.quotaId())) {
          startAnew(e.quotaId()); // Tags of other costs say nothing.
        }
        // Other limits or weights: tags of who waits follow anew, here and in who takes from it.
        Set<String> measured = takers(step, e.quotaId());
        waiting.values().removeIf(w -> measured.contains(w.request().quotaId()));
        // Who comes under another tenant starts there like a newcomer.
        firstTags.clear();
        forgetPlaces(step, e);
      }
    }
    told.forEach(this::checkMoved);
    snapshots(step);
    rejectsTakeNothing(step);
  }

  private static Set<String> takers(Step step, String quotaId) {
    Set<String> takers = new HashSet<>(Set.of(quotaId));
    for (QuotaSnapshot quota : step.snapshots()) {
      if (quota.definition().also().contains(quotaId)) {
        takers.add(quota.definition().id());
      }
    }
    return takers;
  }

  /** Where a quota begins, or ceases, to share, all start like newcomers. */
  private void sharing(Step step) {
    Set<String> now = CostBook.sharing(step.snapshots());
    for (QuotaSnapshot quota : step.snapshots()) {
      String id = quota.definition().id();
      if (now.contains(id) != sharing.contains(id)) {
        startAnew(id);
        // A quota that is removed ends this as well, without a definition that tells new times.
        virtualTimes.keySet().removeIf(line -> line.startsWith(id + " "));
        topTimes.remove(id);
      }
    }
    sharing = now;
  }

  private void startAnew(String id) {
    waiting.values().removeIf(w -> w.request().quotaId().equals(id));
    rejected.values().removeIf(e -> e.quotaId().equals(id));
    flowTags.keySet().removeIf(flow -> flow.startsWith(id + " "));
    shifts.keySet().removeIf(flow -> flow.startsWith(id + " "));
    firstTags.clear();
  }

  private void enqueued(Step step, Waiter waiter) {
    LeaseRequest request = waiter.request();
    String id = Invariants.id(request.agentId(), request.requestId());
    long virtualTime = virtualTimes.getOrDefault(line(waiter), 0L);
    Long first = firstTags.put(id, waiter.startTag());
    waiting.put(id, waiter);
    boolean requeued = step.command() instanceof Command.SettleLease;
    if (requeued) {
      if (first != null && first != waiter.startTag()) {
        wrong.add(id + " came back with tag " + waiter.startTag() + ", not its own " + first);
      }
      return;
    }
    Event.LeaseRejected before =
        request.retryOf() == null
            ? null
            : rejected.remove(Invariants.id(request.agentId(), request.retryOf()));
    boolean kept =
        before != null
            && before.retryAtMs() != null
            && before.quotaId().equals(request.quotaId())
            && waiter.standing().tenant().equals(before.tenant())
            && step.atMs() <= before.retryAtMs() + TAG_KEPT_MS;
    Long ahead = flowTags.get(line(waiter) + " " + request.agentId());
    boolean behind = kept && ahead != null && strict.contains(request.quotaId());
    long place = !kept ? 0 : behind ? Math.max(ahead, before.keptTag()) : before.keptTag();
    if (kept && waiter.startTag() != place) {
      wrong.add(id + " retries with tag " + waiter.startTag() + ", not " + place);
    }
    if (!kept && waiter.startTag() < virtualTime) {
      wrong.add(id + " starts at " + waiter.startTag() + ", below " + virtualTime);
    }
    Long time = lineTimes.get(line(waiter));
    if (before != null && !kept && time != null && inTenants(step, request.quotaId())) {
      long anew = ahead == null ? time : Math.max(time, ahead);
      if (waiter.startTag() != anew) {
        wrong.add(id + " comes anew with tag " + waiter.startTag() + ", not " + anew);
      }
    }
  }

  private static boolean inTenants(Step step, String quotaId) {
    return step.snapshots().stream()
        .anyMatch(q -> q.definition().id().equals(quotaId) && !q.definition().tenants().isEmpty());
  }

  /**
   * A tenant that a definition does not have ends with its places, and so does a quota that was
   * removed and begins anew. Where nobody was served yet, places tell nothing.
   */
  private void forgetPlaces(Step step, Event.QuotaDefined defined) {
    Map<String, Long> times = timesOf(step);
    rejected
        .values()
        .removeIf(
            e ->
                e.quotaId().equals(defined.quotaId())
                    && times.getOrDefault(e.quotaId() + " " + e.tenant(), 0L) == 0);
  }

  /** Virtual times among the agents of each line. */
  private static Map<String, Long> timesOf(Step step) {
    Map<String, Long> times = new HashMap<>();
    for (Row row : step.rows()) {
      if (row instanceof Row.BalanceRow r && !inTenants(step, r.quotaId())) {
        times.put(r.quotaId() + " default", r.virtualTime());
      } else if (row instanceof Row.TenantRow r) {
        times.put(r.quotaId() + " " + r.tenant(), r.virtualTime());
      }
    }
    return times;
  }

  /**
   * What a call turned out to be moves those of its agent that wait, as far as its tag moves. Rows
   * of who waits stay as they were written: the flow's row says how far they moved since.
   */
  private void used(Step step, Event e, String agentId, String line, long tagShift, boolean tells) {
    String flow = line + " " + agentId;
    // What comes back may end at the virtual time, and a refusal says nothing of a call's size.
    boolean known = strict.contains(e.quotaId()) && tells && tagShift >= 0;
    told.merge(flow, known ? tagShift : Long.MIN_VALUE, TagBook::sum);
    for (Waiter waiter : List.copyOf(waiting.values())) {
      boolean mine = waiter.request().agentId().equals(agentId);
      if (!mine || !line(waiter).equals(line)) {
        continue;
      }
      Long shift = shiftsOf(step.rows()).get(flow);
      String id = Invariants.id(agentId, waiter.request().requestId());
      if (shift == null && waits(step, id)) {
        continue; // It never moved: there is no row of its flow.
      }
      if (shift == null) {
        waiting.remove(id); // It left in the same step, and how far it had moved is not told.
        continue;
      }
      long by = shift - shifts.getOrDefault(flow, 0L);
      moved.merge(flow, by, Math::max);
      waiting.put(id, moved(waiter, by));
    }
    if (moved.containsKey(flow)) {
      shifts.put(flow, shiftsOf(step.rows()).getOrDefault(flow, 0L));
    }
  }

  private static boolean waits(Step step, String id) {
    return step.rows().stream()
        .anyMatch(
            row ->
                row instanceof Row.WaiterRow r
                    && id.equals(
                        Invariants.id(
                            r.waiter().request().agentId(), r.waiter().request().requestId())));
  }

  private static long sum(long one, long other) {
    return one == Long.MIN_VALUE || other == Long.MIN_VALUE ? Long.MIN_VALUE : one + other;
  }

  private void checkMoved(String flow, long tagShift) {
    Long by = moved.get(flow);
    if (by != null && tagShift > 0 && by != tagShift) {
      wrong.add(flow + ": its line moved by " + by + ", its tag by " + tagShift);
    }
  }

  private static Map<String, Long> shiftsOf(List<Row> rows) {
    Map<String, Long> shifts = new HashMap<>();
    for (Row row : rows) {
      if (row instanceof Row.FlowRow r) {
        shifts.put(r.quotaId() + " " + r.tenant() + " " + r.agentId(), r.shift());
      }
    }
    return shifts;
  }

  private static Waiter moved(Waiter waiter, long by) {
    return Tamper.placed(waiter, waiter.startTag() + by);
  }

  private void granted(Event.LeaseGranted e) {
    String id = Invariants.id(e.agentId(), e.requestId());
    Waiter waiter = waiting.remove(id);
    Long top = topTimes.put(e.quotaId(), e.order().topVirtualTime());
    if (top != null && e.order().topVirtualTime() < top) {
      wrong.add("upper virtual time fell from " + top + " to " + e.order().topVirtualTime());
    }
    lines.put(e.leaseId(), e.quotaId() + " " + e.order().tenant());
    grantedIn.add(lines.get(e.leaseId()));
    Long before = virtualTimes.put(lines.get(e.leaseId()), e.virtualTime());
    if (before != null && e.virtualTime() < before) {
      wrong.add("virtual time fell from " + before + " to " + e.virtualTime());
    }
    if (waiter == null) {
      firstTags.remove(id); // How far it had moved is not known.
      return;
    }
    passes(e, id, waiter);
    firstTags.put(id, waiter.startTag());
    if (e.order().lane() == Event.Lane.IN_ORDER) {
      if (e.virtualTime() < waiter.finishTag()) {
        wrong.add(id + " with tag " + waiter.finishTag() + " was served at " + e.virtualTime());
      }
      overtakes(id, waiter);
    } else if (before != null && e.virtualTime() != before && !e.quotaId().equals("k/o")) {
      // Time in k/o also follows those of k/c, which takes from it.
      wrong.add(id + " passed, and moved virtual time from " + before);
    }
  }

  /** Who passes is at most half of the head ahead of it, by the head's end: of one tenant. */
  private void passes(Event.LeaseGranted e, String id, Waiter waiter) {
    Waiter head =
        e.order().passedRequestId() == null
            ? null
            : waiting.get(Invariants.id(e.order().passedAgentId(), e.order().passedRequestId()));
    if (head == null || !line(head).equals(line(waiter))) {
      return;
    }
    long latest = head.finishTag() + (head.finishTag() - head.startTag()) / 2;
    if (waiter.startTag() > latest) {
      wrong.add(id + " starts at " + waiter.startTag() + " and passed, beyond " + latest);
    }
  }

  /** A weight that changed moves the finish, and the start stays. */
  private void reweighted(Event.WaiterReweighted e) {
    Waiter waiter = waiting.get(Invariants.id(e.agentId(), e.requestId()));
    if (waiter != null) {
      long length = e.finishTag() - waiter.startTag();
      long expected = waiter.cost() * 1_000_000 / e.weightMilli();
      if (length != expected) {
        wrong.add(e.requestId() + " has length " + length + " at its new weight, not " + expected);
      }
      waiting.put(
          Invariants.id(e.agentId(), e.requestId()),
          waiter.weighing(e.weightMilli(), e.finishTag(), waiter.standing()));
    }
  }

  /** Who is served in one order: the agents of a tenant of a quota. */
  private static String line(Waiter waiter) {
    return waiter.request().quotaId() + " " + waiter.standing().tenant();
  }

  /** The smallest finish tag goes first, the earlier arrival among equals. */
  private void overtakes(String id, Waiter served) {
    for (Waiter other : waiting.values()) {
      boolean sameQuota = line(other).equals(line(served));
      boolean ahead =
          other.finishTag() < served.finishTag()
              || (other.finishTag() == served.finishTag() && other.arrival() < served.arrival());
      if (sameQuota && ahead) {
        wrong.add(id + " passed " + other.request().requestId());
      }
    }
  }

  /** Rows of who waits have the tags of when it came in line. */
  private Waiter asItStands(Waiter written) {
    String flow = line(written) + " " + written.request().agentId();
    return moved(written, shifts.getOrDefault(flow, 0L) - written.flowShift());
  }

  private void snapshots(Step step) {
    lineTimes.clear();
    lineTimes.putAll(timesOf(step));
    shifts.clear();
    shifts.putAll(shiftsOf(step.rows()));
    flowTags.clear();
    for (Row row : step.rows()) {
      if (row instanceof Row.FlowRow r) {
        flowTags.put(r.quotaId() + " " + r.tenant() + " " + r.agentId(), r.finishTag());
      }
    }
    boolean defined =
        step.handled().events().stream().anyMatch(e -> e instanceof Event.QuotaDefined);
    for (Row row : step.rows()) {
      if (row instanceof Row.BalanceRow r && defined) {
        // A quota that was removed and is defined again begins anew.
        virtualTimes.keySet().removeIf(line -> line.startsWith(r.quotaId() + " "));
        virtualTimes.put(r.quotaId() + " default", r.virtualTime());
        topTimes.remove(r.quotaId());
      }
    }
    for (Row row : step.rows()) {
      if (row instanceof Row.FlowRow r) {
        String line = r.quotaId() + " " + r.tenant();
        boolean kept =
            r.keptUntilMs() >= step.atMs() || (r.keptUntilMs() > 0 && !grantedIn.contains(line));
        if (r.finishTag() <= virtualTimes.getOrDefault(line, 0L) && r.shift() == 0 && !kept) {
          wrong.add(r.agentId() + " keeps a tag that virtual time has passed");
        }
      } else if (row instanceof Row.WaiterRow r) {
        Waiter waiter = asItStands(r.waiter());
        String id = Invariants.id(waiter.request().agentId(), waiter.request().requestId());
        Waiter old = waiting.get(id);
        if (old != null
            && old.attempt() == waiter.attempt()
            && (old.startTag() != waiter.startTag() || old.finishTag() != waiter.finishTag())) {
          wrong.add(
              id + " waits, and its tag moved from " + old.startTag() + " to " + waiter.startTag());
        }
        waiting.computeIfPresent(id, (key, before) -> waiter);
      }
    }
  }

  private void rejectsTakeNothing(Step step) {
    Map<String, Amounts> now = new HashMap<>();
    for (QuotaSnapshot quota : step.snapshots()) {
      String id = quota.definition().id();
      now.put(id, quota.levels());
      boolean onlyRejects =
          step.command() instanceof Command.RequestLease
              && !step.handled().events().isEmpty()
              && step.handled().events().stream().allMatch(e -> e instanceof Event.LeaseRejected);
      Amounts before = levels.get(id);
      if (onlyRejects && before != null) {
        for (var d : dev.fairway.admission.engine.bucket.Dimension.values()) {
          if (quota.levels().get(d) < before.get(d)) {
            wrong.add("a reject took " + before.minus(quota.levels()) + " of " + id);
          }
        }
      }
    }
    levels = now;
  }
}
