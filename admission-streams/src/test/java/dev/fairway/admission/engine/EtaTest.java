package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.KEY;
import static dev.fairway.admission.engine.EngineContext.QUOTA;
import static dev.fairway.admission.engine.EngineContext.SALT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

public class EtaTest {
  public static final long START_MS = 1_000_000;
  private static final long DAY_MS = 86_400_000;
  private static final long LARGEST_REFILL_MS = 3_200;
  private static final String[] ROLES = {"planner", "reviewer", "worker", "unknown"};

  /**
   * To drain a line costs the square of its length, for ETAs are reviewed: one long one will do.
   */
  @ParameterizedTest
  @CsvSource({"1,10000", "2,3000", "3,3000"})
  void shouldTellAnEtaWithinTenPercentOfWhatHappens(long seed, int requests) {
    // given
    Random random = new Random(seed);
    AdmissionEngine engine = engineWithFullQueue(requests, random);
    Map<String, Long> told = new HashMap<>();
    engine.waiting(QUOTA, 20_000).stream()
        .filter(waiter -> waiter.arrival() % 97 == 0)
        .forEach(
            waiter -> told.put(waiter.request().requestId(), toldAgain(engine, waiter.request())));

    // when
    Map<String, Long> granted = drain(engine);

    // then
    assertThat(told).hasSizeGreaterThan(requests / 110);
    told.forEach(
        (id, etaMs) ->
            assertThat((double) etaMs)
                .as("ETA of %s, seed %d", id, seed)
                .isBetween(0.9 * granted.get(id) - 5, 1.1 * granted.get(id) + 5));
  }

  @ParameterizedTest
  @CsvSource({"4,3000,", "5,2500,0.1"})
  void shouldTellItAsWellWhereTenantsShare(long seed, int requests, Double ceiling) {
    // given: requests of four tenants, one of them with a ceiling or not
    Random random = new Random(seed);
    AdmissionEngine engine =
        engineWithFullQueue(
            requests,
            random,
            Map.of(
                "a", OrderContext.tenant(1, null, "agent1*"),
                "b", OrderContext.tenant(2, ceiling, "agent2*"),
                "c", OrderContext.tenant(4, null, "agent3*")));
    Map<String, Long> told = new HashMap<>();
    engine.waiting(QUOTA, 20_000).stream()
        .filter(waiter -> waiter.arrival() % 37 == 0)
        .forEach(
            waiter -> told.put(waiter.request().requestId(), toldAgain(engine, waiter.request())));

    // when
    Map<String, Long> granted = drain(engine);

    // then: within a tenth, or the time in which one request refills
    assertThat(told).hasSizeGreaterThan(60);
    told.forEach(
        (id, etaMs) ->
            assertThat((double) etaMs)
                .as("ETA of %s, seed %d", id, seed)
                .isBetween(
                    0.9 * granted.get(id) - LARGEST_REFILL_MS,
                    1.1 * granted.get(id) + LARGEST_REFILL_MS));
  }

  @Test
  void shouldTellThatTheRestOfAFixedWindowIsLost() {
    // given: of a minute of 1000, one call of 600
    Amounts limit = Amounts.of(Dimension.INPUT_TOKENS, 1_000);
    QuotaDefinition fixed =
        EngineContext.quota(limit, null, MarginModeName.RATE, 1.0, Window.FIXED);
    EngineContext context =
        EngineContext.with(Redefined.like(fixed).maxQueueWaitMs(DAY_MS).definition());
    Map<String, Long> told = new HashMap<>();
    for (int i = 0; i < 6; i++) {
      String id = "r" + i;
      for (Event event : OrderContext.ask(id, "a1", 600).of(context)) {
        if (event instanceof LeaseQueued e) {
          told.put(id, context.nowMs + e.etaMs());
        }
      }
    }

    // when
    Map<String, Long> granted = new HashMap<>();
    while (granted.size() < told.size()) {
      context.sleep(context.engine.nextDeadlineMs() - context.nowMs);
      context.journal.stream()
          .flatMap(handled -> handled.events().stream())
          .filter(LeaseGranted.class::isInstance)
          .map(LeaseGranted.class::cast)
          .filter(e -> told.containsKey(e.requestId()))
          .forEach(e -> granted.put(e.requestId(), e.grantedAtMs()));
    }

    // then
    assertThat(told).hasSizeGreaterThan(4);
    assertThat(granted).isEqualTo(told);
  }

  /**
   * An engine whose input bucket is empty, with that many requests of mixed size and weight in
   * line.
   */
  public static AdmissionEngine engineWithFullQueue(int requests, Random random) {
    return engineWithFullQueue(requests, random, Map.of());
  }

  private static AdmissionEngine engineWithFullQueue(
      int requests, Random random, Map<String, QuotaDefinition.Tenant> tenants) {
    Amounts limits =
        Amounts.of(Dimension.INPUT_TOKENS, 450_000)
            .with(Dimension.OUTPUT_TOKENS, 90_000)
            .with(Dimension.REQUESTS, 1_000);
    QuotaDefinition quota =
        new QuotaDefinition(
            QUOTA,
            "anthropic",
            Preset.FAIRWAY,
            List.of(),
            List.of(),
            Window.TOKEN_BUCKET,
            limits,
            null,
            Amounts.of(Dimension.INPUT_TOKENS, 0),
            new Margin(MarginModeName.RATE, 0.85, 0.6, null, null, null),
            DAY_MS,
            DAY_MS,
            null,
            null,
            null,
            null,
            null,
            20_000,
            20_000,
            null,
            Map.of(),
            tenants,
            Map.of(),
            null,
            State.ACTIVE,
            0);
    AdmissionEngine engine = new AdmissionEngine();
    engine.handle(KEY, new Command.DefineQuota(quota, SALT), START_MS);
    for (int i = 0; i < requests; i++) {
      LeaseRequest r =
          request(
              "r" + i,
              "agent" + random.nextInt(200),
              ROLES[random.nextInt(ROLES.length)],
              200 + random.nextInt(20_000),
              random.nextInt(3_000));
      engine.handle(KEY, new Command.RequestLease(r, START_MS), START_MS);
    }
    return engine;
  }

  public static LeaseRequest request(String id, String agent, String role, long in, long out) {
    return new LeaseRequest(
        id,
        agent,
        QUOTA,
        null,
        role,
        "batch",
        null,
        0,
        null,
        new Estimate(in, 0, null, out, ""),
        null,
        START_MS + DAY_MS,
        null,
        null);
  }

  private static long toldAgain(AdmissionEngine engine, LeaseRequest request) {
    Handled again = engine.handle(KEY, new Command.RequestLease(request, START_MS), START_MS);
    DecisionRepeated repeated = EngineContext.only(again.events(), DecisionRepeated.class);
    return ((LeaseQueued) repeated.decision()).etaMs();
  }

  private static Map<String, Long> drain(AdmissionEngine engine) {
    Map<String, Long> granted = new HashMap<>();
    while (!engine.waiting(QUOTA, 1).isEmpty()) {
      long at = engine.nextDeadlineMs();
      for (Event event : engine.handle(KEY, new Command.Tick(), at).events()) {
        if (event instanceof LeaseGranted e) {
          granted.put(e.requestId(), at - START_MS);
        }
      }
    }
    return granted;
  }
}
