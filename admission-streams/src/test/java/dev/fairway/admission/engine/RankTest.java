package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.ask;
import static dev.fairway.admission.engine.OrderContext.granted;
import static dev.fairway.admission.engine.OrderContext.quota;
import static dev.fairway.admission.engine.OrderContext.rejected;
import static dev.fairway.admission.engine.OrderContext.waiter;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.CacheClaimChecked;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.Reweighting;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.Settlement.Outcome;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Attempts, budgets, the task graph, siblings, the cache bump, and what does not pay. */
class RankTest {

  private static void fail(EngineContext context, String id, String agent, String task) {
    LeaseGranted lease = only(ask(id, agent, 0).task(task).of(context), LeaseGranted.class);
    context.settle(lease.leaseId(), agent, Outcome.FAILED_AFTER_SEND, null, null);
  }

  private static List<Event> task(
      EngineContext context, String id, TaskUpdate.State state, String... blockedOn) {
    return context.submit(
        new Command.UpdateTask(
            new TaskUpdate(id, null, "worker", null, state, List.of(blockedOn))));
  }

  @Test
  void shouldWeighAllThatWaitOfATaskAnewWhenOthersWaitForIt() {
    // given: more than one command may tell of
    EngineContext context = quota().start();
    context.restoring = false;
    for (int i = 0; i < 450; i++) {
      ask("t" + i, "a" + i % 9, 1_000).task("T").of(context);
    }
    for (int i = 0; i < 150; i++) {
      ask("s" + i, "a" + i % 9, 1_000).task("S").of(context);
    }

    // when
    List<Event> all = task(context, "U", TaskUpdate.State.BLOCKED, "S");
    List<Event> most = task(context, "V", TaskUpdate.State.BLOCKED, "T");

    // then: those that go first, where not all can be
    assertThat(reweighted(all)).hasSize(150);
    assertThat(reweighted(most)).hasSize(TaskHandler.MAX_REWEIGHTED).startsWith("t0");
    assertThat(waiter(context, "t449").weightMilli()).isEqualTo(1000);
  }

  private static List<String> reweighted(List<Event> events) {
    return events.stream()
        .filter(WaiterReweighted.class::isInstance)
        .map(e -> ((WaiterReweighted) e).requestId())
        .toList();
  }

  // ---- attempts and budgets

  @Test
  void shouldHalveTheWeightOfARetry() {
    // given
    EngineContext context = quota().start();
    fail(context, "r1", "a", "T");

    // when
    ask("r2", "a", 500).task("T").retryOf("r1").of(context);

    // then
    assertThat(waiter(context, "r2").attempt()).isEqualTo(2);
    assertThat(waiter(context, "r2").weightMilli()).isEqualTo(500);
  }

  @Test
  void shouldTakeComingBackAfterARejectForTheFirstAttempt() {
    // given: full up
    EngineContext context = quota().budgets(0, null, null).start();
    QuotaDefinition strict = quota().budgets(0, null, null).definition();
    LeaseRequest tooLate = tooLate(context, strict);

    // when
    Event.LeaseRejected first = rejected(context.ask(tooLate));
    context.sleep(1_995);
    List<Event> again = ask("r2", "w", 10).retryOf("r1").of(context);

    // then: no retry is allowed at all, and yet it is let in
    assertThat(first.keptTag()).isNotNull();
    assertThat(only(again, LeaseGranted.class).attempt()).isEqualTo(1);
  }

  /** A request that waits longer than the quota promises for so little. */
  private static LeaseRequest tooLate(EngineContext context, QuotaDefinition d) {
    context.submit(
        new Command.DefineQuota(
            Redefined.like(d).maxQueueWaitMs(0L).definition(), EngineContext.SALT));
    for (int i = 0; i < 3; i++) {
      ask("w" + i, "w", 1_000).of(context);
    }
    return EngineContext.request("r1", "w", 10, 0);
  }

  @Test
  void shouldRejectATasksThirteenthRetry() {
    // given
    EngineContext context = quota().budgets(null, null, 1.0).start();
    fail(context, "r0", "a", "T");
    for (int i = 1; i <= 12; i++) {
      LeaseGranted lease =
          only(
              ask("r" + i, "a", 0).task("T").retryOf("r" + (i - 1)).of(context),
              LeaseGranted.class);
      context.settle(lease.leaseId(), "a", Outcome.OVERLOADED, null, null);
      context.sleep(31_000);
    }

    // when
    LeaseRejected rejected = rejected(ask("r13", "a", 0).task("T").retryOf("r12").of(context));

    // then
    assertThat(rejected.reason()).isEqualTo(RejectReason.BUDGET_SPENT);
    assertThat(rejected.detail()).contains("'T'").contains("12");
    assertThat(rejected.retryAtMs()).isNull();
  }

  @Test
  void shouldCountRetriesWithoutATaskPerAgentAndRollingHour() {
    // given
    EngineContext context = quota().budgets(2, null, 1.0).start();
    for (int i = 0; i < 3; i++) {
      fail(context, "f" + i, "a", null);
      if (i < 2) {
        only(ask("r" + i, "a", 0).retryOf("f" + i).of(context), LeaseGranted.class);
      }
    }
    long firstAtMs = context.nowMs;

    // when
    LeaseRejected rejected = rejected(ask("r2", "a", 0).retryOf("f2").of(context));

    // then
    assertThat(rejected.reason()).isEqualTo(RejectReason.BUDGET_SPENT);
    assertThat(rejected.retryAtMs()).isEqualTo(firstAtMs + 3_600_000);
    context.sleep(3_600_000);
    only(ask("r3", "a", 0).retryOf("f2").of(context), LeaseGranted.class);
  }

  @Test
  void shouldBoundTheShareOfRetriesAboveAFloorOfTen() {
    // given: 36 calls this minute, all failed
    EngineContext context = quota().start();
    IntStream.range(0, 36).forEach(i -> fail(context, "f" + i, "a" + i, "T" + i));

    // when
    List<RejectReason> reasons =
        IntStream.range(0, 17)
            .mapToObj(i -> ask("r" + i, "a" + i, 0).task("T" + i).retryOf("f" + i).of(context))
            .flatMap(List::stream)
            .filter(LeaseRejected.class::isInstance)
            .map(e -> ((LeaseRejected) e).reason())
            .toList();

    // then: ten, and a tenth of the 50 calls
    assertThat(reasons).containsExactly(RejectReason.BUDGET_SPENT, RejectReason.BUDGET_SPENT);
  }

  // ---- tasks

  @Test
  void shouldWeighALiveTaskGraphForWhoAlreadyWaits() {
    // given
    EngineContext context = quota().start();
    ask("r1", "a", 1_000).task("T").of(context);
    ask("r2", "b", 900).task("U").of(context);

    // when: two tasks come to wait for T, one of them through the other
    List<Event> one = task(context, "V", TaskUpdate.State.BLOCKED, "T");
    List<Event> two = task(context, "W", TaskUpdate.State.BLOCKED, "V");

    // then
    assertThat(only(one, WaiterReweighted.class).weightMilli()).isEqualTo(1_500);
    assertThat(only(two, WaiterReweighted.class).weightMilli()).isEqualTo(2_000);
    assertThat(granted(context.sleep(2_000))).containsExactly("r1", "r2");
  }

  @Test
  void shouldForgetWhoWaitsWhenItGoesOn() {
    // given
    EngineContext context = quota().start();
    ask("r1", "a", 1_000).task("T").of(context);
    task(context, "V", TaskUpdate.State.BLOCKED, "T");

    // when
    List<Event> events = task(context, "V", TaskUpdate.State.UNBLOCKED);

    // then
    assertThat(only(events, WaiterReweighted.class).weightMilli()).isEqualTo(1_000);
  }

  @Test
  void shouldTakeAClaimOfUnblocksOnlyWhereTheGraphKnowsNothing() {
    // given
    EngineContext context = quota().start();
    task(context, "T", TaskUpdate.State.STARTED);

    // when
    ask("known", "a", 1_000).task("T").unblocks(30).of(context);
    ask("unknown", "b", 1_000).task("X").unblocks(900).of(context);

    // then
    assertThat(waiter(context, "known").weightMilli()).isEqualTo(1_000);
    assertThat(waiter(context, "unknown").weightMilli()).isEqualTo(17_000);
  }

  @Test
  void shouldWeighATaskWithMoreWorkLeftThanItsSiblings() {
    // given: a task of a planner takes ten calls of 10 tokens, each of four of a worker one
    EngineContext context = quota().full().start();
    finish(context, "planner", "L", 10);
    for (int i = 0; i < 4; i++) {
      finish(context, "worker", "L" + i, 1);
    }
    only(ask("first", "y", 58_000).of(context), LeaseGranted.class);
    ask("p", "p", 20_000).role("planner").task("P").of(context);
    ask("w", "w", 20_000).role("worker").task("W").of(context);

    // when: both unblock M
    task(context, "M", TaskUpdate.State.BLOCKED, "P", "W");

    // then: 9 calls left against 1 is clamped to 4, and 1 against 9 to 1/2
    assertThat(waiter(context, "p").weightMilli()).isEqualTo(3_000 * 3 / 2 * 4);
    assertThat(waiter(context, "w").weightMilli()).isEqualTo(1_000 * 3 / 2 / 2);
  }

  /** A task that makes so many calls of 10 tokens and is done. */
  private static void finish(EngineContext context, String role, String task, int calls) {
    for (int i = 0; i < calls; i++) {
      LeaseGranted lease =
          only(ask(role + task + i, "x", 10).role(role).task(task).of(context), LeaseGranted.class);
      context.settle(lease.leaseId(), "x", Outcome.SUCCEEDED, 10L, 0L);
    }
    context.submit(
        new Command.UpdateTask(
            new TaskUpdate(task, null, role, null, TaskUpdate.State.DONE, List.of())));
  }

  @Test
  void shouldMoveUpOnceForACacheThatEndsSoon() {
    // given
    EngineContext context = quota().start();
    for (int i = 0; i < 20; i++) {
      ask("w" + i, "w" + i, 2_000).of(context);
    }
    ask("c", "c", 2_000).cached(3_000, context.nowMs + 50_000).of(context);

    // when
    List<WaiterReweighted> bumps =
        context.sleep(30_000).stream()
            .filter(WaiterReweighted.class::isInstance)
            .map(WaiterReweighted.class::cast)
            .toList();

    // then
    assertThat(bumps).hasSize(1);
    assertThat(bumps.get(0).reason()).isEqualTo(Reweighting.CACHE);
    assertThat(bumps.get(0).weightMilli()).isEqualTo(2_000);
  }

  @Test
  void shouldNotMoveUpWhoseCallsDoNotReadWhatTheyClaim() {
    // given: a call that claimed 3,000 cached tokens in time
    EngineContext context = quota().start();
    ask("w", "w", 20_000).of(context);
    LeaseGranted first =
        only(
            ask("c0", "c", 0).cached(3_000, context.nowMs + 50_000).of(context),
            LeaseGranted.class);

    // when
    List<Event> unread = settleRead(context, first, 1_499L);

    // then
    assertThat(only(unread, CacheClaimChecked.class).believed()).isFalse();
    assertThat(bumps(context, "c1")).isZero();

    // when: a call reads what it claimed
    LeaseGranted second =
        only(
            ask("c2", "c", 0).cached(3_000, context.nowMs + 50_000).of(context),
            LeaseGranted.class);
    List<Event> read = settleRead(context, second, 1_500L);

    // then
    assertThat(only(read, CacheClaimChecked.class).believed()).isTrue();
    assertThat(bumps(context, "c3")).isEqualTo(1);
  }

  @Test
  void shouldTakeACallsWordForWhatItCannotShow() {
    // given: a cache that ended on the way, a call that failed, and one that told its reads before
    EngineContext context = quota().start();
    ask("w", "w", 20_000).of(context);
    LeaseGranted failed =
        only(
            ask("c0", "c", 0).cached(3_000, context.nowMs + 50_000).of(context),
            LeaseGranted.class);
    LeaseGranted streamed =
        only(
            ask("c1", "c", 0).cached(3_000, context.nowMs + 50_000).of(context),
            LeaseGranted.class);

    // when
    context.settle(failed.leaseId(), "c", Outcome.FAILED_AFTER_SEND, null, null);
    context.settle(
        streamed.leaseId(), "c", Outcome.IN_PROGRESS, 0L, null, s -> reading(s, 3_000L, null));
    List<Event> events = context.settle(streamed.leaseId(), "c", Outcome.SUCCEEDED, null, 10L);

    // then
    assertThat(events).noneMatch(CacheClaimChecked.class::isInstance);
    assertThat(bumps(context, "c2")).isEqualTo(1);
  }

  private static List<Event> settleRead(EngineContext context, LeaseGranted lease, Long read) {
    return context.settle(
        lease.leaseId(), "c", Outcome.SUCCEEDED, 0L, 0L, s -> reading(s, read, 0L));
  }

  private static Settlement reading(Settlement s, Long read, Long output) {
    return new Settlement(
        s.leaseId(),
        s.requestId(),
        s.agentId(),
        s.quotaId(),
        s.outcome(),
        new Settlement.Usage(0L, read, 0L, output, true),
        s.requeue(),
        s.signal());
  }

  /** How often a request behind others moves up for its cache. */
  private static long bumps(EngineContext context, String id) {
    for (int i = 0; i < 20; i++) {
      ask(id + "w" + i, "w" + i, 2_000).of(context);
    }
    ask(id, "c", 2_000).cached(3_000, context.nowMs + 50_000).of(context);
    return context.sleep(60_000).stream()
        .filter(e -> e instanceof WaiterReweighted w && w.requestId().equals(id))
        .count();
  }

  // ---- what does not pay

  @Test
  void shouldGainNothingByUnderEstimating() {
    // given: two agents make calls of 1,000, one says 100
    EngineContext context = quota().full().start();
    only(ask("first", "x", 58_000).of(context), LeaseGranted.class);

    // when
    int honest = 0;
    int liar = 0;
    for (int i = 0; i < 60; i++) {
      ask("h" + i, "h", 1_000).of(context);
      ask("l" + i, "l", 100).of(context);
    }
    for (int s = 0; s < 40; s++) {
      for (Event event : context.sleep(1_000)) {
        if (event instanceof LeaseGranted e) {
          honest += e.agentId().equals("h") ? 1 : 0;
          liar += e.agentId().equals("l") ? 1 : 0;
          context.settle(e.leaseId(), e.agentId(), Outcome.SUCCEEDED, 1_000L, 0L);
        }
      }
    }
    int inLine = liar;
    for (int s = 0; s < 40; s++) {
      ask("m" + s, "l", 100).of(context);
      for (Event event : context.sleep(1_000)) {
        if (event instanceof LeaseGranted e) {
          honest += e.agentId().equals("h") ? 1 : 0;
          liar += e.requestId().startsWith("m") ? 1 : 0;
          context.settle(e.leaseId(), e.agentId(), Outcome.SUCCEEDED, 1_000L, 0L);
        }
      }
    }

    // then: what it asks after it was found out starts far back
    assertThat(inLine).isGreaterThan(0);
    assertThat(liar - inLine).isZero();
    assertThat(honest).isGreaterThanOrEqualTo(20);
  }

  @Test
  void shouldGainNothingByHugeEstimates() {
    // given
    EngineContext context = quota().start();
    for (int i = 0; i < 10; i++) {
      ask("h" + i, "h", 1_000).of(context);
      ask("g" + i, "g", 10_000).of(context);
    }

    // when
    List<String> granted = granted(context.sleep(11_000));

    // then: it waits ten times as long for each
    assertThat(granted.stream().filter(id -> id.startsWith("g")).count()).isLessThanOrEqualTo(1);
    assertThat(granted.stream().filter(id -> id.startsWith("h")).count()).isGreaterThanOrEqualTo(1);
  }

  @Test
  void shouldGainNothingByFreshTaskIds() {
    // given: each retry comes under a task of its own, and says nothing of the call it repeats
    EngineContext context = quota().budgets(3, null, 1.0).start();
    fail(context, "r0", "a", "T");

    // when
    List<Event> last = List.of();
    for (int i = 1; i <= 7; i++) {
      last = ask("r" + i, "a", 0).task("T" + i).of(context);
      if (i < 7) {
        LeaseGranted lease = only(last, LeaseGranted.class);
        assertThat(lease.attempt()).isEqualTo(i + 1);
        context.settle(lease.leaseId(), "a", Outcome.FAILED_AFTER_SEND, null, null);
      }
    }

    // then: the three retries of the task, and as many of its agent
    assertThat(rejected(last).reason()).isEqualTo(RejectReason.BUDGET_SPENT);
  }

  @Test
  void shouldLetAnAgentGoOnAfterATaskThatIsOutOfRetries() {
    // given
    EngineContext context = quota().budgets(1, null, 1.0).start();
    fail(context, "r0", "a", "T");
    fail(context, "r1", "a", "T");
    rejected(ask("r2", "a", 0).task("T").retryOf("r1").of(context));

    // when
    LeaseGranted next = only(ask("n1", "a", 0).task("U").of(context), LeaseGranted.class);
    LeaseGranted after = only(ask("n2", "a", 0).task("V").of(context), LeaseGranted.class);

    // then: one call may be the retry of the one that failed, and is ranked so
    assertThat(next.attempt()).isEqualTo(3);
    assertThat(after.attempt()).isEqualTo(1);
  }

  @Test
  void shouldSayUntilWhenARequestIsTakenForARetry() {
    // given: the task's retries and its agent's are spent
    EngineContext context = quota().budgets(1, null, 1.0).start();
    fail(context, "r0", "a", "T");
    fail(context, "r1", "a", "T");
    fail(context, "r2", "a", "U");
    long failedAtMs = context.nowMs;
    context.sleep(5_000);

    // when
    LeaseRejected rejected = rejected(ask("n1", "a", 0).task("V").of(context));

    // then
    assertThat(rejected.reason()).isEqualTo(RejectReason.BUDGET_SPENT);
    assertThat(rejected.detail()).contains("without retry_of");
    assertThat(rejected.retryAtMs()).isEqualTo(failedAtMs + 600_000);
    context.sleep(rejected.retryAtMs() - context.nowMs);
    LeaseGranted back =
        only(ask("n2", "a", 0).task("V").retryOf("n1").of(context), LeaseGranted.class);
    assertThat(back.attempt()).isEqualTo(1);
  }

  @Test
  void shouldGainNothingByCallingARetryAFirstAttempt() {
    // given
    EngineContext context = quota().start();
    fail(context, "r1", "a", "T");

    // when: it leaves retry_of out, or names something else
    ask("r2", "a", 500).task("T").of(context);
    ask("r3", "b", 500).task("T").of(context);

    // then
    assertThat(waiter(context, "r2").attempt()).isEqualTo(2);
    assertThat(waiter(context, "r2").weightMilli()).isEqualTo(500);
    assertThat(waiter(context, "r3").attempt()).isEqualTo(1);
  }

  @Test
  void shouldGainNothingByClaimedRolesAndClasses() {
    // given
    Tenant workers =
        new Tenant(1, null, List.of("a"), List.of("worker"), List.of("batch"), 2, null);
    EngineContext context = quota().reserve(0.2).tenants(Map.of("workers", workers)).start();

    // when
    ask("r1", "a", 500).role("planner").interactive().unblocks(30).of(context);

    // then: the least weight that is configured, two downstream tasks, no reserve
    assertThat(waiter(context, "r1").weightMilli()).isEqualTo(2_000);
    assertThat(waiter(context, "r1").standing().leaseClass()).isEqualTo("batch");
  }
}
