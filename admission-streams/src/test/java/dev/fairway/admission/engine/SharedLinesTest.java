package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.ask;
import static dev.fairway.admission.engine.OrderContext.quota;
import static dev.fairway.admission.engine.OrderContext.tenant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.fairway.admission.engine.ClosedLoop.Agent;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.OrderContext.Quota;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Lines of quotas that share one, where some of a line cannot go. */
class SharedLinesTest {
  private static final Quota SHARED = quota().named("k/s");
  private static final Amounts INPUT = Amounts.of(Dimension.INPUT_TOKENS, 600_000);
  private static final Quota FIRST = quota().named("k/q1").full().limits(INPUT).takingFrom("k/s");
  private static final Quota SECOND = FIRST.named("k/q2");
  private static final int LINE = 30;
  private static final double CLOSE = 0.03;

  @Test
  void shouldServeTenantsBesideOneAtItsCeilingByTheirWeights() {
    // given: p waits for its ceiling; r weighs as much as each agent of the other quota
    Map<String, Tenant> tenants = Map.of("p", tenant(1, 0.05, "p-*"), "r", tenant(1, null, "r-*"));
    ClosedLoop loop =
        new ClosedLoop(
            List.of(
                SHARED.definition(),
                quota().named("k/q1").takingFrom("k/s").tenants(tenants).definition(),
                SECOND.definition()));
    loop.with(agents("p-", "k/q1", 2)).with(agents("r-", "k/q1", 2));
    loop.with(agents("b-", "k/q2", 2));

    // when
    loop.run(5).run(30);

    // then: each tenant and each agent of the other quota gets as much, p its ceiling
    assertThat(loop.share("p-")).isCloseTo(0.05, within(CLOSE));
    assertThat(loop.share("r-")).isCloseTo(0.95 / 3, within(CLOSE));
    assertThat(loop.share("b-")).isCloseTo(2 * 0.95 / 3, within(CLOSE));
  }

  @Test
  void shouldServeANewcomerOfTwoSharedQuotasWhereOneIsBusierThanTheOther() {
    // given: one agent on the one, ten on the other
    ClosedLoop loop =
        new ClosedLoop(
            List.of(
                SHARED.definition(),
                SHARED.named("k/t").definition(),
                FIRST.takingFrom("k/s", "k/t").definition(),
                SECOND.definition(),
                SECOND.named("k/q3").takingFrom("k/t").definition()));
    loop.with(agents("one", "k/q2", 1)).with(agents("h", "k/q3", 10)).run(10);

    // when: one comes who needs both
    loop.with(agents("x", "k/q1", 1)).run(5).run(15);

    // then: it gets as much as each of the ten, and the one what is left
    assertThat(loop.share("x")).isCloseTo(1 / 21.0, within(0.01));
    assertThat(loop.share("one")).isCloseTo(10 / 21.0, within(0.01));
  }

  @Test
  void shouldTellNothingOfALineThatAnOperatorPaused() {
    // given
    EngineContext context = start(FIRST);
    define(context, Redefined.like(FIRST.definition()).state(State.PAUSED).definition());
    line(context);

    // when, then
    assertThat(toldLess(context, 3_000)).isZero();
  }

  @Test
  void shouldTellNothingOfALineThatWaitsForASlot() {
    // given: its one slot is taken
    EngineContext context = start(FIRST.limits(INPUT.with(Dimension.CONCURRENT_REQUESTS, 1)));
    ask("open", "o", 0).in("k/q1").of(context);
    line(context);

    // when, then
    assertThat(toldLess(context, 3_000)).isZero();
  }

  @Test
  void shouldTellOfALineThatIsHeldWhatGoesBefore() {
    // given: it is held for 20 s
    EngineContext context = start(FIRST);
    LeaseGranted lease =
        EngineContext.only(ask("open", "o", 0).in("k/q1").of(context), LeaseGranted.class);
    Signal refused = new Signal(429, Kind.RATE_LIMITED, null, 20_000L, 0L, null, Map.of());
    context.submit(
        new Command.SettleLease(
            new Settlement(
                lease.leaseId(), null, "o", "k/q1", Outcome.RATE_LIMITED, null, false, refused),
            context.nowMs));
    line(context);

    // when: one goes before that, and one behind what goes then
    long before = toldLess(context, 3_000);
    LeaseQueued last = queued(ask("large", "l", 40_000).in("k/q2").of(context));

    // then
    assertThat(before).isZero();
    assertThat(last.etaMs()).isEqualTo(3_000 + LINE * 2_000 + 40_000);
  }

  /** What one in the second line is told less than the time after which it goes. */
  private static long toldLess(EngineContext context, long input) {
    long told = queued(ask("b", "b", input).in("k/q2").of(context)).etaMs();
    AdmissionEngine engine = new AdmissionEngine();
    engine.restore(EngineContext.KEY, context.engine.rows(EngineContext.KEY));
    long from = context.nowMs;
    long atMs = from;
    while (engine.nextDeadlineMs() <= from + 600_000) {
      atMs = Math.max(atMs, engine.nextDeadlineMs());
      for (Event event : engine.handle(EngineContext.KEY, new Command.Tick(), atMs).events()) {
        if (event instanceof LeaseGranted e && e.requestId().equals("b")) {
          return atMs - from - told;
        }
      }
    }
    throw new AssertionError("never granted");
  }

  private static LeaseQueued queued(List<Event> events) {
    return EngineContext.only(
        events.stream().filter(LeaseQueued.class::isInstance).toList(), LeaseQueued.class);
  }

  private static EngineContext start(Quota first) {
    EngineContext context = SHARED.start();
    first.defineIn(context);
    SECOND.defineIn(context);
    return context;
  }

  /** Many wait in the first quota, each of an agent of its own. */
  private static void line(EngineContext context) {
    for (int i = 0; i < LINE; i++) {
      ask("a" + i, "a" + i, 2_000).in("k/q1").of(context);
    }
  }

  private static Agent[] agents(String prefix, String quota, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Agent(prefix + i, 3, 2_000, 2_000, 4_000).in(quota))
        .toArray(Agent[]::new);
  }

  private static void define(EngineContext context, QuotaDefinition definition) {
    context.submit(new Command.DefineQuota(definition, EngineContext.SALT));
  }
}
