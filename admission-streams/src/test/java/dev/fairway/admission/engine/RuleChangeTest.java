package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.SALT;
import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static dev.fairway.admission.engine.OrderContext.ask;
import static dev.fairway.admission.engine.OrderContext.granted;
import static dev.fairway.admission.engine.OrderContext.quota;
import static dev.fairway.admission.engine.OrderContext.waiter;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.RampStarted;
import dev.fairway.admission.engine.Event.Reweighting;
import dev.fairway.admission.engine.Event.WaiterReweighted;
import dev.fairway.admission.engine.QuotaDefinition.Cost;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.BreakerState.Phase;
import dev.fairway.admission.engine.breaker.Ramp;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rules that are switched while requests wait and leases are open. */
class RuleChangeTest {
  private static final QuotaDefinition OPENING =
      EngineContext.quota(tokens(60_000), tokens(59_000));

  private static List<Event> define(EngineContext context, Redefined definition) {
    return context.submit(new Command.DefineQuota(definition.definition(), SALT));
  }

  // ---- presets

  @Test
  void shouldResolvePresetsAndEachRuleByItself() {
    assertThat(RulePolicy.of(OPENING)).isEqualTo(RulePolicy.FAIRWAY);
    QuotaDefinition seed = Redefined.like(OPENING).preset(Preset.SEED).definition();
    assertThat(RulePolicy.of(seed)).isEqualTo(RulePolicy.SEED);
    for (Rule rule : Rule.values()) {
      RulePolicy without = RulePolicy.of(Redefined.like(OPENING).rule(rule, false).definition());
      RulePolicy with = RulePolicy.of(Redefined.like(seed).rule(rule, true).definition());
      for (Rule other : Rule.values()) {
        assertThat(without.has(other)).isEqualTo(other != rule);
        assertThat(with.has(other)).isEqualTo(other == rule || RulePolicy.SEED.has(other));
      }
    }
  }

  @Test
  void shouldMakeOnePresetOutOfTheOther() {
    // given
    Map<Rule, Boolean> all = new EnumMap<>(Rule.class);
    Map<Rule, Boolean> published = new EnumMap<>(Rule.class);
    for (Rule rule : Rule.values()) {
      all.put(rule, true);
      published.put(rule, RulePolicy.SEED.has(rule));
    }

    // when
    QuotaDefinition plain =
        Redefined.like(OPENING)
            .rules(new QuotaDefinition.Rules(Cost.ESTIMATED_TOKENS, published))
            .definition();
    QuotaDefinition full =
        Redefined.like(OPENING)
            .preset(Preset.SEED)
            .rules(new QuotaDefinition.Rules(Cost.DOMINANT, all))
            .definition();

    // then
    assertThat(RulePolicy.of(plain)).isEqualTo(RulePolicy.SEED);
    assertThat(RulePolicy.of(full)).isEqualTo(RulePolicy.FAIRWAY);
  }

  @Test
  void shouldFollowNoLargerLimitWherePlainRulesFollowLevels() {
    QuotaDefinition adaptive =
        EngineContext.quota(
            tokens(60_000), null, MarginModeName.ADAPTIVE, 1.0, Window.TOKEN_BUCKET);
    Redefined seed = Redefined.like(adaptive).preset(Preset.SEED);

    assertThat(RulePolicy.of(seed.definition()).has(Rule.OWN_LIMIT)).isTrue();
    assertThat(RulePolicy.of(seed.rule(Rule.OWN_LIMIT, false).definition()).has(Rule.OWN_LIMIT))
        .isFalse();
  }

  @Test
  void shouldRefuseBudgetsOfRetriesThatNobodyCounts() {
    // given
    QuotaDefinition budgets = quota().budgets(3, 7, 0.2).definition();

    // when
    List<String> uncounted =
        DefinitionRules.violations(
            Redefined.like(budgets).rule(Rule.COUNTED_ATTEMPTS, false).definition());

    // then
    assertThat(uncounted)
        .containsExactly(
            "budgets.retries_per_task: expected none where rules.counted_attempts is false, for no"
                + " retries are counted there, but found 3; leave one of the two out",
            "budgets.retry_share: expected none where rules.counted_attempts is false, for no"
                + " retries are counted there, but found 0.2; leave one of the two out");
    assertThat(DefinitionRules.violations(budgets)).isEmpty();
    assertThat(DefinitionRules.violations(Redefined.like(budgets).preset(Preset.SEED).definition()))
        .isEmpty();
  }

  // ---- after a 429

  @Test
  void shouldRampWhereABreakerIsSwitchedOffWhileItIsOpen() {
    // given
    EngineContext context = EngineContext.with(OPENING);
    backlogBehindABreaker(context);

    // when
    List<Event> off = define(context, Redefined.like(OPENING).rule(Rule.BREAKER, false));

    // then: no backlog at once
    assertThat(only(off, RampStarted.class).fromMs()).isEqualTo(context.show().holdUntilMs());
    assertThat(context.show().breaker().phase()).isEqualTo(Phase.CLOSED);
    assertThat(BreakerFixture.grants(context.sleep(2_000))).hasSizeBetween(1, 5);
  }

  @Test
  void shouldLetEverybodyGoWhereBreakerAndRampAreSwitchedOff() {
    // given
    EngineContext context = EngineContext.with(OPENING);
    backlogBehindABreaker(context);

    // when
    List<Event> off =
        define(
            context,
            Redefined.like(OPENING)
                .rule(Rule.BREAKER, false)
                .rule(Rule.RAMP, false)
                .rule(Rule.EPISODES, false));

    // then
    assertThat(off).noneMatch(RampStarted.class::isInstance);
    assertThat(context.show().breaker()).isEqualTo(BreakerState.NONE);
    assertThat(BreakerFixture.grants(context.sleep(1_000))).hasSize(40);
  }

  private static void backlogBehindABreaker(EngineContext context) {
    BreakerFixture.open(context);
    for (int i = 0; i < 40; i++) {
      context.ask("w" + i, "b" + i, 500);
    }
  }

  @Test
  void shouldEndARampThatIsSwitchedOffAndNoTrickle() {
    // given
    BreakerState ramp = BreakerState.NONE.with(Ramp.startingAt(5));
    BreakerState trickle = BreakerState.NONE.opened(2, 9, 7, false).trickling(8).paused(3);
    RulePolicy noRamp = RulePolicy.of(Redefined.like(OPENING).rule(Rule.RAMP, false).definition());
    RulePolicy noBreaker =
        RulePolicy.of(Redefined.like(OPENING).rule(Rule.BREAKER, false).definition());

    // then
    assertThat(ramp.under(noRamp)).isEqualTo(BreakerState.NONE);
    assertThat(ramp.under(noBreaker)).isEqualTo(ramp);
    assertThat(trickle.under(noRamp)).isEqualTo(trickle);
    assertThat(trickle.under(noBreaker)).isEqualTo(BreakerState.NONE.paused(3));
    assertThat(trickle.under(RulePolicy.SEED)).isEqualTo(BreakerState.NONE);
    assertThat(trickle.under(RulePolicy.FAIRWAY)).isEqualTo(trickle);
  }

  // ---- the order

  @Test
  void shouldCountWhatPassedBeforeBackfillWasSwitchedOffAndOn() {
    // given: a head of 30,000, past which 15,000 may go, 1,000 each
    EngineContext context = quota().start();
    context.sleep(25_000);
    ask("large", "a", 30_000).role("planner").unblocks(30).of(context);
    int first = passing(context, 0, 8);
    Redefined definition = Redefined.like(quota().definition());

    // when
    define(context, definition.rule(Rule.BACKFILL, false));
    final int off = passing(context, 8, 4);
    List<Event> on = define(context, definition.rule(Rule.BACKFILL, true));
    int again = granted(on).size() + passing(context, 12, 12);

    // then
    assertThat(first).isEqualTo(8);
    assertThat(off).isZero();
    assertThat(again).isEqualTo(7);
  }

  private static int passing(EngineContext context, int from, int calls) {
    int granted = 0;
    for (int i = from; i < from + calls; i++) {
      granted += granted(ask("s" + i, "s" + i, 1_000).of(context)).size();
    }
    return granted;
  }

  @Test
  void shouldWeighWhoWaitsByTheRulesThatAreInForceNow() {
    // given: one that moved up for its cache, and one whose task is waited for
    EngineContext context = quota().start();
    for (int i = 0; i < 20; i++) {
      ask("w" + i, "w" + i, 2_000).of(context);
    }
    ask("c", "c", 2_000).cached(3_000, context.nowMs + 50_000).of(context);
    ask("t", "t", 60_000).task("T").of(context);
    context.submit(
        new Command.UpdateTask(
            new TaskUpdate("V", null, null, null, TaskUpdate.State.BLOCKED, List.of("T"))));
    Redefined definition = Redefined.like(quota().definition());
    List<Event> events = List.of();
    for (int i = 0; i < 300 && events.stream().noneMatch(RuleChangeTest::isBump); i++) {
      events = context.sleep(100);
    }
    int bumped = waiter(context, "c").weightMilli();
    int waitedFor = waiter(context, "t").weightMilli();

    // when
    define(context, definition.rule(Rule.CACHE_BUMP, false).rule(Rule.TASK_GRAPH, false));
    int plainC = waiter(context, "c").weightMilli();
    int plainT = waiter(context, "t").weightMilli();
    define(context, definition.rule(Rule.CACHE_BUMP, true).rule(Rule.TASK_GRAPH, true));

    // then
    assertThat(List.of(bumped, waitedFor)).containsExactly(2_000, 1_500);
    assertThat(List.of(plainC, plainT)).containsExactly(1_000, 1_000);
    assertThat(waiter(context, "c").weightMilli()).isEqualTo(2_000);
    assertThat(waiter(context, "t").weightMilli()).isEqualTo(1_500);
  }

  private static boolean isBump(Event event) {
    return event instanceof WaiterReweighted e && e.reason() == Reweighting.CACHE;
  }

  @Test
  void shouldStartAnewWhereCallsCostSomethingElse() {
    // given: requests are limited alone; a's calls are large, and it has many in line
    OrderContext.Quota requests = quota().limits(Amounts.of(Dimension.REQUESTS, 60));
    Redefined tokens = Redefined.like(requests.definition()).cost(Cost.ESTIMATED_TOKENS);
    EngineContext context = EngineContext.with(tokens.definition());
    LeaseGranted open = only(ask("open", "a", 50_000).of(context), LeaseGranted.class);
    for (int i = 0; i < 58; i++) {
      only(ask("x" + i, "x", 1).of(context), LeaseGranted.class);
    }
    ask("a1", "a", 50_000).of(context);
    ask("b1", "b", 10).of(context);
    ask("b2", "b", 10).of(context);

    // when
    define(context, tokens.cost(Cost.DOMINANT));

    // then: a call is a call now, and who came first goes first
    assertThat(waiter(context, "a1").cost()).isEqualTo(1);
    assertThat(waiter(context, "a1").startTag()).isEqualTo(waiter(context, "b1").startTag());
    List<Event> settled = context.settle(open.leaseId(), "a", Outcome.SUCCEEDED, 90_000L, 0L);
    assertThat(only(settled, LeaseSettled.class).tagShift()).isZero();
    assertThat(granted(context.sleep(3_000))).containsExactly("a1", "b1", "b2");
  }

  // ---- limits and windows

  @Test
  void shouldForgetALastingLimitOnceLimitsExpire() {
    // given
    QuotaDefinition full = EngineContext.quota(tokens(60_000), null);
    Redefined lasting = Redefined.like(full).rule(Rule.LIMIT_EXPIRY, false);
    EngineContext context = EngineContext.with(lasting.definition());
    header(context, "r1", new Reading(30_000L, null, null));
    define(context, lasting.maxQueueWaitMs(61_000L));
    final long kept = context.show().caps().get(Dimension.TOKENS);

    // when
    define(context, lasting.rule(Rule.LIMIT_EXPIRY, true));

    // then
    assertThat(kept).isEqualTo(29_500);
    assertThat(context.show().caps().get(Dimension.TOKENS)).isEqualTo(59_000);
  }

  @Test
  void shouldRefillAtTheWholeRateOnceTheOutsideRateIsSwitchedOff() {
    // given
    QuotaDefinition adaptive =
        EngineContext.quota(
            tokens(60_000), null, MarginModeName.ADAPTIVE, 1.0, Window.TOKEN_BUCKET);
    EngineContext context = EngineContext.with(adaptive);
    for (int i = 0; i < 8; i++) {
      header(context, "r" + i, new Reading(null, 20_000L, null));
      context.sleep(5_000);
    }
    final long learned = context.show().outsideRate().get(Dimension.TOKENS);

    // when
    define(context, Redefined.like(adaptive).rule(Rule.OUTSIDE_RATE, false));
    long before = context.level(Dimension.TOKENS);
    context.sleep(10_000);

    // then
    assertThat(learned).isGreaterThan(1_000);
    assertThat(context.level(Dimension.TOKENS) - before).isEqualTo(10_000);
  }

  @Test
  void shouldAddUpTheMinuteBeforeExactWindowsWereSwitchedOn() {
    // given: 600 of 600 were granted by a bucket alone
    QuotaDefinition rolling =
        Redefined.like(
                EngineContext.quota(tokens(600), null, MarginModeName.RATE, 1.0, Window.ROLLING))
            .depth(tokens(600))
            .maxQueueWaitMs(3_600_000L)
            .definition();
    Redefined plain = Redefined.like(rolling).rule(Rule.EXACT_WINDOWS, false);
    EngineContext context = EngineContext.with(plain.definition());
    only(context.ask("r1", "a1", 600), LeaseGranted.class);
    context.sleep(10_000);

    // when
    define(context, plain.rule(Rule.EXACT_WINDOWS, true));
    context.ask("r2", "a2", 100);

    // then
    assertThat(context.sleep(49_000)).noneMatch(LeaseGranted.class::isInstance);
    only(context.sleep(1_500), LeaseGranted.class);
  }

  private static void header(EngineContext context, String id, Reading reading) {
    String lease = only(context.ask(id, "a1", 1_000), LeaseGranted.class).leaseId();
    Signal signal = new Signal(200, Kind.OK, null, null, 0L, 0L, Map.of(Dimension.TOKENS, reading));
    context.settle(
        lease,
        "a1",
        Outcome.SUCCEEDED,
        1_000L,
        0L,
        s ->
            new Settlement(
                s.leaseId(),
                null,
                s.agentId(),
                s.quotaId(),
                s.outcome(),
                s.usage(),
                false,
                signal));
  }
}
