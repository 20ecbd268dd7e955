package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.FixedPoint;
import dev.fairway.admission.engine.lease.Charges;
import dev.fairway.admission.engine.lease.Claims;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.queue.Weights;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A definition may change what calls cost in the fair queue, and what they weigh, of its own quota
 * and of those that take from it too. All that is compared is measured at the same limits: calls
 * that are out, so that their ends move tags by what they used beyond their estimates and not by
 * what changed meanwhile; and who waits, as if it had come in line at what it costs now.
 */
final class Remeasure {
  private static final Comparator<Waiter> IN_LINE =
      Comparator.comparingLong(Waiter::finishTag).thenComparingLong(Waiter::arrival);

  private final KeyState key;
  private final String quotaId;
  private final Amounts limitsBefore;

  /** Of each quota whose calls are measured anew, whether it was in a shared order. */
  private final Map<String, Boolean> shared = new LinkedHashMap<>();

  /** What calls that are out cost before, as far as they are known, by lease. */
  private final Map<String, Long> costs = new HashMap<>();

  /** What is to be known of the calls of a quota, and of its takers, before it is defined. */
  Remeasure(KeyState key, String quotaId) {
    this.key = key;
    this.quotaId = quotaId;
    QuotaState quota = key.quotas.get(quotaId);
    this.limitsBefore = quota == null ? null : quota.policy.limits();
    if (quota != null) {
      note(quota);
    }
    for (String taker : key.takers.getOrDefault(quotaId, KeyState.NOBODY)) {
      note(key.quotas.get(taker));
    }
  }

  private void note(QuotaState quota) {
    shared.put(quota.id(), quota.inSharedOrder());
    for (Lease lease : quota.leases.values()) {
      if (lease.status() != Lease.Status.SETTLED) {
        costs.put(lease.leaseId(), Charges.knownCost(quota, lease));
      }
    }
  }

  /**
   * Calls that are out, after the definition; where all tags begin anew, that is done already.
   *
   * @param anew whether they do in the quota itself
   */
  void calls(boolean anew) {
    shared.forEach(
        (id, before) -> {
          QuotaState quota = key.quotas.get(id);
          boolean done = anew && id.equals(quotaId);
          if (!done && quota.inSharedOrder() == before) {
            for (Lease lease : List.copyOf(quota.leases.values())) {
              calls(quota, lease);
            }
          }
        });
  }

  private void calls(QuotaState quota, Lease lease) {
    Long before = costs.get(lease.leaseId());
    long now = before == null ? 0 : Charges.knownCost(quota, lease);
    if (before != null && now != before) {
      long cost = FixedPoint.mulDiv(lease.cost(), now, before);
      long bounded = Math.max(1, Math.min(cost, FixedPoint.MAX_AMOUNT));
      LeaseApplier.replace(key, quota, lease, lease.costing(bounded));
    }
  }

  /** Who waits in quotas that take from this one too, if its limits changed. */
  void takers() {
    QuotaState defined = key.quotas.get(quotaId);
    if (defined.policy.limits().equals(limitsBefore)) {
      return;
    }
    for (QuotaState taker : key.takersOf(defined)) {
      boolean stays = shared.getOrDefault(taker.id(), false);
      if (stays && taker.waiting > 0) {
        Map<String, Long> ends = ends(taker);
        List<Waiter> waiting = takeOutAll(key, taker);
        putBack(key, taker, waiting, ends, false);
        key.touched.add(taker.id());
      }
    }
  }

  /** Where the heads of a quota's tenants end among the tenants. */
  static Map<String, Long> ends(QuotaState quota) {
    Map<String, Long> ends = new TreeMap<>();
    if (quota.policy.order().hasTenants()) {
      quota.order.tenants().forEach(t -> ends.put(t.name, quota.order.topTag(t.head())));
    }
    return ends;
  }

  /** Takes all out of line, in order of arrival. */
  static List<Waiter> takeOutAll(KeyState key, QuotaState quota) {
    List<Waiter> waiting = new ArrayList<>();
    for (TenantState tenant : quota.tenants.values()) {
      tenant.line.forEach(waiting::add);
    }
    waiting.sort(Comparator.comparingLong(Waiter::arrival));
    waiting.forEach(w -> LineApplier.dequeue(key, quota, w, KeyState.identityOf(w)));
    return waiting;
  }

  /**
   * In line again. Who stays in its tenant keeps its place; who comes under another tenant starts
   * there like a newcomer, behind what its agent has in that line.
   *
   * @param waiting in order of arrival
   * @param ends where the heads of tenants ended
   * @param anew whether all start like newcomers
   */
  static void putBack(
      KeyState key, QuotaState quota, List<Waiter> waiting, Map<String, Long> ends, boolean anew) {
    Map<List<String>, List<Waiter>> lines = new LinkedHashMap<>();
    List<Waiter> newcomers = new ArrayList<>();
    for (Waiter w : waiting) {
      String tenant = Claims.of(quota.policy.order(), w.request()).tenant();
      if (anew || !tenant.equals(w.standing().tenant())) {
        newcomers.add(w);
      } else {
        lines
            .computeIfAbsent(List.of(tenant, w.request().agentId()), line -> new ArrayList<>())
            .add(w);
      }
    }
    lines.forEach(
        (line, stays) -> {
          TenantState tenant = quota.tenant(line.get(0));
          if (tenant.line.size() == 0 && !ends.containsKey(tenant.name)) {
            LineApplier.startTurn(key, quota, tenant);
          }
          stay(key, quota, tenant, stays);
        });
    ends.forEach((name, end) -> keepTurn(key, quota, quota.tenant(name), end));
    for (Waiter w : newcomers) {
      Waiter again = measured(key, quota, w);
      String tenant = again.standing().tenant();
      long startTag = quota.startTag(tenant, w.request().agentId());
      LineApplier.putBack(key, quota, at(startTag, again), true);
    }
  }

  /**
   * What an agent has in one line. The first keeps its start, and what follows moves with its end,
   * as if all had come in line at what they cost now. What came back to a place from before the
   * first one's follows nobody. Where a call is shorter than it was, none ends before virtual time
   * that did not: its agent is next, and not next many times over.
   */
  private static void stay(KeyState key, QuotaState quota, TenantState tenant, List<Waiter> line) {
    line.sort(IN_LINE);
    Waiter first = line.get(0);
    String agent = first.request().agentId();
    long earliest = Long.MIN_VALUE;
    long shift = 0;
    for (Waiter w : line) {
      Waiter again = measured(key, quota, w);
      long length = Tags.length(again.cost(), again.weightMilli());
      boolean follows = w != first && w.startTag() >= first.startTag();
      long end = Math.min(tenant.virtualTime, w.finishTag());
      long startTag =
          follows
              ? Math.max(earliest, Amounts.saturatedAdd(w.startTag(), shift))
              : Math.max(w.startTag(), Amounts.saturatedSubtract(end, length));
      earliest = w == first ? startTag : earliest;
      Waiter placed = at(startTag, again);
      LineApplier.putBack(key, quota, placed, false);
      shift = Amounts.saturatedSubtract(placed.finishTag(), w.finishTag());
    }
    FlowTags.shiftTag(key, quota, tenant, agent, shift);
  }

  /** A tenant that waits keeps its start, by the same rule. */
  private static void keepTurn(KeyState key, QuotaState quota, TenantState tenant, long end) {
    if (tenant != null && tenant.head() != null && quota.policy.order().hasTenants()) {
      long due = Math.min(quota.topVirtualTime, end);
      long length = tenant.length(tenant.head().cost());
      tenant.tag = Math.max(tenant.tag, Amounts.saturatedSubtract(due, length));
      key.putTenant(quota, tenant);
    }
  }

  /** Under what is defined now, at the place where it was. */
  private static Waiter measured(KeyState key, QuotaState quota, Waiter w) {
    boolean cold = Charges.coldCache(quota.policy, w.request(), w.enqueuedAtMs());
    Standing standing =
        w.standing()
            .under(
                Claims.of(quota.policy.order(), w.request()),
                Charges.demand(w.request(), w.forecast(), quota.policy, cold));
    return w.placed(
        Charges.estimated(w.request(), w.forecast(), quota.policy, cold),
        Charges.estimatedCost(w.request(), w.forecast(), quota, cold),
        Weights.milli(key, quota, w.request(), standing, w.attempt()),
        w.startTag(),
        w.finishTag(),
        standing);
  }

  private static Waiter at(long startTag, Waiter w) {
    return w.placed(
        w.estimate(),
        w.cost(),
        w.weightMilli(),
        startTag,
        Tags.finish(startTag, w.cost(), w.weightMilli()),
        w.standing());
  }
}
