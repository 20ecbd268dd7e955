package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.quota;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Event.RampStarted;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each rule after a 429 at work where it is on, and not where it is off, under both presets. */
class RefusalRulesTest {
  private static final QuotaDefinition QUOTA = quota(tokens(60_000), tokens(59_000));

  private static EngineContext with(Preset preset, Rule rule, boolean on) {
    return EngineContext.with(Redefined.like(QUOTA).preset(preset).rule(rule, on).definition());
  }

  private static String lease(EngineContext context, String id) {
    return only(context.ask(id, "a1", 100), LeaseGranted.class).leaseId();
  }

  private static long count(List<Event> events, Class<? extends Event> type) {
    return events.stream().filter(type::isInstance).count();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldCutOnceAnEpisode(Preset preset) {
    assertThat(cuts(preset, true)).isEqualTo(1);
    assertThat(cuts(preset, false)).isEqualTo(2);
  }

  /** By two 429s of calls that were granted before the first. */
  private static long cuts(Preset preset, boolean on) {
    EngineContext context = with(preset, Rule.EPISODES, on);
    String first = lease(context, "r1");
    String second = lease(context, "r2");
    List<Event> events = new ArrayList<>(BreakerFixture.refused(context, first, null));
    context.sleep(3_001);
    events.addAll(BreakerFixture.refused(context, second, null));
    return count(events, MarginCut.class);
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldPauseOnceAnEpisode(Preset preset) {
    assertThat(pauses(preset, true)).isEqualTo(1);
    assertThat(pauses(preset, false)).isEqualTo(2);
  }

  private static long pauses(Preset preset, boolean on) {
    EngineContext context = with(preset, Rule.EPISODES, on);
    String first = lease(context, "r1");
    String second = lease(context, "r2");
    List<Event> events = new ArrayList<>(overloaded(context, first, null));
    events.addAll(overloaded(context, second, null));
    return count(events, QuotaHeld.class);
  }

  private static List<Event> overloaded(EngineContext context, String lease, Long retryAfterMs) {
    Signal signal = new Signal(529, Kind.OVERLOADED, null, retryAfterMs, 0L, null, Map.of());
    return context.settle(
        lease,
        "a1",
        Outcome.OVERLOADED,
        null,
        null,
        s ->
            new Settlement(
                s.leaseId(), null, s.agentId(), s.quotaId(), s.outcome(), null, false, signal));
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldOpenABreaker(Preset preset) {
    assertThat(count(twoRefusals(with(preset, Rule.BREAKER, true)), BreakerOpened.class)).isOne();
    assertThat(count(twoRefusals(with(preset, Rule.BREAKER, false)), BreakerOpened.class)).isZero();
  }

  private static List<Event> twoRefusals(EngineContext context) {
    String first = lease(context, "r1");
    String second = lease(context, "r2");
    List<Event> events = new ArrayList<>(BreakerFixture.refused(context, first, null));
    events.addAll(BreakerFixture.refused(context, second, null));
    return events;
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldRampAfterALongHold(Preset preset) {
    for (boolean on : new boolean[] {true, false}) {
      EngineContext context = with(preset, Rule.RAMP, on);
      List<Event> held = BreakerFixture.refused(context, lease(context, "r1"), 40_000L);
      assertThat(count(held, RampStarted.class)).isEqualTo(on ? 1 : 0);
    }
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldRampAfterABreakerAndTellSo(Preset preset) {
    for (boolean on : new boolean[] {true, false}) {
      // given: a breaker is open, and 40 calls wait
      QuotaDefinition definition =
          Redefined.like(QUOTA)
              .preset(preset)
              .rule(Rule.BREAKER, true)
              .rule(Rule.EXACT_ETA, true)
              .rule(Rule.RAMP, on)
              .definition();
      EngineContext context = EngineContext.with(definition);
      twoRefusals(context);
      for (int i = 0; i < 40; i++) {
        context.ask("w" + i, "b" + i, 500);
      }
      LeaseQueued last = only(context.ask("last", "c", 500), LeaseQueued.class);

      // when: its probe is answered
      LeaseGranted probe = only(context.sleep(1_000), LeaseGranted.class);
      List<Event> answered =
          context.settle(probe.leaseId(), probe.agentId(), Outcome.SUCCEEDED, 500L, 0L);

      // then: all of them go at once, or bit by bit
      only(answered, BreakerClosed.class);
      assertThat(count(answered, RampStarted.class)).isEqualTo(on ? 1 : 0);
      assertThat(count(answered, LeaseGranted.class)).isEqualTo(on ? 1 : 40);
      assertThat(last.etaMs()).isBetween(on ? 15_000L : 1_000L, on ? 45_000L : 2_000L);
    }
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldPauseForAnOverloadedProvider(Preset preset) {
    for (boolean on : new boolean[] {true, false}) {
      EngineContext context = with(preset, Rule.OVERLOAD_PAUSE, on);
      String first = lease(context, "r1");
      String second = lease(context, "r2");
      List<Event> paused = overloaded(context, first, null);
      List<Event> named = overloaded(context, second, 5_000L);

      // what a provider asks for holds all the same
      assertThat(count(paused, QuotaHeld.class)).isEqualTo(on ? 1 : 0);
      assertThat(only(named, QuotaHeld.class).untilMs()).isEqualTo(context.nowMs + 5_000);
    }
  }
}
