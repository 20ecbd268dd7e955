package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What agents send, made of the numbers of an action. */
final class Drawn {
  static final List<String> QUOTAS = List.of("k/a", "k/b", "k/c", "k/o");
  static final String[] AGENTS = {"a1", "a2", "a3", "a4"};
  private static final String[] TENANTS = {"bounded", "plain", null, null, null};
  private static final String[] ROLES = {"planner", "reviewer", "worker", "stranger"};

  private Drawn() {}

  static LeaseRequest request(
      Action action, int number, LeaseRequest rejectedBefore, long nowMs, boolean exact) {
    boolean big = action.d() % 17 == 0;
    Long input = action.c() % 13 == 0 ? null : (Long) (long) (action.c() % (big ? 7000 : 400));
    Long output = action.d() % 5 == 0 ? null : (Long) (long) (action.d() % 300);
    if (action.a() % 3 == 0) {
      // Small against the buckets: may pass a head that waits.
      input = (long) (action.c() % 25);
      output = (long) (action.d() % 9);
    }
    boolean cached = !exact && action.a() % 7 == 0;
    return new LeaseRequest(
        "r" + number,
        rejectedBefore != null ? rejectedBefore.agentId() : AGENTS[action.a() % AGENTS.length],
        rejectedBefore != null ? rejectedBefore.quotaId() : QUOTAS.get(action.b() % QUOTAS.size()),
        action.c() % 3 == 0 ? "task-" + action.d() % 5 : null,
        ROLES[action.d() % ROLES.length],
        action.c() % 4 == 0 ? "interactive" : "batch",
        rejectedBefore != null ? rejectedBefore.requestId() : null,
        action.b() % 9 == 0 ? 3 : 0,
        action.b() % 6 == 0 ? (Integer) (action.c() % 40) : null,
        new LeaseRequest.Estimate(
            input, cached ? 150 : 0, cached ? (Long) (nowMs + 3000) : null, output, "test"),
        TENANTS[action.b() % TENANTS.length],
        action.a() % 10 == 0 ? (Long) (nowMs + action.c() % 9000) : null,
        null,
        null);
  }

  static Settlement.Usage usage(Action action, Outcome outcome) {
    if (outcome != Outcome.SUCCEEDED || action.c() % 10 == 0) {
      return null;
    }
    return new Settlement.Usage(
        (long) (action.c() % 500),
        7L,
        3L,
        action.d() % 8 == 0 ? null : (Long) (long) action.d() % 700,
        true);
  }

  static Signal signal(Action action) {
    Map<Dimension, Signal.Reading> limits = new HashMap<>();
    Dimension[] dimensions = {
      Dimension.INPUT_TOKENS, Dimension.OUTPUT_TOKENS, Dimension.TOKENS, Dimension.REQUESTS
    };
    for (int i = 0; i < dimensions.length; i++) {
      int number = action.d() >> i;
      if (number % 3 != 0) {
        // Mostly below the operators', sometimes far below what calls need.
        Long limit = number % 7 == 0 ? (Long) (60L + number % 2_500) : null;
        limits.put(
            dimensions[i], new Signal.Reading(limit, number % 31 == 0 ? -1L : number % 900, 500L));
      }
    }
    return new Signal(
        200,
        Signal.Kind.OK,
        null,
        null,
        (long) (action.b() % 400),
        action.b() % 5 == 0 ? null : (Long) (long) (action.c() % 2500),
        limits);
  }
}
