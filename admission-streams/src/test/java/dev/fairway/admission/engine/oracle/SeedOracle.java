package dev.fairway.admission.engine.oracle;

import dev.fairway.admission.engine.oracle.SeedCall.Ask;
import dev.fairway.admission.engine.oracle.SeedCall.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The published rules, written down a second time and as plainly as they can be: lists that are
 * searched from end to end, exact fractions, no index and no fixed point. Answers are lines of
 * text.
 *
 * <p>What happens to several calls in the same millisecond and for the same reason (expiry,
 * deadline) has no published order; there the oracle follows the order that it is given.
 */
final class SeedOracle {
  private static final long REMEMBERED_MS = 600_000;
  private static final long TAG_KEPT_MS = 60_000;

  private final SeedRules rules;
  private final SeedBuckets buckets;
  private final SeedCharges charges;
  private final SeedResync resync;
  private final List<SeedCall> waiting = new ArrayList<>();
  private final List<SeedCall> leases = new ArrayList<>();
  private final Map<String, SeedCall> latest = new LinkedHashMap<>();
  private final Map<String, Rational> flows = new HashMap<>();
  private final Map<String, Integer> calls = new HashMap<>();
  private Rational virtualTime = Rational.ZERO;
  private Long cleanFromMs;
  private long holdUntilMs = Long.MIN_VALUE;
  private String holdReason = "";
  private int overloads;
  private long arrivals;
  private long nowMs;
  private List<String> told = new ArrayList<>();
  private List<String> order = List.of();
  private SeedCall placed;

  SeedOracle(SeedRules rules, long nowMs) {
    this.rules = rules;
    this.nowMs = nowMs;
    this.buckets = new SeedBuckets(rules, nowMs);
    this.charges = new SeedCharges(rules);
    this.resync = new SeedResync(rules, buckets, leases);
  }

  Map<String, Long> levels() {
    return buckets.whole();
  }

  int waiting() {
    return waiting.size();
  }

  int open() {
    return (int) leases.stream().filter(call -> call.state == State.OPEN).count();
  }

  /** When something happens by itself next; {@link Long#MAX_VALUE} if nothing does. */
  long nextDueMs() {
    long due = cleanFromMs == null ? Long.MAX_VALUE : cleanFromMs + rules.cleanIntervalMs();
    for (SeedCall call : leases) {
      due = call.state == State.OPEN ? Math.min(due, call.expiresAtMs) : due;
    }
    for (SeedCall call : waiting) {
      due = Math.min(due, call.deadlineMs);
    }
    SeedCall head = first();
    return head == null ? due : Math.min(due, goesAtMs(head));
  }

  private long goesAtMs(SeedCall head) {
    long goesMs = Math.max(nowMs, held() ? holdUntilMs : nowMs);
    Map<String, Long> charge = charges.charge(head.ask, nowMs);
    for (String d : rules.limits().keySet()) {
      Rational need = buckets.need(d, charge.get(d)).max(Rational.ZERO);
      if (SeedBuckets.refills(d)) {
        goesMs = Math.max(goesMs, nowMs + buckets.msUntil(d, need));
      } else if (buckets.level(d).compareTo(need) < 0) {
        return Long.MAX_VALUE;
      }
    }
    return goesMs;
  }

  /** Whether a command turned on what the rules leave open, see {@link SeedResync#leftOpen}. */
  boolean leftOpen() {
    return resync.leftOpen();
  }

  // ---- commands

  /** Time passed. */
  List<String> tick(long atMs, List<String> given) {
    begin(atMs, given);
    leases.stream()
        .filter(call -> call.state == State.OPEN && call.expiresAtMs <= nowMs)
        .sorted(
            Comparator.comparingLong((SeedCall call) -> call.expiresAtMs).thenComparing(given()))
        .forEach(this::expire);
    while (cleanFromMs != null && cleanFromMs + rules.cleanIntervalMs() <= nowMs) {
      Rational from = buckets.margin();
      buckets.margin(from.plus(SeedRules.CREEP).min(SeedRules.START));
      cleanFromMs =
          buckets.margin().compareTo(SeedRules.START) < 0
              ? (Long) (cleanFromMs + rules.cleanIntervalMs())
              : null;
      told.add("margin " + from + " -> " + buckets.margin());
    }
    drain();
    List.copyOf(waiting).stream()
        .filter(call -> call.deadlineMs <= nowMs)
        .sorted(Comparator.comparingLong((SeedCall call) -> call.deadlineMs).thenComparing(given()))
        .forEach(this::departAtDeadline);
    return told;
  }

  private void expire(SeedCall call) {
    call.state = State.EXPIRED;
    call.endedAtMs = nowMs;
    freeSlot();
    told.add("expired " + call.name());
  }

  /** A request. */
  List<String> request(Ask ask, long atMs, List<String> given) {
    begin(atMs, given);
    SeedCall known = known(ask);
    if (known != null) {
      repeat(known);
    } else if (ask.task() != null && calls.getOrDefault(ask.task(), 0) >= rules.callsPerTask()) {
      reject(ask, "BUDGET_SPENT", null, null);
    } else if (held() && holdReason.equals("QUOTA_EXHAUSTED")) {
      reject(
          ask,
          "QUOTA_EXHAUSTED",
          holdUntilMs == Long.MAX_VALUE ? null : notAtOnce(holdUntilMs),
          null);
    } else {
      admit(ask);
    }
    return told;
  }

  private SeedCall known(Ask ask) {
    SeedCall call = latest.get(ask.agent() + "/" + ask.id());
    boolean ended = call != null && call.state != State.WAITING && call.state != State.OPEN;
    return call == null || (ended && nowMs >= call.endedAtMs + REMEMBERED_MS) ? null : call;
  }

  private void repeat(SeedCall call) {
    if (call.state == State.CANCELLED && call.cancelCameFirst) {
      told.add("ignored " + call.name());
    } else {
      // Whoever left the queue is answered as whoever ended a lease.
      State ended = call.state == State.CANCELLED ? State.SETTLED : call.state;
      told.add("repeated " + call.name() + " " + ended);
    }
  }

  private void admit(Ask ask) {
    Map<String, Long> charge = charges.charge(ask, nowMs);
    for (String d : rules.limits().keySet()) {
      if (charge.get(d) > Math.max(buckets.limit(d), buckets.depth(d))) {
        reject(ask, "NEVER_FITS", null, null);
        return;
      }
    }
    long longestMs = longestWaitMs(charge);
    long deadlineMs = ask.deadlineMs() != null ? ask.deadlineMs() : nowMs + 2 * longestMs;
    SeedCall call =
        new SeedCall(
            ask,
            1,
            arrivals,
            deadlineMs,
            charge,
            charges.cost(ask, nowMs),
            charges.weight(ask),
            startTag(ask));
    placed = call;
    if (deadlineMs < nowMs) {
      reject(ask, "DEADLINE_PASSED", null, null);
      return;
    }
    boolean goesNow = ahead(call).isEmpty() && !held() && buckets.fits(charge);
    long etaMs = etaMs(call);
    boolean full =
        waiting.size() >= rules.queueMax()
            || waiting.stream().filter(w -> w.ask.agent().equals(ask.agent())).count()
                >= rules.queueMaxPerAgent();
    if (!goesNow && full) {
      reject(ask, "QUEUE_FULL", notAtOnce(nowMs + etaMs), call);
    } else if (!goesNow && etaMs > longestMs) {
      reject(ask, "QUEUE_WAIT_TOO_LONG", nowMs + etaMs, call);
    } else {
      enqueue(call);
      drain();
      tellQueued(call);
    }
  }

  private void enqueue(SeedCall call) {
    SeedCall before =
        call.ask.retryOf() == null ? null : latest.get(call.ask.agent() + "/" + call.ask.retryOf());
    if (before != null) {
      before.tagKept = false;
    }
    arrivals++;
    waiting.add(call);
    latest.put(call.name(), call);
    Rational flow = flows.getOrDefault(call.ask.agent(), virtualTime).max(virtualTime);
    flows.put(call.ask.agent(), flow.max(call.finishTag()));
    countCall(call, 1);
  }

  private void tellQueued(SeedCall call) {
    if (call.state == State.WAITING) {
      told.add("queued " + call.name() + " #" + (ahead(call).size() + 1) + " in " + etaMs(call));
    }
  }

  /** Leaves the queue by its agent's wish. */
  List<String> cancel(String agent, String id, long atMs, List<String> given) {
    begin(atMs, given);
    Ask nobody = new Ask(agent, id, null, "", null, 0, null, null, 0, null, null, null);
    SeedCall call = known(nobody);
    if (call == null) {
      SeedCall early =
          new SeedCall(nobody, 1, 0, 0, Map.of(), Rational.ZERO, Rational.of(1), Rational.ZERO);
      early.state = State.CANCELLED;
      early.cancelCameFirst = true;
      early.endedAtMs = nowMs;
      latest.put(early.name(), early);
      told.add("cancelled " + early.name());
    } else if (call.state == State.WAITING) {
      leave(call, State.CANCELLED);
      told.add("cancelled " + call.name());
      drain();
    } else if (call.state == State.OPEN) {
      settle(call, "NOT_SENT", null, null, false, null);
    } else {
      told.add("nothing");
    }
    return told;
  }

  /** A call made without a lease. */
  List<String> unleased(String agent, String id, long input, long output, long atMs) {
    begin(atMs, List.of());
    Ask ask = new Ask(agent, id, null, "", null, 0, null, null, 0, null, null, null);
    if (known(ask) != null) {
      told.add("nothing");
      return told;
    }
    Map<String, Long> charge = new LinkedHashMap<>(charges.amounts(input, output));
    charge.computeIfPresent(SeedRules.CONCURRENCY, (d, slots) -> 0L);
    charge.forEach(buckets::charge);
    SeedCall done =
        new SeedCall(ask, 1, 0, 0, Map.of(), Rational.ZERO, Rational.of(1), Rational.ZERO);
    done.state = State.SETTLED;
    done.endedAtMs = nowMs;
    latest.put(done.name(), done);
    told.add("unleased " + done.name() + " " + charge);
    return told;
  }

  /**
   * A settlement.
   *
   * @param attempt which lease of the request
   * @param input counted input, or null if unknown
   * @param output output, or null if unknown
   */
  List<String> settle(
      String agent,
      String id,
      int attempt,
      String outcome,
      Long input,
      Long output,
      boolean requeue,
      SeedSignal signal,
      long atMs,
      List<String> given) {
    begin(atMs, given);
    SeedCall call =
        leases.stream()
            .filter(lease -> lease.ask.agent().equals(agent) && lease.ask.id().equals(id))
            .filter(lease -> lease.attempt == attempt)
            .reduce((first, second) -> second)
            .orElse(null);
    if (call == null || call.state != State.OPEN) {
      // The seed settles nothing late, and nothing twice.
      told.add("nothing");
    } else if (outcome.equals("IN_PROGRESS")) {
      renew(call, input, signal);
    } else {
      settle(call, outcome, input, output, requeue, signal);
    }
    return told;
  }

  private void renew(SeedCall call, Long input, SeedSignal signal) {
    Map<String, Long> moved = new LinkedHashMap<>();
    if (!call.inputKnown && input != null) {
      call.inputKnown = true;
      moved = move(call, charges.amounts(input, charges.output(call.ask)));
    }
    call.expiresAtMs = Math.max(call.expiresAtMs, nowMs + rules.leaseTtlMs());
    told.add("renewed " + call.name() + " " + moved + " until " + call.expiresAtMs);
    resync.apply(call, signal, nowMs, told);
    drain();
  }

  private void settle(
      SeedCall call, String outcome, Long input, Long output, boolean requeue, SeedSignal signal) {
    Map<String, Long> actual = charges.actual(call, outcome, input, output);
    Rational actualCost =
        input == null
            ? call.cost
            : Rational.of(
                Math.max(1, input + (output != null ? output : charges.output(call.ask))));
    boolean unused = outcome.equals("NOT_SENT") || outcome.equals("RATE_LIMITED");
    told.add("settled " + call.name() + " " + outcome + " " + move(call, actual));
    call.state = State.SETTLED;
    call.endedAtMs = nowMs;
    call.charged = actual;
    freeSlot();
    shift(
        call.ask.agent(),
        call.length(unused ? Rational.ZERO : actualCost).minus(call.length(call.cost)));
    if (outcome.equals("NOT_SENT")) {
      countCall(call, -1);
    }
    overloads = outcome.equals("SUCCEEDED") ? 0 : overloads;
    if (outcome.equals("RATE_LIMITED")) {
      cut();
    }
    resync.apply(call, signal, nowMs, told);
    hold(outcome, signal);
    SeedCall again = outcome.equals("RATE_LIMITED") && requeue ? requeued(call) : null;
    drain();
    if (again != null) {
      tellQueued(again);
    }
  }

  private Map<String, Long> move(SeedCall call, Map<String, Long> actual) {
    Map<String, Long> moved = new LinkedHashMap<>();
    Map<String, Long> left = new LinkedHashMap<>(call.charged);
    for (String d : rules.limits().keySet()) {
      if (SeedBuckets.refills(d)) {
        long difference = resync.absorbed(d, call) ? 0 : call.charged.get(d) - actual.get(d);
        buckets.adjust(d, difference);
        moved.put(d, difference);
        left.put(d, left.get(d) - difference);
      }
    }
    call.charged = left;
    return moved;
  }

  private void cut() {
    Rational from = buckets.margin();
    cleanFromMs = nowMs;
    buckets.margin(from.minus(SeedRules.CUT).max(SeedRules.FLOOR));
    told.add("margin " + from + " -> " + buckets.margin());
  }

  private void hold(String outcome, SeedSignal signal) {
    Long waitMs = signal == null ? null : signal.retryAfterMs();
    if (outcome.equals("OVERLOADED")) {
      long pauseMs = Math.min(30_000, 1_000L << Math.min(overloads, 10));
      holdFor("OVERLOADED", waitMs == null ? pauseMs : Math.max(pauseMs, waitMs));
    } else if (outcome.equals("RATE_LIMITED")) {
      holdFor("RATE_LIMITED", waitMs != null && waitMs > 0 ? waitMs : 1000);
    }
  }

  private void holdFor(String reason, long waitMs) {
    long untilMs = nowMs + waitMs;
    if (!held() || untilMs > holdUntilMs) {
      holdReason = waitMs > rules.maxQueueWaitMs() ? "QUOTA_EXHAUSTED" : reason;
      holdUntilMs = untilMs;
      overloads += holdReason.equals("OVERLOADED") ? 1 : 0;
      told.add("held " + holdReason + " until " + holdUntilMs);
    }
  }

  private boolean held() {
    return holdUntilMs > nowMs;
  }

  /** The same call again: next attempt, same start tag, same deadline. */
  private SeedCall requeued(SeedCall call) {
    if (call.ask.task() != null && calls.getOrDefault(call.ask.task(), 0) >= rules.callsPerTask()) {
      reject(call.ask, "BUDGET_SPENT", null, null);
      return null;
    }
    SeedCall again =
        new SeedCall(
            call.ask,
            call.attempt + 1,
            arrivals,
            call.deadlineMs,
            charges.charge(call.ask, nowMs),
            call.cost,
            call.weight,
            call.startTag);
    placed = again;
    enqueue(again);
    return again;
  }

  // ---- order

  private SeedCall first() {
    return waiting.stream().min(order()).orElse(null);
  }

  private Comparator<SeedCall> given() {
    return Comparator.comparingInt((SeedCall call) -> order.indexOf(call.name()));
  }

  /**
   * Whether two waiting calls, or a call that was just placed and a waiting one, are closer to each
   * other than {@code tolerance} tokens, so that who rounds tags may serve them in either order.
   */
  boolean ambiguous(Rational tolerance) {
    List<SeedCall> calls = new ArrayList<>(waiting);
    if (placed != null && placed.state != State.WAITING) {
      calls.add(placed);
    }
    for (SeedCall one : calls) {
      for (SeedCall other : calls) {
        Rational distance = one.finishTag().minus(other.finishTag());
        boolean alike =
            one.startTag.equals(other.startTag)
                && one.cost.equals(other.cost)
                && one.weight.equals(other.weight);
        if (one != other
            && !alike
            && distance.compareTo(Rational.ZERO) >= 0
            && distance.compareTo(tolerance) < 0) {
          return true;
        }
      }
    }
    return false;
  }

  private static Comparator<SeedCall> order() {
    return Comparator.comparing(SeedCall::finishTag).thenComparing((SeedCall call) -> call.arrival);
  }

  private List<SeedCall> ahead(SeedCall call) {
    return waiting.stream().filter(other -> order().compare(other, call) < 0).toList();
  }

  private void drain() {
    // A wait that nobody is promised is not waited for, not even by who waits already.
    while (held() && holdReason.equals("QUOTA_EXHAUSTED") && !waiting.isEmpty()) {
      SeedCall refused = first();
      leave(refused, State.REJECTED);
      refused.retryAtMs = notAtOnce(holdUntilMs);
      refused.tagKept = true;
      told.add("rejected " + refused.name() + " QUOTA_EXHAUSTED " + refused.retryAtMs);
    }
    SeedCall head = first();
    while (head != null && !held()) {
      Map<String, Long> charge = charges.charge(head.ask, nowMs);
      if (head.deadlineMs < nowMs) {
        departAtDeadline(head);
      } else if (neverFits(charge)) {
        leave(head, State.REJECTED);
        head.tagKept = false;
        told.add("rejected " + head.name() + " NEVER_FITS null");
      } else if (buckets.fits(charge)) {
        grant(head, charge);
      } else {
        return;
      }
      head = first();
    }
  }

  private boolean neverFits(Map<String, Long> charge) {
    return rules.limits().keySet().stream()
        .anyMatch(d -> charge.get(d) > Math.max(buckets.limit(d), buckets.depth(d)));
  }

  private void grant(SeedCall call, Map<String, Long> charge) {
    waiting.remove(call);
    leases.add(call);
    charge.forEach(buckets::charge);
    virtualTime = virtualTime.max(call.finishTag());
    flows.values().removeIf(tag -> tag.compareTo(virtualTime) <= 0);
    call.state = State.OPEN;
    call.charged = charge;
    call.grantedAtMs = nowMs;
    call.expiresAtMs = nowMs + rules.leaseTtlMs();
    told.add("granted " + call.name() + " " + charge + " until " + call.expiresAtMs);
  }

  private void departAtDeadline(SeedCall call) {
    Long retryAtMs = notAtOnce(nowMs + etaMs(call));
    leave(call, State.REJECTED);
    call.retryAtMs = retryAtMs;
    call.tagKept = true;
    told.add("rejected " + call.name() + " DEADLINE_PASSED " + retryAtMs);
  }

  /**
   * Of a reject, policy.md publishes the time only where the ETA is too long; for the others it
   * leaves open when to come back. Not within a second: a slot or an operator adds no ETA.
   */
  private Long notAtOnce(long retryAtMs) {
    return Math.max(retryAtMs, nowMs + 1_000);
  }

  private void leave(SeedCall call, State state) {
    waiting.remove(call);
    call.state = state;
    call.endedAtMs = nowMs;
    shift(call.ask.agent(), Rational.ZERO.minus(call.length(call.cost)));
    countCall(call, -1);
  }

  /**
   * A call counts for its task while it waits, too: else a task could queue up more than it may.
   */
  private void countCall(SeedCall call, int by) {
    if (call.ask.task() != null) {
      calls.merge(call.ask.task(), by, Integer::sum);
    }
  }

  private void shift(String agent, Rational by) {
    if (by.compareTo(Rational.ZERO) != 0) {
      Rational tag = flows.getOrDefault(agent, virtualTime).max(virtualTime).plus(by);
      flows.remove(agent);
      if (tag.compareTo(virtualTime) > 0) {
        flows.put(agent, tag);
      }
    }
  }

  private Rational startTag(Ask ask) {
    SeedCall before = ask.retryOf() == null ? null : latest.get(ask.agent() + "/" + ask.retryOf());
    boolean kept =
        before != null
            && before.state == State.REJECTED
            && before.tagKept
            && before.retryAtMs != null
            && nowMs <= before.retryAtMs + TAG_KEPT_MS
            && nowMs < before.endedAtMs + REMEMBERED_MS;
    return kept ? before.startTag : flows.getOrDefault(ask.agent(), virtualTime).max(virtualTime);
  }

  // ---- waits

  private long etaMs(SeedCall call) {
    long etaMs = held() ? holdUntilMs - nowMs : 0;
    List<SeedCall> ahead = ahead(call);
    for (String d : rules.limits().keySet()) {
      if (SeedBuckets.refills(d)) {
        long sum = ahead.stream().mapToLong(other -> other.estimate.get(d)).sum();
        Rational needed = Rational.of(sum).plus(buckets.need(d, call.estimate.get(d)));
        etaMs = Math.max(etaMs, buckets.msUntil(d, needed));
      }
    }
    return etaMs;
  }

  private long longestWaitMs(Map<String, Long> charge) {
    long longestMs = rules.maxQueueWaitMs();
    for (String d : rules.limits().keySet()) {
      if (SeedBuckets.refills(d)) {
        long refillMs = Rational.of(charge.get(d)).over(buckets.ratePerMs(d)).ceiling();
        longestMs = Math.max(longestMs, 2 * refillMs);
      }
    }
    return longestMs;
  }

  // ---- what is common

  private void begin(long atMs, List<String> given) {
    nowMs = Math.max(nowMs, atMs);
    told = new ArrayList<>();
    placed = null;
    order = given;
    buckets.advance(nowMs);
  }

  private void freeSlot() {
    if (rules.limits().containsKey(SeedRules.CONCURRENCY)) {
      buckets.charge(SeedRules.CONCURRENCY, -1);
    }
  }

  private void reject(Ask ask, String reason, Long retryAtMs, SeedCall call) {
    SeedCall rejected =
        call != null
            ? call
            : new SeedCall(ask, 1, 0, 0, Map.of(), Rational.ZERO, Rational.of(1), Rational.ZERO);
    rejected.state = State.REJECTED;
    rejected.endedAtMs = nowMs;
    rejected.retryAtMs = retryAtMs;
    rejected.tagKept = call != null;
    latest.put(rejected.name(), rejected);
    told.add("rejected " + rejected.name() + " " + reason + " " + retryAtMs);
  }
}
