package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.ask;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.OrderContext.Ask;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.Settlement.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * What an agent says of itself gains it nothing. Four agents with more to do than the quota allows
 * share it for an hour; the same hour is run once with an honest first agent and once with a cheat.
 */
class GamingTest {
  private static final String CHEAT = "a1";
  private static final List<String> AGENTS = List.of(CHEAT, "a2", "a3", "a4");
  private static final long HOUR_MS = 3_600_000;
  private static final long CALL_MS = 4_000;
  private static final long TOKENS = 2_000;
  private static final int OPEN_PER_AGENT = 3;

  /** One hour is 450 calls an agent; a head start of what it has open is no gain. */
  private static final double NO_GAIN = 1.02;

  private static final UnaryOperator<Ask> HONEST = ask -> ask;

  @Test
  void shouldGainNothingByUnderEstimating() {
    assertThat(used(changed(TOKENS / 100))).isLessThan(used(HONEST) * NO_GAIN);
  }

  @Test
  void shouldGainNothingByABacklogQueuedAtFalseEstimates() {
    // given: all of it is in line before the first call shows what they really take
    UnaryOperator<Ask> small = changed(TOKENS / 20);
    UnaryOperator<Ask> half = changed(TOKENS / 2);

    // when
    double honest = new Fleet(Map.of(), HONEST, false, 200).run().usedBy(CHEAT);

    // then
    assertThat(new Fleet(Map.of(), small, false, 200).run().usedBy(CHEAT))
        .isLessThan(honest * NO_GAIN);
    assertThat(new Fleet(Map.of(), half, false, 200).run().usedBy(CHEAT))
        .isLessThan(honest * NO_GAIN);
  }

  @Test
  void shouldGainNothingByHugeEstimates() {
    // A whole bucket each time: it holds others up, and itself most.
    assertThat(used(changed(50_000))).isLessThan(used(HONEST) * NO_GAIN);
  }

  @Test
  void shouldGainNothingByFreshTaskIds() {
    // given
    UnaryOperator<Ask> sameTask = ask -> ask.task("t");
    UnaryOperator<Ask> freshTask = ask -> ask.task("t-" + ask.id());

    // when, then
    assertThat(used(freshTask)).isLessThan(used(sameTask) * NO_GAIN);
  }

  @Test
  void shouldGainNothingByClaimingARoleThatItsTenantMayNotHave() {
    // given
    Map<String, Tenant> tenants =
        Map.of(
            "fleet",
            new Tenant(1, null, List.of("a*"), List.of("worker"), List.of("batch"), 0, null));
    UnaryOperator<Ask> planner = ask -> ask.role("planner").interactive().unblocks(50);

    // when
    double honest = new Fleet(tenants, HONEST, false).run().usedBy(CHEAT);
    double cheating = new Fleet(tenants, planner, false).run().usedBy(CHEAT);

    // then
    assertThat(cheating).isLessThan(honest * NO_GAIN);
  }

  @Test
  void shouldServeAClaimedRoleMoreWhereNoTenantForbidsIt() {
    // The control: the claim is worth something, so that its clamp is.
    assertThat(used(ask -> ask.role("planner"))).isGreaterThan(used(HONEST) * 1.5);
  }

  @Test
  void shouldGainNothingBySendingRetriesAsFirstAttempts() {
    // given each call of the first agent fails
    UnaryOperator<Ask> named = ask -> ask.task("t");
    UnaryOperator<Ask> hidden = ask -> ask.task("t").retryOf(null);
    UnaryOperator<Ask> hiddenUnderFreshTasks = ask -> ask.task("t-" + ask.id()).retryOf(null);
    UnaryOperator<Ask> hiddenWithoutTask = ask -> ask.task(null).retryOf(null);

    // when
    long honest = failing(named);

    // then: its first calls, and twelve retries; under tasks of its own its agent's twelve besides
    assertThat(honest).isEqualTo(OPEN_PER_AGENT + 12);
    assertThat(failing(hidden)).isLessThanOrEqualTo(honest);
    assertThat(failing(hiddenUnderFreshTasks)).isLessThanOrEqualTo(OPEN_PER_AGENT * 13L + 12);
    assertThat(failing(hiddenWithoutTask)).isLessThanOrEqualTo(honest);
  }

  private static UnaryOperator<Ask> changed(long estimate) {
    return ask -> ask(ask.id(), ask.agent(), estimate);
  }

  private static double used(UnaryOperator<Ask> cheat) {
    return new Fleet(Map.of(), cheat, false).run().usedBy(CHEAT);
  }

  private static long failing(UnaryOperator<Ask> cheat) {
    return new Fleet(Map.of(), cheat, true).run().callsOf(CHEAT);
  }

  /** Agents that have always some calls open: who is answered asks again. */
  private static final class Fleet {
    private record Running(long endsAtMs, LeaseGranted lease) {}

    private final EngineContext context;
    private final UnaryOperator<Ask> cheat;
    private final boolean failing;
    private final int openOfCheat;
    private final PriorityQueue<Running> running =
        new PriorityQueue<>(
            (a, b) ->
                a.endsAtMs == b.endsAtMs
                    ? a.lease.requestId().compareTo(b.lease.requestId())
                    : Long.compare(a.endsAtMs, b.endsAtMs));
    private final Map<String, Long> used = new HashMap<>();
    private final Map<String, Long> calls = new HashMap<>();
    private final Set<String> stopped = new HashSet<>();
    private int seen;
    private int asked;

    Fleet(Map<String, Tenant> tenants, UnaryOperator<Ask> cheat, boolean failing) {
      this(tenants, cheat, failing, OPEN_PER_AGENT);
    }

    Fleet(Map<String, Tenant> tenants, UnaryOperator<Ask> cheat, boolean failing, int openOfCheat) {
      this.openOfCheat = openOfCheat;
      context = OrderContext.quota().tenants(tenants).start();
      context.restoring = false;
      this.cheat = cheat;
      this.failing = failing;
    }

    Fleet run() {
      long untilMs = context.nowMs + HOUR_MS;
      for (int i = 0; i < Math.max(OPEN_PER_AGENT, openOfCheat); i++) {
        for (String agent : AGENTS) {
          if (i < (agent.equals(CHEAT) ? openOfCheat : OPEN_PER_AGENT)) {
            request(agent, null);
          }
        }
      }
      while (context.nowMs < untilMs) {
        takeGrants();
        Running next = running.peek();
        long endsAtMs = next == null ? untilMs : next.endsAtMs;
        long dueMs = Math.min(endsAtMs, context.engine.nextDeadlineMs());
        context.sleep(Math.max(0, dueMs - context.nowMs));
        if (next != null && next.endsAtMs <= context.nowMs) {
          running.poll();
          end(next.lease);
        }
      }
      return this;
    }

    private void end(LeaseGranted lease) {
      String agent = lease.agentId();
      boolean fails = failing && agent.equals(CHEAT);
      calls.merge(agent, 1L, Long::sum);
      used.merge(agent, TOKENS, Long::sum);
      context.settle(
          lease.leaseId(),
          agent,
          fails ? Outcome.FAILED_AFTER_SEND : Outcome.SUCCEEDED,
          TOKENS,
          0L);
      request(agent, fails ? lease.requestId() : null);
    }

    private void request(String agent, String retryOf) {
      if (stopped.contains(agent)) {
        return;
      }
      Ask honest = ask("r" + asked++, agent, TOKENS).retryOf(retryOf);
      (agent.equals(CHEAT) ? cheat.apply(honest) : honest).of(context);
    }

    /** New grants run; whose retries are spent stops. */
    private void takeGrants() {
      List<Event> events = new ArrayList<>();
      for (; seen < context.journal.size(); seen++) {
        events.addAll(context.journal.get(seen).events());
      }
      for (Event event : events) {
        if (event instanceof LeaseGranted lease) {
          running.add(new Running(context.nowMs + CALL_MS, lease));
        } else if (event instanceof LeaseRejected rejected) {
          stopped.add(rejected.agentId());
        }
      }
    }

    double usedBy(String agent) {
      return used.getOrDefault(agent, 0L);
    }

    long callsOf(String agent) {
      return calls.getOrDefault(agent, 0L);
    }
  }
}
