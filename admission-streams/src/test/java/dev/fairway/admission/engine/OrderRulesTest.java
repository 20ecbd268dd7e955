package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.ask;
import static dev.fairway.admission.engine.OrderContext.granted;
import static dev.fairway.admission.engine.OrderContext.quota;
import static dev.fairway.admission.engine.OrderContext.waiter;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.Reweighting;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Cost;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each rule of the order at work where it is on, and not where it is off, under both presets. */
class OrderRulesTest {

  private static EngineContext with(
      OrderContext.Quota quota, Preset preset, Rule rule, boolean on) {
    return EngineContext.with(
        Redefined.like(quota.definition()).preset(preset).rule(rule, on).definition());
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldCostTheDominantShareOrTheTokens(Preset preset) {
    assertThat(cost(preset, Cost.DOMINANT)).isEqualTo(1_000);
    assertThat(cost(preset, Cost.ESTIMATED_TOKENS)).isEqualTo(10);
  }

  /** Of a call of ten tokens that takes a sixtieth of its minute's requests. */
  private static long cost(Preset preset, Cost cost) {
    Amounts limits = OrderContext.LIMIT.with(Dimension.REQUESTS, 60);
    QuotaDefinition definition =
        Redefined.like(quota().limits(limits).definition()).preset(preset).cost(cost).definition();
    EngineContext context = EngineContext.with(definition);
    ask("first", "b", 59_000).of(context);
    ask("r1", "a", 10).of(context);
    return waiter(context, "r1").cost();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldReweighWhoWaitsByALiveTaskGraph(Preset preset) {
    assertThat(weightOnceWaitedFor(preset, true)).isEqualTo(1_500);
    assertThat(weightOnceWaitedFor(preset, false)).isEqualTo(1_000);
  }

  private static int weightOnceWaitedFor(Preset preset, boolean on) {
    EngineContext context = with(quota(), preset, Rule.TASK_GRAPH, on);
    ask("r1", "a", 1_000).task("T").of(context);
    task(context, "V", "T");
    return waiter(context, "r1").weightMilli();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldWeighASiblingWithMoreWorkLeft(Preset preset) {
    assertThat(weightOfALongTask(preset, true)).isEqualTo(4 * weightOfALongTask(preset, false));
  }

  /** A planner's task makes ten calls, and its sibling's one. */
  private static int weightOfALongTask(Preset preset, boolean on) {
    EngineContext context = with(quota().full(), preset, Rule.SIBLING_BALANCE, on);
    finish(context, "planner", "L", 10);
    for (int i = 0; i < 4; i++) {
      finish(context, "worker", "L" + i, 1);
    }
    only(ask("first", "y", 58_000).of(context), LeaseGranted.class);
    ask("w", "w", 20_000).role("worker").task("W").of(context);
    ask("p0", "p", 20_000).role("planner").task("P").of(context);
    task(context, "M", "P", "W");
    ask("p", "p", 20_000).role("planner").task("P").of(context);
    return waiter(context, "p").weightMilli();
  }

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

  private static void task(EngineContext context, String id, String... blockedOn) {
    context.submit(
        new Command.UpdateTask(
            new TaskUpdate(
                id, null, "worker", null, TaskUpdate.State.BLOCKED, List.of(blockedOn))));
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldHalveTheWeightOfAStepForEachFailure(Preset preset) {
    assertThat(weightAfterTwoFailures(preset, true)).isEqualTo(250);
    assertThat(weightAfterTwoFailures(preset, false)).isEqualTo(1_000);
  }

  private static int weightAfterTwoFailures(Preset preset, boolean on) {
    EngineContext context = with(quota(), preset, Rule.LOOP_DECAY, on);
    context.ask(
        new LeaseRequest(
            "r1",
            "a",
            EngineContext.QUOTA,
            null,
            "worker",
            "batch",
            null,
            2,
            null,
            new Estimate(500L, 0, null, 0L, ""),
            null,
            null,
            null,
            null));
    return waiter(context, "r1").weightMilli();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldMoveUpForACacheThatEndsSoon(Preset preset) {
    assertThat(bumps(preset, true)).isEqualTo(1);
    assertThat(bumps(preset, false)).isZero();
  }

  private static long bumps(Preset preset, boolean on) {
    EngineContext context = with(quota(), preset, Rule.CACHE_BUMP, on);
    for (int i = 0; i < 20; i++) {
      ask("w" + i, "w" + i, 2_000).of(context);
    }
    ask("c", "c", 2_000).cached(3_000, context.nowMs + 50_000).of(context);
    return context.sleep(30_000).stream()
        .filter(e -> e instanceof WaiterReweighted w && w.reason() == Reweighting.CACHE)
        .count();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldCountAttempts(Preset preset) {
    assertThat(attemptOfARetry(preset, true)).isEqualTo(2);
    assertThat(attemptOfARetry(preset, false)).isEqualTo(1);
  }

  private static int attemptOfARetry(Preset preset, boolean on) {
    EngineContext context = with(quota(), preset, Rule.COUNTED_ATTEMPTS, on);
    LeaseGranted lease = only(ask("r1", "a", 0).task("T").of(context), LeaseGranted.class);
    context.settle(lease.leaseId(), "a", Outcome.FAILED_AFTER_SEND, null, null);
    ask("r2", "a", 500).task("T").retryOf("r1").of(context);
    return waiter(context, "r2").attempt();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldBoundRetriesWhereAttemptsAreCounted(Preset preset) {
    assertThat(retriesTaken(preset, true)).isEqualTo(1);
    assertThat(retriesTaken(preset, false)).isEqualTo(3);
  }

  private static long retriesTaken(Preset preset, boolean on) {
    OrderContext.Quota quota = on ? quota().budgets(1, null, null) : quota();
    EngineContext context = with(quota, preset, Rule.COUNTED_ATTEMPTS, on);
    long taken = -1;
    for (int i = 0; i < 4; i++) {
      OrderContext.Ask call = ask("r" + i, "a", 0).task("T");
      List<Event> events = (i == 0 ? call : call.retryOf("r" + (i - 1))).of(context);
      for (Event event : events) {
        if (event instanceof LeaseGranted e) {
          taken++;
          context.settle(e.leaseId(), "a", Outcome.FAILED_AFTER_SEND, null, null);
        }
      }
    }
    return taken;
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldHalveTheWeightOfARetry(Preset preset) {
    assertThat(weightOfARequeuedCall(preset, true)).isEqualTo(500);
    assertThat(weightOfARequeuedCall(preset, false)).isEqualTo(1_000);
  }

  private static int weightOfARequeuedCall(Preset preset, boolean on) {
    EngineContext context = with(quota().full(), preset, Rule.RETRY_CLASS, on);
    LeaseGranted lease = only(ask("r1", "a", 500).of(context), LeaseGranted.class);
    context.settle(
        lease.leaseId(),
        "a",
        Outcome.RATE_LIMITED,
        null,
        null,
        s -> BreakerFixture.again(BreakerFixture.with(s, Kind.RATE_LIMITED, null)));
    return waiter(context, "r1").weightMilli();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldLetSmallRequestsPass(Preset preset) {
    assertThat(goesPastALargeOne(preset, true)).containsExactly("small");
    assertThat(goesPastALargeOne(preset, false)).isEmpty();
  }

  private static List<String> goesPastALargeOne(Preset preset, boolean on) {
    EngineContext context = with(quota(), preset, Rule.BACKFILL, on);
    context.sleep(10_000);
    ask("large", "a", 30_000).role("planner").unblocks(30).of(context);
    return granted(ask("small", "b", 1_000).of(context));
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldMoveALineWithItsTag(Preset preset) {
    assertThat(movedBy(preset, true)).isEqualTo(9_900_000);
    assertThat(movedBy(preset, false)).isZero();
  }

  /** How far who waits moves when a call of its agent turns out to have taken 9,900 more. */
  private static long movedBy(Preset preset, boolean on) {
    EngineContext context = with(quota().full(), preset, Rule.STRICT_PLACES, on);
    LeaseGranted lease = only(ask("r1", "a", 100).of(context), LeaseGranted.class);
    only(ask("big", "b", 58_900).of(context), LeaseGranted.class);
    ask("r2", "a", 1_000).of(context);
    long before = waiter(context, "r2").startTag();
    context.settle(lease.leaseId(), "a", Outcome.SUCCEEDED, 10_000L, 0L);
    return waiter(context, "r2").startTag() - before;
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldTellAWaitThroughAHold(Preset preset) {
    assertThat(etaInAHold(preset, true)).isBetween(60_000L, 80_000L);
    assertThat(etaInAHold(preset, false)).isBetween(35_000L, 50_000L);
  }

  /** Of the second of two large calls behind a hold of 20 s, at a bucket that is full. */
  private static long etaInAHold(Preset preset, boolean on) {
    EngineContext context = with(quota().full(), preset, Rule.EXACT_ETA, on);
    LeaseGranted lease = only(ask("r1", "a", 100).of(context), LeaseGranted.class);
    context.settle(
        lease.leaseId(),
        "a",
        Outcome.RATE_LIMITED,
        null,
        null,
        s -> BreakerFixture.with(s, Kind.RATE_LIMITED, 20_000L));
    ask("r2", "b", 50_000).of(context);
    return only(ask("r3", "c", 50_000).of(context), LeaseQueued.class).etaMs();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldKeepTheWeightOfAnOpenCallOnlyWhereNoRuleChangesIt(Preset preset) {
    // given: roles are weighed anew while a call is out
    EngineContext context =
        EngineContext.with(Redefined.like(quota().full().definition()).preset(preset).definition());
    LeaseGranted lease = only(ask("r1", "a", 500).of(context), LeaseGranted.class);
    QuotaDefinition heavier =
        Redefined.like(quota().full().definition())
            .preset(preset)
            .roles(Map.of("worker", 5.0))
            .definition();
    context.submit(new Command.DefineQuota(heavier, EngineContext.SALT));

    // when
    context.settle(
        lease.leaseId(),
        "a",
        Outcome.RATE_LIMITED,
        null,
        null,
        s -> BreakerFixture.again(BreakerFixture.with(s, Kind.RATE_LIMITED, null)));

    // then
    assertThat(waiter(context, "r1").weightMilli())
        .isEqualTo(preset == Preset.SEED ? 1_000 : 2_500);
  }
}
