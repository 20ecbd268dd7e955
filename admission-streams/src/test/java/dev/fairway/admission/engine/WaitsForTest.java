package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.QUOTA;
import static dev.fairway.admission.engine.EngineContext.SALT;
import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.ask;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.EtaRevised;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.WaitsFor.Reason;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who waits is told for what: which limit, whose, or what else is in the way. */
class WaitsForTest {
  private static final String OTHER = "k/org";
  private static final Amounts LIMITS =
      Amounts.of(Dimension.INPUT_TOKENS, 60_000).with(Dimension.REQUESTS, 60);

  @Test
  void shouldNameTheLimitThatLastsLongest() {
    // given: of the same two limits, input is short in one and requests are in the other
    EngineContext input = OrderContext.quota().limits(LIMITS).start();
    EngineContext requests = OrderContext.quota().limits(LIMITS).start();
    only(ask("r0", "a", 50_000).of(input), LeaseGranted.class);
    for (int i = 0; i < 59; i++) {
      only(ask("r" + i, "a", 10).of(requests), LeaseGranted.class);
    }

    // then
    assertThat(told(ask("r", "a", 20_000).of(input)))
        .isEqualTo(limit(QUOTA, Dimension.INPUT_TOKENS));
    assertThat(told(ask("r", "a", 20_000).of(requests)))
        .isEqualTo(limit(QUOTA, Dimension.REQUESTS));
  }

  @Test
  void shouldNameTheQuotaThatItTakesFromTooWhereThatIsShort() {
    // given
    EngineContext context = new EngineContext(1_000_000);
    Amounts small = Amounts.of(Dimension.INPUT_TOKENS, 30_000);
    OrderContext.quota().named(OTHER).limits(small).defineIn(context);
    OrderContext.quota().full().takingFrom(OTHER).defineIn(context);
    only(ask("r0", "a", 25_000).of(context), LeaseGranted.class);

    // when
    WaitsFor told = told(ask("r1", "a", 20_000).of(context));

    // then
    assertThat(told).isEqualTo(limit(OTHER, Dimension.INPUT_TOKENS));
  }

  @Test
  void shouldNameTheCeilingOfItsTenant() {
    // given
    EngineContext context =
        OrderContext.quota().full().tenants(Map.of("t", OrderContext.tenant(1, 0.1, "a*"))).start();
    only(ask("r0", "a1", 5_000).of(context), LeaseGranted.class);

    // when
    WaitsFor told = told(ask("r1", "a1", 5_000).of(context));

    // then
    assertThat(told).isEqualTo(new WaitsFor(Reason.TENANT_CEILING, QUOTA, Dimension.INPUT_TOKENS));
  }

  @Test
  void shouldNameTheReserveThatASmallCallGoesBy() {
    // given: a large call keeps the line, and the class has used up its reserve
    EngineContext context = OrderContext.quota().full().reserve(0.2).start();
    only(ask("before", "a", 40_000).of(context), LeaseGranted.class);
    only(ask("large", "b", 30_000).of(context), LeaseQueued.class);
    only(ask("behind", "a", 31_000).of(context), LeaseQueued.class);
    only(ask("r0", "a", 5_000).interactive().of(context), LeaseGranted.class);
    only(ask("r1", "a", 5_000).interactive().of(context), LeaseGranted.class);

    // when
    LeaseQueued told = only(ask("r2", "a", 5_000).interactive().of(context), LeaseQueued.class);

    // then
    assertThat(told.waitsFor())
        .isEqualTo(new WaitsFor(Reason.RESERVE, QUOTA, Dimension.INPUT_TOKENS));
    assertThat(told.etaMs()).isPositive();
  }

  @Test
  void shouldNameASlotWhereNothingElseIsWaitedFor() {
    // given
    Amounts limits = LIMITS.with(Dimension.CONCURRENT_REQUESTS, 1);
    EngineContext context = OrderContext.quota().limits(limits).start();
    only(ask("r0", "a", 100).of(context), LeaseGranted.class);

    // when
    LeaseQueued told = only(ask("r1", "a", 100).of(context), LeaseQueued.class);

    // then
    assertThat(told.etaMs()).isZero();
    assertThat(told.waitsFor()).isEqualTo(limit(QUOTA, Dimension.CONCURRENT_REQUESTS));
  }

  @Test
  void shouldNameAPauseBeforeAnyLimit() {
    // given: input is short, and the operator pauses the quota
    QuotaDefinition full = OrderContext.quota().full().definition();
    EngineContext context = EngineContext.with(full);
    only(ask("r0", "a", 50_000).of(context), LeaseGranted.class);
    context.submit(
        new Command.DefineQuota(Redefined.like(full).state(State.PAUSED).definition(), SALT));

    // when
    LeaseQueued told = only(ask("r1", "a", 20_000).of(context), LeaseQueued.class);

    // then
    assertThat(told.etaMs()).isPositive();
    assertThat(told.waitsFor()).isEqualTo(new WaitsFor(Reason.PAUSE, QUOTA, null));
  }

  @Test
  void shouldNameTheHoldAfterARefusalAndTheBreakerAfterTwo() {
    // given
    EngineContext held = OrderContext.quota().full().start();
    EngineContext open = OrderContext.quota().full().start();
    BreakerFixture.refused(
        held, only(held.ask("r0", "a1", 100), LeaseGranted.class).leaseId(), 5_000L);
    BreakerFixture.open(open);

    // when
    WaitsFor whileHeld = told(held.ask("r1", "a1", 100));
    WaitsFor whileOpen = told(open.ask("r1", "a1", 100));

    // then
    assertThat(whileHeld).isEqualTo(new WaitsFor(Reason.HOLD, QUOTA, null));
    assertThat(whileOpen.reason()).isIn(Reason.BREAKER, Reason.HOLD);
  }

  @Test
  void shouldNameTheLimitAgainWhenTheEtaMovesAndWhoeverAsks() {
    // given: two wait for input, and a refusal holds the quota
    EngineContext context = OrderContext.quota().full().start();
    String lease = only(ask("r0", "a1", 50_000).of(context), LeaseGranted.class).leaseId();
    ask("r1", "a1", 12_000).of(context);
    BreakerFixture.refused(context, lease, 20_000L);

    // when
    List<EtaRevised> revised =
        context.sleep(6_000).stream()
            .filter(EtaRevised.class::isInstance)
            .map(EtaRevised.class::cast)
            .toList();
    List<AdmissionEngine.Placed> line = context.engine.line(QUOTA, 10, context.nowMs);

    // then
    assertThat(revised).isNotEmpty();
    assertThat(revised.get(0).waitsFor()).isEqualTo(new WaitsFor(Reason.HOLD, QUOTA, null));
    assertThat(line)
        .singleElement()
        .satisfies(
            placed -> {
              assertThat(placed.position()).isEqualTo(1);
              assertThat(placed.waiter().request().requestId()).isEqualTo("r1");
              assertThat(placed.waitsFor()).isEqualTo(new WaitsFor(Reason.HOLD, QUOTA, null));
            });
  }

  @Test
  void shouldTellWhoIsPutBackInLineAfterItsDeadlineThatThisIsSo() {
    // given
    EngineContext context = OrderContext.quota().full().start();
    LeaseRequest request = EngineContext.request("r0", "a1", 100, 0);
    LeaseRequest soon =
        new LeaseRequest(
            request.requestId(),
            request.agentId(),
            request.quotaId(),
            request.taskId(),
            request.role(),
            request.leaseClass(),
            request.retryOf(),
            request.repeatFailures(),
            request.unblocks(),
            request.estimate(),
            request.tenant(),
            context.nowMs + 500,
            null,
            null);
    LeaseGranted granted = only(context.ask(soon), LeaseGranted.class);
    context.sleep(2_000);

    // when: its call is refused a second and a half after the deadline
    List<Event> events =
        context.settle(
            granted.leaseId(),
            "a1",
            Settlement.Outcome.RATE_LIMITED,
            null,
            null,
            s -> BreakerFixture.again(BreakerFixture.with(s, Signal.Kind.RATE_LIMITED, null)));
    events = new ArrayList<>(events);
    events.addAll(context.sleep(10));

    // then
    assertThat(only(events, LeaseRejected.class).detail())
        .isEqualTo(
            "Its deadline was over for 1500 ms when its call was refused and put back in line");
  }

  private static WaitsFor limit(String quota, Dimension d) {
    return new WaitsFor(Reason.LIMIT, quota, d);
  }

  private static WaitsFor told(List<Event> events) {
    return only(events, LeaseQueued.class).waitsFor();
  }
}
