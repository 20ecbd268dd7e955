package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.ask;
import static dev.fairway.admission.engine.OrderContext.granted;
import static dev.fairway.admission.engine.OrderContext.quota;
import static dev.fairway.admission.engine.OrderContext.tenant;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Limits change what calls cost, while some of them are out and others wait. A call of 10 tokens
 * takes the most of the limit of requests here: a hundredth of a second of one of 600, and a tenth
 * of one of 60.
 */
class RemeasureTest {
  private static final Amounts WIDE = limits(60_000, 600);
  private static final Amounts NARROW = limits(60_000, 60);

  @Test
  void shouldServeANewcomerBesideALineWhoseCallsCostMoreSince() {
    // given: a backlog, and a tenth of the requests a minute since
    EngineContext context = start(WIDE, 80);

    // when
    define(context, NARROW);
    List<String> first = served(newcomer(context, "b"), 40);

    // then
    assertThat(of("b", first)).isBetween(18L, 21L);
  }

  @Test
  void shouldNotShutOutALineWhoseCallsCostLessSince() {
    // given
    EngineContext context = start(NARROW, 80);

    // when
    define(context, WIDE);
    List<String> first = served(newcomer(context, "b"), 40);

    // then
    assertThat(of("b", first)).isBetween(18L, 21L);
  }

  @Test
  void shouldMeasureALineAnewWhereTheUnitOfCostsChanges() {
    // given: costs count in tokens of the limit of input tokens, which none of these takes the most
    EngineContext up = start(limits(60_000, 60), 80);
    EngineContext down = start(limits(60_000, 60), 80);

    // when
    define(up, limits(600_000, 60));
    define(down, limits(6_000, 60));

    // then
    assertThat(of("b", served(newcomer(up, "b"), 40))).isBetween(18L, 21L);
    assertThat(of("b", served(newcomer(down, "b"), 40))).isBetween(18L, 21L);
  }

  @Test
  void shouldLetEachThatWaitsGoFirstOnceAndNotManyTimes() {
    // given: eight agents with a line each
    EngineContext context = start(NARROW, 0);
    for (int i = 0; i < 160; i++) {
      ask("w" + i, "agent" + i % 8, 10).of(context);
    }
    served(context, 12);

    // when
    define(context, WIDE);
    List<String> first = served(newcomer(context, "b"), 90);

    // then
    assertThat(first.indexOf("b0")).as("each once, and each its next").isLessThanOrEqualTo(16);
    assertThat(of("b", first)).isBetween(8L, 11L);
  }

  @Test
  void shouldSettleWhatIsOutByTheLimitsThatItIsMeasuredAt() {
    // given: an agent with twenty calls out, and one more in line beside another's
    EngineContext context = quota().limits(WIDE).start();
    List<String> leases = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      leases.add(lease(ask("a" + i, "a", 10).of(context)));
    }

    // when: a tenth of the requests, and all use what they were taken for
    define(context, NARROW);
    long moved = 0;
    for (String lease : leases) {
      List<Event> settled = context.settle(lease, "a", Outcome.SUCCEEDED, 10L, 0L);
      moved += EngineContext.only(settled, LeaseSettled.class).tagShift();
    }

    // then
    assertThat(moved).isZero();
  }

  @Test
  void shouldStillChargeWhatACallUsedBeyondItsEstimate() {
    // given
    EngineContext context = quota().limits(WIDE).start();
    String lease = lease(ask("r", "a", 10).of(context));
    String given = lease(ask("s", "a", 10).of(context));

    // when: at a tenth of the requests a call costs 1,000, and 5,000 tokens cost five times that
    define(context, NARROW);
    List<Event> more = context.settle(lease, "a", Outcome.SUCCEEDED, 5_000L, 0L);
    List<Event> none = context.settle(given, "a", Outcome.NOT_SENT, null, null);

    // then
    assertThat(EngineContext.only(more, LeaseSettled.class).tagShift()).isEqualTo(4_000_000);
    assertThat(EngineContext.only(none, LeaseSettled.class).tagShift()).isEqualTo(-1_000_000);
  }

  @Test
  void shouldMeasureWhoTakesFromAQuotaWhoseLimitsChange() {
    // given: a quota that takes from another, whose requests are what its calls take the most of
    EngineContext context = quota().named("k/s").limits(WIDE).start();
    OrderContext.Quota taker = quota().limits(limits(60_000_000, 600_000)).takingFrom("k/s");
    taker.defineIn(context);
    String lease = lease(ask("out", "a", 10).of(context));
    for (int i = 0; i < 700; i++) {
      ask("a" + i, "a", 10).of(context);
    }

    // when
    quota().named("k/s").limits(NARROW).defineIn(context);
    List<Event> settled = context.settle(lease, "a", Outcome.SUCCEEDED, 10L, 0L);
    List<String> first = served(newcomer(context, "b"), 40);

    // then
    assertThat(EngineContext.only(settled, LeaseSettled.class).tagShift()).isZero();
    assertThat(of("b", first)).isBetween(18L, 21L);
  }

  @Test
  void shouldMoveNobodyWhereNothingThatCostsChanged() {
    // given: lines, one of them moved by a settlement, and a weight that changed in line
    EngineContext context = start(NARROW, 6);
    String lease = lease(context.sleep(1_000));
    context.settle(lease, "a", Outcome.SUCCEEDED, 2_500L, 0L);
    context.ask(Asking.like(EngineContext.request("t", "c", 10, 0)).task("T").request());
    context.submit(
        new Command.UpdateTask(
            new TaskUpdate("U", null, null, null, TaskUpdate.State.BLOCKED, List.of("T"))));
    List<Waiter> before = context.engine.waiting(EngineContext.QUOTA, 100);

    // when
    empty(NARROW).budgets(7, null, null).defineIn(context);

    // then
    assertThat(context.engine.waiting(EngineContext.QUOTA, 100)).isEqualTo(before);
  }

  @Test
  void shouldKeepTheTurnOfATenantThroughDefinitionsThatComeAgainAndAgain() {
    // given: one tenant with a call of half a minute, and one with many of a second

    // when: a definition that differs in nothing that matters comes every five seconds, or never
    List<String> undisturbed = servedBeside(false);
    List<String> redefined = servedBeside(true);

    // then
    assertThat(undisturbed).contains("large");
    assertThat(redefined).isEqualTo(undisturbed);
  }

  private static List<String> servedBeside(boolean redefining) {
    Map<String, QuotaDefinition.Tenant> tenants =
        Map.of("a", tenant(1, null, "a"), "b", tenant(1, null, "b"));
    EngineContext context = quota().tenants(tenants).start();
    ask("large", "a", 30_000).of(context);
    for (int i = 0; i < 200; i++) {
      ask("b" + i, "b", 1_000).of(context);
    }
    List<String> served = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      if (redefining) {
        quota().tenants(tenants).budgets(7 + i, null, null).defineIn(context);
      }
      served.addAll(granted(context.sleep(5_000)));
    }
    return served;
  }

  /** One quota whose bucket of requests is empty, and so many calls of agent a in line. */
  private static EngineContext start(Amounts limits, int backlog) {
    EngineContext context = empty(limits).start();
    context.restoring = false;
    for (int i = 0; i < backlog; i++) {
      ask("a" + i, "a", 10).of(context);
    }
    context.restoring = true;
    return context;
  }

  /** Levels that are given again as they were change nothing. */
  private static OrderContext.Quota empty(Amounts limits) {
    return new OrderContext.Quota(
        EngineContext.QUOTA,
        limits,
        Amounts.of(Dimension.REQUESTS, 0),
        List.of(),
        Map.of(),
        Map.of(),
        null);
  }

  private static EngineContext newcomer(EngineContext context, String agent) {
    for (int i = 0; i < 60; i++) {
      ask(agent + i, agent, 10).of(context);
    }
    return context;
  }

  private static void define(EngineContext context, Amounts limits) {
    empty(limits).defineIn(context);
  }

  /** The next calls that are granted. */
  private static List<String> served(EngineContext context, int calls) {
    List<String> served = new ArrayList<>();
    while (served.size() < calls) {
      served.addAll(granted(context.sleep(100)));
    }
    return served.subList(0, calls);
  }

  private static long of(String agent, List<String> ids) {
    return ids.stream().filter(id -> id.startsWith(agent)).count();
  }

  private static String lease(List<Event> events) {
    return EngineContext.only(events, LeaseGranted.class).leaseId();
  }

  private static Amounts limits(long input, long requests) {
    return Amounts.of(Dimension.INPUT_TOKENS, input).with(Dimension.REQUESTS, requests);
  }
}
