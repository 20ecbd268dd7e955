package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.AlertCleared;
import dev.fairway.admission.engine.Event.AlertRaised;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.alert.Waves;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Signs that agents and provider work against each other. */
class StormAlertTest {
  private static final long MINUTE_MS = 60_000;
  private final EngineContext context = EngineContext.with(tokens(6_000_000), tokens(5_900_000));

  @Test
  void shouldTellWavesFromRefusalsThatAreIndependent() {
    // given: the same number of 429s, once one by one and once ten at a time
    Random random = new Random(20_261_130L);
    Waves independent = Waves.NONE;
    Waves inWaves = Waves.NONE;
    long atMs = 1_000_000;

    // when
    for (int i = 0; i < 600; i++) {
      atMs += 1_000;
      if (random.nextInt(2) == 0) {
        independent = independent.with(atMs, 1_000);
      }
      for (int n = 0; i % 20 == 0 && n < 10; n++) {
        inWaves = inWaves.with(atMs, 1_000);
      }
    }

    // then
    assertThat(independent.at(atMs + 1_000, 1_000).dispersion()).isLessThan(1.5);
    assertThat(inWaves.at(atMs + 1_000, 1_000).dispersion()).isGreaterThan(5);
  }

  @Test
  void shouldRaiseWavesAndClearThemWhenTheyAreOver() {
    // given: a policy without a breaker, which would let no wave through
    QuotaDefinition quota = EngineContext.quota(tokens(6_000_000), tokens(5_900_000));
    context.submit(
        new Command.DefineQuota(
            Redefined.like(quota).preset(QuotaDefinition.Preset.SEED).definition(),
            EngineContext.SALT));
    List<Event> events = new ArrayList<>();

    // when: eight waves of ten, 40 s apart, then quiet
    for (int wave = 0; wave < 8; wave++) {
      List<LeaseGranted> leases = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        leases.add(granted("r" + wave + "-" + i, null));
      }
      leases.forEach(lease -> events.addAll(settle(lease, Outcome.RATE_LIMITED)));
      events.addAll(context.sleep(40_000));
    }
    events.addAll(context.sleep(30 * MINUTE_MS));

    // then
    assertThat(raised(events)).contains(AlertKind.REFUSALS_IN_WAVES);
    assertThat(cleared(events)).contains(AlertKind.REFUSALS_IN_WAVES);
    assertThat(context.engine.show("k/q", context.nowMs).alerts())
        .noneMatch(alert -> alert.kind() == AlertKind.REFUSALS_IN_WAVES);
  }

  @Test
  void shouldHoldWavesOfRefusalsAgainstThoseOfTurns() {
    // given: calls wanted ten at a time, and one by one, of which a half is refused
    Random random = new Random(20_261_130L);
    Waves inWaves = Waves.NONE;
    Waves evenly = Waves.NONE;
    Waves refused = Waves.NONE;
    long atMs = 1_000_000;

    // when
    for (int i = 0; i < 600; i++) {
      atMs += 1_000;
      evenly = random.nextInt(2) == 0 ? evenly.with(atMs, 1_000) : evenly;
      for (int n = 0; i % 20 == 0 && n < 10; n++) {
        inWaves = inWaves.with(atMs, 1_000);
        refused = random.nextInt(2) == 0 ? refused.with(atMs, 1_000) : refused;
      }
    }
    Waves refusals = refused.at(atMs + 1_000, 1_000);

    // then: chance alone would leave as much of the waves of turns, and nothing of no waves
    assertThat(refusals.dispersionBy(inWaves.at(atMs + 1_000, 1_000)))
        .isBetween(.8 * refusals.dispersion(), 1.2 * refusals.dispersion());
    assertThat(refusals.dispersionBy(evenly.at(atMs + 1_000, 1_000))).isLessThan(1.5);
  }

  @Test
  void shouldSayWhetherWavesAreThoseOfTurns() {
    // when: calls that are wanted ten at a time, or one by one, are refused ten at a time
    List<String> ofTurns = details(wavesOfRefusals(true));
    List<String> ofOthers = details(wavesOfRefusals(false));

    // then
    assertThat(ofTurns).isNotEmpty().allMatch(d -> d.contains("are those of the agents' turns"));
    assertThat(ofOthers).isNotEmpty().allMatch(d -> d.contains("is not the agents' turns"));
  }

  private static List<Event> wavesOfRefusals(boolean turnsInWaves) {
    StormAlertTest fleet = new StormAlertTest();
    fleet.context.submit(
        new Command.DefineQuota(
            Redefined.like(EngineContext.quota(tokens(6_000_000), tokens(5_900_000)))
                .preset(QuotaDefinition.Preset.SEED)
                .definition(),
            EngineContext.SALT));
    List<Event> events = new ArrayList<>();
    for (int wave = 0; wave < 24; wave++) {
      List<LeaseGranted> leases = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        events.addAll(fleet.context.sleep(turnsInWaves ? i == 0 ? 40_000 : 0 : 4_000));
        leases.add(fleet.granted("r" + wave + "-" + i, null));
      }
      leases.forEach(lease -> events.addAll(fleet.settle(lease, Outcome.RATE_LIMITED)));
    }
    return events;
  }

  private static List<String> details(List<Event> events) {
    return events.stream()
        .filter(e -> e instanceof AlertRaised a && a.kind() == AlertKind.REFUSALS_IN_WAVES)
        .map(e -> ((AlertRaised) e).detail())
        .toList();
  }

  @Test
  void shouldRaiseMoreRefusalsThanTasks() {
    // given
    List<Event> events = new ArrayList<>();

    // when: one task and a 429 each ten seconds
    for (int i = 0; i < 36; i++) {
      LeaseGranted lease = granted("r" + i, "T");
      events.addAll(settle(lease, Outcome.RATE_LIMITED));
      events.addAll(context.sleep(10_000));
    }
    events.addAll(context.sleep(20 * MINUTE_MS));

    // then
    assertThat(raised(events)).containsOnlyOnce(AlertKind.MORE_REFUSALS_THAN_TASKS);
    assertThat(cleared(events)).contains(AlertKind.MORE_REFUSALS_THAN_TASKS);
  }

  @Test
  void shouldCountRefusalsOfCallsWithoutALease() {
    // given: who names its task asks for a lease, and who has none is refused
    List<Event> events = new ArrayList<>();
    Signal refused = new Signal(429, Signal.Kind.RATE_LIMITED, null, null, 0L, 50L, Map.of());

    // when
    for (int i = 0; i < 36; i++) {
      events.addAll(settle(granted("r" + i, "T"), Outcome.SUCCEEDED));
      Settlement unleased =
          new Settlement(
              null, "u" + i, "a2", EngineContext.QUOTA, Outcome.UNLEASED, null, false, refused);
      events.addAll(context.submit(new Command.SettleLease(unleased, context.nowMs)));
      events.addAll(context.sleep(10_000));
    }
    events.addAll(context.sleep(20 * MINUTE_MS));

    // then
    assertThat(raised(events)).containsOnlyOnce(AlertKind.MORE_REFUSALS_THAN_TASKS);
  }

  @Test
  void shouldRaiseMoreRequestsWithFewerSuccesses() {
    // given: windows of five minutes begin at multiples of them
    context.sleep(300_000 - context.nowMs % 300_000);
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      events.addAll(settle(granted("good-" + i, null), Outcome.SUCCEEDED));
      events.addAll(context.sleep(7_500));
    }

    // when: twice the requests, and every fourth succeeds
    for (int i = 0; i < 80; i++) {
      Outcome outcome = i % 4 == 0 ? Outcome.SUCCEEDED : Outcome.FAILED_AFTER_SEND;
      events.addAll(settle(granted("bad-" + i, null), outcome));
      events.addAll(context.sleep(3_750));
    }
    events.addAll(settle(granted("next", null), Outcome.SUCCEEDED));

    // then
    assertThat(raised(events)).contains(AlertKind.FEWER_SUCCESSES);
  }

  @Test
  void shouldRaiseWhatRetriesSpendAndNothingWhereAllIsWell() {
    // given
    context.sleep(300_000 - context.nowMs % 300_000);
    List<Event> well = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      well.addAll(settle(granted("well-" + i, "T" + i), Outcome.SUCCEEDED));
      well.addAll(context.sleep(7_500));
    }

    // when: every third call fails and is made again
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < 45; i++) {
      LeaseGranted lease = granted("call-" + i, null);
      events.addAll(settle(lease, i % 3 == 0 ? Outcome.FAILED_AFTER_SEND : Outcome.SUCCEEDED));
      if (i % 3 == 0) {
        LeaseRequest again = request("again-" + i, lease.agentId(), null, "call-" + i);
        events.addAll(settle(only(context.ask(again), LeaseGranted.class), Outcome.SUCCEEDED));
      }
      events.addAll(context.sleep(7_500));
    }

    // then
    assertThat(raised(well)).isEmpty();
    assertThat(raised(events)).contains(AlertKind.RETRY_SPEND);
  }

  /** Each call by an agent of its own: one agent's calls after a failure count as its retries. */
  private LeaseGranted granted(String id, String task) {
    return only(context.ask(request(id, "agent-" + id, task, null)), LeaseGranted.class);
  }

  private static LeaseRequest request(String id, String agent, String task, String retryOf) {
    return Asking.like(EngineContext.request(id, agent, 1_000, 0))
        .task(task)
        .retryOf(retryOf)
        .request();
  }

  private List<Event> settle(LeaseGranted lease, Outcome outcome) {
    Long input = outcome == Outcome.SUCCEEDED ? (Long) 1_000L : null;
    return context.settle(
        lease.leaseId(), lease.agentId(), outcome, input, input == null ? null : 0L);
  }

  private static List<AlertKind> raised(List<Event> events) {
    return events.stream()
        .filter(AlertRaised.class::isInstance)
        .map(e -> ((AlertRaised) e).kind())
        .toList();
  }

  private static List<AlertKind> cleared(List<Event> events) {
    return events.stream()
        .filter(AlertCleared.class::isInstance)
        .map(e -> ((AlertCleared) e).kind())
        .toList();
  }
}
