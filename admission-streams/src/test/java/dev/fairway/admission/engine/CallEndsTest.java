package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.ask;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever ends a call moves the same buckets by the same rule, told before or not. */
class CallEndsTest {
  private static final long TTL_MS = 60_000;
  private static final double CEILING = 0.5;
  private static final double RESERVE = 0.1;
  private static final String SHARED = "k/s";

  /** What calls take usually, what this one is said to take, and what it is told to have taken. */
  private static final long USUAL = 29_000;

  private static final long SAID = 1;
  private static final long TOLD = 2_000;

  /** Ways in which a call may end. */
  enum End {
    SUCCEEDED_TOLD,
    SUCCEEDED,
    FAILED_AFTER_SEND,
    OVERLOADED,
    RATE_LIMITED,
    NOT_SENT,
    CANCELLED,
    UNLEASED,
    EXPIRED
  }

  /** Levels of all that a call takes from. */
  private record Levels(long own, long also, long ceiling, long reserve) {
    Levels minus(Levels other) {
      return new Levels(
          own - other.own, also - other.also, ceiling - other.ceiling, reserve - other.reserve);
    }

    Levels plus(Levels other) {
      return minus(new Levels(-other.own, -other.also, -other.ceiling, -other.reserve));
    }
  }

  static List<Arguments> ends() {
    List<Arguments> ends = new ArrayList<>();
    for (End end : End.values()) {
      ends.add(Arguments.of(end, false));
      ends.add(Arguments.of(end, true));
    }
    return ends;
  }

  @ParameterizedTest(name = "{0}, told before: {1}")
  @MethodSource("ends")
  void shouldTakeTheSameOfEveryBucketHoweverACallEnds(End end, boolean told) {
    // given: a call that its class's reserve alone paid for, and which says next to nothing
    EngineContext context = crowded();
    Levels before = levels(context);
    LeaseGranted lease = only(ask("r1", "x1", SAID).interactive().of(context), LeaseGranted.class);
    assertThat(lease.taken().outOfReserve()).isTrue();
    if (told) {
      context.settle(lease.leaseId(), "x1", Outcome.IN_PROGRESS, TOLD, null);
    }
    Levels taken = before.minus(levels(context));

    // when
    Levels beforeEnd = end(context, lease, end);
    taken = taken.plus(beforeEnd.minus(levels(context)));

    // then: quotas go by what is known, their parts by what calls usually take where nothing is
    boolean nothing =
        !told && (end == End.RATE_LIMITED || end == End.NOT_SENT || end == End.CANCELLED);
    boolean known = told || end == End.SUCCEEDED_TOLD;
    long refused = end == End.OVERLOADED ? 0 : SAID;
    long ofQuotas = nothing ? 0 : known ? TOLD : refused;
    long ofParts = nothing ? 0 : known ? TOLD : end == End.OVERLOADED ? 0 : USUAL;
    Offset<Long> refilled = Offset.offset(3L);
    assertThat(taken.own).as("own").isCloseTo(ofQuotas, refilled);
    assertThat(taken.also).as("also").isCloseTo(ofQuotas, refilled);
    assertThat(taken.ceiling).as("ceiling").isCloseTo(ofParts, refilled);
    assertThat(taken.reserve).as("reserve").isCloseTo(ofParts, refilled);
  }

  @Test
  void shouldMoveOnlyTheDifferenceLate() {
    // given: what nobody told is charged to the parts when the lease expires
    EngineContext context = crowded();
    LeaseGranted lease = only(ask("r1", "x1", SAID).interactive().of(context), LeaseGranted.class);
    context.sleep(TTL_MS + 1);
    Levels before = levels(context);

    // when: it is told after all
    LeaseSettled late =
        only(
            context.settle(lease.leaseId(), "x1", Outcome.SUCCEEDED, TOLD, 0L), LeaseSettled.class);

    // then
    Levels back = levels(context).minus(before);
    assertThat(late.late()).isTrue();
    assertThat(back.own).isEqualTo(SAID - TOLD);
    assertThat(back.ceiling).isEqualTo(USUAL - TOLD);
    assertThat(back.reserve).isEqualTo(USUAL - TOLD);
  }

  // ---- whose call it is

  @Test
  void shouldChargeACallWithoutALeaseToTheTenantThatItsAgentClaims() {
    // given: a tenant that whoever is bound to none may claim, one of the agent's id, and one of a
    // longer pattern
    EngineContext context =
        OrderContext.quota()
            .full()
            .tenants(
                Map.of(
                    "pay", OrderContext.tenant(1, 0.25),
                    "two", OrderContext.tenant(1, 0.25, "x*"),
                    "one", OrderContext.tenant(1, 0.25, "x1*")))
            .start();

    // when: the agent has its call given back, and makes it all the same
    Map<String, String> claims = new TreeMap<>(Map.of("y1", "pay", "x1", "two"));
    for (Map.Entry<String, String> claim : claims.entrySet()) {
      String agent = claim.getKey();
      String tenant = claim.getValue();
      LeaseGranted lease =
          only(ask("r-" + tenant, agent, 500).tenant(tenant).of(context), LeaseGranted.class);
      context.settle(lease.leaseId(), agent, Outcome.NOT_SENT, null, null);
      context.sleep(300_000);

      // then
      UnleasedCharged charged = unleased(context, "u-" + tenant, agent);
      assertThat(charged.tenant()).isEqualTo(tenant);
      assertThat(charged.ceiling()).isEqualTo(charged.charged());
    }

    // then: for a while
    context.sleep(600_001);
    assertThat(unleased(context, "u3", "x1").tenant()).isEqualTo("one");
    assertThat(unleased(context, "u4", "y1").tenant()).isEqualTo("default");
  }

  // ---- helpers

  private static UnleasedCharged unleased(EngineContext context, String id, String agent) {
    return only(
        report(context, id, agent, new Usage(2_000L, 0L, 0L, 0L, true)), UnleasedCharged.class);
  }

  private static List<Event> report(EngineContext context, String id, String agent, Usage usage) {
    Settlement report =
        new Settlement(null, id, agent, EngineContext.QUOTA, Outcome.UNLEASED, usage, false, null);
    return context.submit(new Command.SettleLease(report, context.nowMs));
  }

  /** Ends it; the levels before its end. */
  private static Levels end(EngineContext context, LeaseGranted lease, End end) {
    if (end == End.EXPIRED) {
      context.sleep(lease.expiresAtMs() - context.nowMs - 1);
    }
    Levels before = levels(context);
    switch (end) {
      case EXPIRED:
        context.sleep(2);
        break;
      case SUCCEEDED_TOLD:
        context.settle(lease.leaseId(), "x1", Outcome.SUCCEEDED, TOLD, 0L);
        break;
      case CANCELLED:
        context.submit(new Command.SettleLease(EngineContext.cancel("r1", "x1"), context.nowMs));
        break;
      case UNLEASED:
        report(context, "r1", "x1", null);
        break;
      default:
        context.settle(lease.leaseId(), "x1", Outcome.valueOf(end.name()), null, null);
    }
    return before;
  }

  /**
   * A head waits for tokens that are kept for a class, and an agent whose tenant is behind it has
   * used 29,000 of its 30,000.
   */
  private static EngineContext crowded() {
    EngineContext context = EngineContext.with(definition(SHARED, List.of(), Map.of(), Map.of()));
    Tenant tenant = OrderContext.tenant(1, CEILING, "x*");
    context.submit(
        new Command.DefineQuota(
            definition(
                EngineContext.QUOTA,
                List.of(SHARED),
                Map.of("interactive", RESERVE),
                Map.of("t", tenant)),
            EngineContext.SALT));
    only(ask("h1", "h1", 24_000).of(context), LeaseGranted.class);
    LeaseGranted used =
        only(ask("used", "x1", 10_000).role("other").of(context), LeaseGranted.class);
    context.settle(used.leaseId(), "x1", Outcome.SUCCEEDED, USUAL, 0L);
    ask("h2", "h2", 17_000).of(context);
    return context;
  }

  private static QuotaDefinition definition(
      String id, List<String> also, Map<String, Double> classes, Map<String, Tenant> tenants) {
    return new QuotaDefinition(
        id,
        "anthropic",
        Preset.FAIRWAY,
        List.of(),
        also,
        Window.TOKEN_BUCKET,
        OrderContext.LIMIT,
        null,
        null,
        new Margin(MarginModeName.RATE, 1.0, 1.0, null, null, null),
        TTL_MS,
        86_400_000L,
        null,
        null,
        null,
        null,
        TTL_MS,
        1_000,
        1_000,
        null,
        classes,
        tenants,
        Map.of(),
        null,
        State.ACTIVE,
        0);
  }

  private static Levels levels(EngineContext context) {
    long ceiling = 0;
    long reserve = 0;
    for (Row row : context.engine.rows(EngineContext.KEY)) {
      if (row instanceof Row.TenantRow r && r.tenant().equals("t")) {
        ceiling = level(context, r.buckets(), CEILING, r.refilledAtMs());
      } else if (row instanceof Row.ReserveRow r) {
        reserve = level(context, r.buckets(), RESERVE, r.refilledAtMs());
      }
    }
    return new Levels(
        level(context, EngineContext.QUOTA), level(context, SHARED), ceiling, reserve);
  }

  private static long level(EngineContext context, String quota) {
    return context.engine.show(quota, context.nowMs).levels().get(Dimension.INPUT_TOKENS);
  }

  /** A limit of 60,000 a minute is one token in a millisecond. */
  private static long level(
      EngineContext context, List<Row.BucketRow> buckets, double share, long refilledAtMs) {
    long cap = context.show().caps().get(Dimension.INPUT_TOKENS);
    long refilled = (long) ((context.nowMs - refilledAtMs) * share);
    return Math.min(buckets.get(0).balance() + refilled, (long) (cap * share));
  }
}
