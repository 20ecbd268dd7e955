package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.ask;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.OrderContext.Ask;
import dev.fairway.admission.engine.OrderContext.Quota;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Lines of honest calls that stand still: all of them come at once, and nobody else does. What each
 * is told then is held against when it goes; off is what differs by more than a tenth and 100 ms.
 * Where nothing goes out of its turn every ETA holds; elsewhere a share is bounded.
 */
class EtaLinesTest {
  private static final int LINES = 24;
  private static final long LIMIT = 60_000;
  private static final Amounts LIMITS = Amounts.of(Dimension.INPUT_TOKENS, LIMIT);
  private static final String OTHER = "k/o";

  /** What a line may have. */
  private enum With {
    SMALL,
    REQUESTS,
    CLASSES,
    TENANTS,
    CEILINGS,
    ALSO,
    HOLD,
    BREAKER,
    HEADERS,
    SEED
  }

  @ParameterizedTest
  @CsvSource({
    "PLAIN,0",
    "SEED,0",
    "REQUESTS,0",
    "SMALL,25",
    "CLASSES,35",
    "CLASSES+SMALL,42",
    "TENANTS,0",
    "CEILINGS,8",
    "TENANTS+CLASSES,58",
    "ALSO,0",
    "ALSO+TENANTS,0",
    "SEED+TENANTS,0",
    "HOLD,0",
    "HOLD+SMALL,18",
    "HOLD+TENANTS,0",
    "HOLD+CLASSES,24",
    "BREAKER,17",
  })
  void shouldTellWhenALineGoes(String kind, int mostPercent) {
    // given
    Set<With> with = with(kind);
    int told = 0;
    List<String> off = new ArrayList<>();

    // when
    for (int seed = 0; seed < LINES; seed++) {
      told += new Line(with, seed).run(off);
    }

    // then
    System.out.printf("%s: %d of %d ETAs are off%n", kind, off.size(), told);
    assertThat(told).isGreaterThan(LINES);
    assertThat(100.0 * off.size() / told)
        .as("seed, request: told, waited; %s", off)
        .isLessThanOrEqualTo(mostPercent);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PLAIN",
        "SMALL+REQUESTS",
        "CLASSES",
        "CLASSES+SMALL",
        "CEILINGS+CLASSES+SMALL",
        "ALSO+CEILINGS+SMALL",
        "SEED+CEILINGS",
        "SEED+CEILINGS+SMALL+HOLD",
        "HOLD+CLASSES+SMALL",
        "BREAKER",
        "BREAKER+SMALL",
        "BREAKER+CEILINGS+CLASSES+SMALL",
        "BREAKER+ALSO+SMALL",
        "BREAKER+SEED+CEILINGS",
        "HEADERS",
        "HEADERS+SMALL+REQUESTS",
        "HEADERS+CLASSES+SMALL",
        "HEADERS+CEILINGS+SMALL"
      })
  void shouldNeverTellAWaitOfNothing(String kind) {
    // when: some are told at every step of the line
    List<String> nothing = new ArrayList<>();
    for (int seed = 0; seed < LINES; seed++) {
      new Line(with(kind), seed).tellOnTheWay(nothing);
    }

    // then
    assertThat(nothing).isEmpty();
  }

  @Test
  void shouldTellThatAHeadWaitsForMoreThanItTakes() {
    // given: of 45,000 that headers told, a head of 30,000 needs as much as it may turn out to be
    QuotaDefinition definition = OrderContext.quota().limits(LIMITS).definition();
    EngineContext context =
        EngineContext.with(Redefined.like(definition).withoutMargin().definition());
    LeaseGranted lease = EngineContext.only(ask("x", "a1", 1_000).of(context), LeaseGranted.class);
    context.nowMs += 1_000;
    Reading reading = new Reading(LIMIT, 41_000L, 15_000L);
    Dimension d = Dimension.INPUT_TOKENS;
    context.settle(lease.leaseId(), Outcome.SUCCEEDED, 1_000L, 1L, d, reading, 0, 1_000L);
    long headMs =
        EngineContext.only(ask("head", "a1", 30_000).of(context), LeaseQueued.class).etaMs();

    // when: one comes behind it whose need would be there
    List<Event> events = ask("second", "a1", 4_000).of(context);

    // then
    assertThat(headMs).isGreaterThan(1_000);
    assertThat(EngineContext.only(events, LeaseQueued.class).etaMs()).isEqualTo(headMs);
  }

  @Test
  void shouldLetAReservePayForSmallCallsBehindAnyNumberThatItNeverPaysFor() {
    // given: a reserve of 12,000, and a line of calls of its class that are larger
    EngineContext context = OrderContext.quota().limits(LIMITS).reserve(0.2).start();
    ask("batch1", "a", 25_000).of(context);
    ask("batch2", "a", 25_000).of(context);
    for (int i = 0; i < 24; i++) {
      ask("large" + i, "a", 25_000).interactive().of(context);
    }

    // when
    List<Event> events = ask("small", "a", 600).interactive().of(context);

    // then
    assertThat(OrderContext.granted(events)).containsExactly("small");
  }

  @Test
  void shouldTellTheTurnOfWhoADrainDoesNotLookAt() {
    // given: the same, and a margin at which the reserve is 10,200; it may be 12,000 again
    QuotaDefinition definition = OrderContext.quota().limits(LIMITS).reserve(0.2).definition();
    EngineContext context =
        EngineContext.with(Redefined.like(definition).withoutMargin().definition());
    ask("batch1", "a", 25_000).of(context);
    ask("batch2", "a", 25_000).of(context);
    for (int i = 0; i < 24; i++) {
      ask("large" + i, "a", 11_000).interactive().of(context);
    }

    // when
    List<Event> events = ask("small", "a", 600).interactive().of(context);

    // then
    assertThat(EngineContext.only(events, LeaseQueued.class).etaMs()).isGreaterThan(60_000);
  }

  @Test
  void shouldTellWhoIsBehindACallLargerThanItsCeilingThatItWaits() {
    // given: a ceiling that is lower at this margin, and a call of 12,000 that takes it whole
    QuotaDefinition definition =
        OrderContext.quota()
            .limits(LIMITS)
            .tenants(Map.of("a", OrderContext.tenant(1_000, 0.2, "a*")))
            .definition();
    EngineContext context =
        EngineContext.with(
            Redefined.like(definition).preset(Preset.SEED).withoutMargin().definition());
    long first = context.show().levels().get(Dimension.INPUT_TOKENS) - 11_000;
    ask("first", "b1", first).of(context);
    ask("large", "a1", 12_000).of(context);

    // when: 11,000 are there
    List<Event> events = ask("small", "b1", 100).of(context);

    // then: the large one waits for another 1,000
    assertThat(EngineContext.only(events, LeaseQueued.class).etaMs()).isBetween(1_000L, 1_500L);
  }

  private static Set<With> with(String kind) {
    Set<With> with = EnumSet.noneOf(With.class);
    for (String part : kind.split("\\+")) {
      if (!part.equals("PLAIN")) {
        with.add(With.valueOf(part));
      }
    }
    return with;
  }

  /** One line. */
  private static final class Line {
    private final Set<With> with;
    private final int seed;
    private final Random random;
    private final EngineContext context;
    private final Map<String, Long> goneAtMs = new HashMap<>();

    Line(Set<With> with, int seed) {
      this.with = with;
      this.seed = seed;
      this.random = new Random(seed);
      this.context = new EngineContext(1_000_000);
      context.restoring = false;
    }

    int run(List<String> off) {
      define();
      refuse();
      List<Ask> asks = asks();
      asks.forEach(each -> note(each.of(context)));
      Map<String, Long> told = new HashMap<>();
      asks.forEach(each -> tell(each, told));
      long startMs = context.nowMs;
      while (!goneAtMs.keySet().containsAll(told.keySet())) {
        note(context.sleep(context.engine.nextDeadlineMs() - context.nowMs));
      }
      told.forEach(
          (id, etaMs) -> {
            long waitedMs = goneAtMs.get(id) - startMs;
            if (Math.abs(etaMs - waitedMs) > Math.max(100, waitedMs / 10)) {
              off.add(seed + ", " + id + ": " + etaMs + ", " + waitedMs);
            }
          });
      return told.size();
    }

    void tellOnTheWay(List<String> nothing) {
      define();
      refuse();
      if (with.contains(With.HEADERS)) {
        tellLevel();
      }
      List<Ask> asks = asks();
      for (Ask each : asks) {
        List<Event> events = each.of(context);
        nothing(events, nothing);
        note(events);
      }
      int step = 0;
      while (step++ < 200 && goneAtMs.size() < asks.size()) {
        for (int i = 0; i < 3; i++) {
          nothing(asks.get(random.nextInt(asks.size())).of(context), nothing);
        }
        long dueMs = context.engine.nextDeadlineMs() - context.nowMs;
        note(context.sleep(random.nextBoolean() ? dueMs : Math.min(dueMs, oneOf(1, 50, 700))));
      }
    }

    private void nothing(List<Event> events, List<String> nothing) {
      for (Event event : events) {
        Event decision = event instanceof DecisionRepeated e ? e.decision() : event;
        if (decision instanceof LeaseQueued q && q.etaMs() <= 0) {
          nothing.add(seed + ", " + q.requestId() + " at " + context.nowMs + ", " + q.position());
        }
      }
    }

    private void define() {
      Amounts limits = LIMITS;
      if (with.contains(With.REQUESTS)) {
        limits = limits.with(Dimension.REQUESTS, oneOf(5, 20));
      }
      Quota quota = OrderContext.quota().limits(limits);
      if (with.contains(With.CLASSES)) {
        quota = quota.reserve(oneOf(20, 40) / 100.0);
      }
      if (with.contains(With.TENANTS) || with.contains(With.CEILINGS)) {
        quota = quota.tenants(tenants());
      }
      if (with.contains(With.ALSO)) {
        long other = LIMIT * oneOf(5, 8, 20) / 10;
        OrderContext.quota()
            .named(OTHER)
            .limits(Amounts.of(Dimension.INPUT_TOKENS, other))
            .defineIn(context);
        quota = quota.takingFrom(OTHER);
      }
      QuotaDefinition definition = quota.definition();
      if (with.contains(With.SEED)) {
        definition = Redefined.like(definition).preset(Preset.SEED).definition();
      }
      if (with.contains(With.HEADERS)) {
        definition = Redefined.like(definition).withoutMargin().definition();
      }
      context.submit(new Command.DefineQuota(definition, EngineContext.SALT));
    }

    private Map<String, Tenant> tenants() {
      Double one = with.contains(With.CEILINGS) ? (Double) (oneOf(20, 40) / 100.0) : null;
      Double two = with.contains(With.CEILINGS) ? (Double) (oneOf(50, 90) / 100.0) : null;
      return Map.of(
          "a", OrderContext.tenant(2, one, "a*"),
          "b", OrderContext.tenant(1, two, "b*"),
          "c", OrderContext.tenant(1, null, "c*"));
    }

    /** A full bucket behind a hold, or behind a breaker. */
    private void refuse() {
      int refusals = with.contains(With.BREAKER) ? 2 : with.contains(With.HOLD) ? 1 : 0;
      List<LeaseGranted> leases = new ArrayList<>();
      for (int i = 0; i < refusals; i++) {
        leases.add(EngineContext.only(ask("x" + i, "c9", 1).of(context), LeaseGranted.class));
      }
      long holdMs = oneOf(5_000, 20_000, 40_000);
      for (LeaseGranted lease : leases) {
        context.nowMs += 100;
        Signal refused = new Signal(429, Signal.Kind.RATE_LIMITED, null, holdMs, 0L, 50L, Map.of());
        context.settle(
            lease.leaseId(),
            "c9",
            Outcome.RATE_LIMITED,
            null,
            null,
            s ->
                new Settlement(
                    s.leaseId(), null, "c9", s.quotaId(), s.outcome(), null, false, refused));
      }
      context.nowMs += refusals;
    }

    /** By the headers of a call: what is kept free is from then on a part of what a call needs. */
    private void tellLevel() {
      LeaseGranted lease =
          EngineContext.only(ask("x", "a1", 1_000).of(context), LeaseGranted.class);
      context.nowMs += 1_000;
      Reading reading = new Reading(LIMIT, LIMIT * (20 + random.nextInt(60)) / 100, 15_000L);
      context.settle(
          lease.leaseId(),
          Outcome.SUCCEEDED,
          1_000L,
          1L,
          Dimension.INPUT_TOKENS,
          reading,
          0,
          1_000L);
    }

    private List<Ask> asks() {
      int calls = (int) oneOf(3, 15, 60);
      boolean fine = with.contains(With.TENANTS) || with.contains(With.CEILINGS);
      List<Long> sizes = new ArrayList<>();
      sizes.add(LIMIT / (fine ? 20 : oneOf(2, 3, 5)));
      sizes.add(LIMIT / (fine ? 30 : oneOf(5, 8, 12)));
      if (with.contains(With.SMALL)) {
        sizes.add(LIMIT / 100);
      }
      List<Ask> asks = new ArrayList<>();
      for (int i = 0; i < calls; i++) {
        String agent = "abc".charAt(random.nextInt(3)) + "" + random.nextInt(2);
        Ask one = ask("r" + i, agent, sizes.get(random.nextInt(sizes.size())));
        one = random.nextBoolean() ? one.role("planner") : one;
        boolean interactive = with.contains(With.CLASSES) && random.nextBoolean();
        asks.add(interactive ? one.interactive() : one);
      }
      return asks;
    }

    private long oneOf(long... values) {
      return values[random.nextInt(values.length)];
    }

    private void tell(Ask each, Map<String, Long> told) {
      for (Event event : each.of(context)) {
        if (event instanceof DecisionRepeated e && e.decision() instanceof LeaseQueued q) {
          told.put(q.requestId(), q.etaMs());
        }
      }
    }

    private void note(List<Event> events) {
      for (Event event : events) {
        if (event instanceof LeaseGranted e) {
          goneAtMs.put(e.requestId(), e.grantedAtMs());
          if (with.contains(With.BREAKER)) {
            long input = e.charged().get(Dimension.INPUT_TOKENS);
            note(context.settle(e.leaseId(), e.agentId(), Outcome.SUCCEEDED, input, 0L));
          }
        }
      }
    }
  }
}
