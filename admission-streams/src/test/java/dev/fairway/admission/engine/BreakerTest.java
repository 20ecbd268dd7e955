package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BreakerCause;
import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.BreakerHalfOpen;
import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Event.RampStarted;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.breaker.BreakerState;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BreakerTest extends BreakerFixture {
  @Test
  void shouldOpenAtTwoRefusalsWithinThreeSeconds() {
    // given
    String first = granted("r1");
    String second = granted("r2");

    // when
    List<Event> one = refused(first, null);
    context.sleep(3_000);
    List<Event> two = refused(second, 5_000L);

    // then
    assertThat(one).noneMatch(BreakerOpened.class::isInstance);
    assertThat(only(two, BreakerOpened.class))
        .isEqualTo(new BreakerOpened("k/q", BreakerCause.REFUSALS, 0, context.nowMs + 5_000));
  }

  @Test
  void shouldStayClosedWhereTheSecondRefusalIsLater() {
    // given
    String first = granted("r1");
    String second = granted("r2");

    // when
    refused(first, null);
    context.sleep(3_001);

    // then
    assertThat(refused(second, null)).noneMatch(BreakerOpened.class::isInstance);
  }

  @Test
  void shouldLetOneProbeThroughAndDoubleTheWaitAtEachRefusal() {
    // given
    open();
    context.ask("w1", "a1", 100);
    context.ask("w2", "a2", 100);
    List<Long> waits = new ArrayList<>();

    for (int i = 0; i < 7; i++) {
      // when: the probe is refused at once, however long it waited
      long openedMs = context.nowMs;
      List<LeaseGranted> probes = List.of();
      while (probes.isEmpty()) {
        probes = grants(context.sleep(1_000));
        context.ask("again-" + context.nowMs, "a3", 100);
      }

      // then
      assertThat(probes).hasSize(1);
      waits.add(probes.get(0).grantedAtMs() - openedMs);
      List<Event> again = refused(probes.get(0), null);
      assertThat(only(again, BreakerOpened.class).cause()).isEqualTo(BreakerCause.PROBE_REFUSED);
    }
    assertThat(waits).containsExactly(1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 30_000L, 30_000L);
  }

  @Test
  void shouldCutTheMarginOnceForAnOutageAndAgainInTheRampAfterIt() {
    // given
    open();
    int marginBp = context.show().marginBp();

    // when: three probes are refused, the fourth closes it
    for (int i = 0; i < 3; i++) {
      context.sleep(16_000);
      refused(granted("p" + i), null);
    }
    int afterProbesBp = context.show().marginBp();
    context.sleep(16_000);
    context.settle(granted("p3"), "a1", Outcome.SUCCEEDED, 100L, 0L);
    context.sleep(5_000);
    List<Event> inRamp = refused(granted("r"), null);

    // then
    assertThat(marginBp).isEqualTo(9_500);
    assertThat(afterProbesBp).isEqualTo(marginBp);
    assertThat(only(inRamp, MarginCut.class).toBp()).isEqualTo(9_000);
  }

  @Test
  void shouldProbeWithWhoWasRefusedLeastOftenAndKeepTheOrder() {
    // given: three in line, of agents that were never refused, in that order
    open();
    context.ask("w1", "a2", 100);
    context.ask("w2", "a3", 200);
    context.ask("w3", "a4", 300);

    // when: every probe is refused, and its call goes back in line
    List<String> probes = new ArrayList<>();
    long virtualTime = context.show().virtualTime();
    for (int i = 0; i < 6; i++) {
      List<LeaseGranted> granted = List.of();
      while (granted.isEmpty()) {
        granted = grants(context.sleep(1_000));
      }
      probes.add(granted.get(0).requestId());
      requeued(granted.get(0));
    }

    // then: each was refused as often as the others, none lost its place
    assertThat(probes).containsExactly("w1", "w2", "w3", "w1", "w2", "w3");
    assertThat(context.show().virtualTime()).isGreaterThanOrEqualTo(virtualTime);
    assertThat(context.show().waiting()).isEqualTo(3);
  }

  @Test
  void shouldCloseAtAnyAnswerButARefusalAndRampUp() {
    for (Outcome outcome :
        List.of(Outcome.SUCCEEDED, Outcome.FAILED_AFTER_SEND, Outcome.OVERLOADED)) {
      // given
      EngineContext fresh = EngineContext.with(tokens(60_000), tokens(59_000));
      open(fresh);
      fresh.sleep(1_000);
      LeaseGranted probe = only(fresh.ask("p", "a1", 100), LeaseGranted.class);

      // when: a failure says so with its status
      List<Event> answered =
          fresh.settle(
              probe.leaseId(),
              "a1",
              outcome,
              null,
              null,
              s -> outcome == Outcome.FAILED_AFTER_SEND ? with(s, 500, Kind.ERROR, null) : s);

      // then
      assertThat(only(answered, BreakerClosed.class).leaseId()).isEqualTo(probe.leaseId());
      long pauseMs = outcome == Outcome.OVERLOADED ? 1_000 : 0;
      assertThat(only(answered, RampStarted.class).fromMs()).isEqualTo(fresh.nowMs + pauseMs);
    }
  }

  @Test
  void shouldCloseWhenTheProbeStreamsAndNotWhenItOnlyRenews() {
    // given
    open();
    context.sleep(1_000);
    String probe = granted("p");

    // when
    List<Event> renewed = context.settle(probe, "a1", Outcome.IN_PROGRESS, null, null);
    List<Event> streams = context.settle(probe, "a1", Outcome.IN_PROGRESS, 100L, null);

    // then
    assertThat(renewed).noneMatch(BreakerClosed.class::isInstance);
    only(streams, BreakerClosed.class);
  }

  @Test
  void shouldHandTheProbeOnWhenItIsGivenBackOrCancelled() {
    // given: calls of an agent that was never refused, so that none of them is a retry
    open();
    context.sleep(1_000);
    String probe = granted("p1");
    for (int i = 2; i < 6; i++) {
      context.ask("p" + i, "a2", 100);
    }

    // when: given back, cancelled after its grant, and, after one that is refused, too large
    List<Event> givenBack = context.settle(probe, "a1", Outcome.NOT_SENT, null, null);
    List<Event> cancelled =
        context.submit(
            new Command.SettleLease(
                new Settlement(null, "p2", "a2", "k/q", Outcome.CANCELLED, null, false, null),
                context.nowMs));
    refused(only(cancelled, LeaseGranted.class), null);
    LeaseGranted large = only(context.sleep(2_000), LeaseGranted.class);
    List<Event> tooLarge =
        context.settle(
            large.leaseId(),
            "a2",
            Outcome.RATE_LIMITED,
            null,
            null,
            s -> with(s, Kind.NEVER_FITS, null));

    // then
    for (List<Event> events : List.of(givenBack, cancelled, tooLarge)) {
      BreakerOpened opened = only(events, BreakerOpened.class);
      assertThat(opened.cause()).isEqualTo(BreakerCause.PROBE_NOT_SENT);
      assertThat(only(events, BreakerHalfOpen.class).leaseId())
          .isEqualTo(only(events, LeaseGranted.class).leaseId());
    }
  }

  @Test
  void shouldNotBeWedgedByAProbeThatVanishesAndStillHearOfOneThatIsSlow() {
    // given
    open();
    context.sleep(1_000);
    String slow = granted("p1");
    context.ask("p2", "a2", 100);
    context.ask("p3", "a3", 100);

    // when
    List<Event> within = context.sleep(14_999);
    List<Event> after = context.sleep(1);
    List<Event> answered = context.settle(slow, "a1", Outcome.SUCCEEDED, 100L, 0L);

    // then
    assertThat(grants(within)).isEmpty();
    assertThat(only(after, BreakerOpened.class).cause()).isEqualTo(BreakerCause.PROBE_SILENT);
    assertThat(only(after, LeaseGranted.class).requestId()).isEqualTo("p2");
    only(answered, BreakerClosed.class);
  }

  @Test
  void shouldIgnoreRefusalsOfLeasesGrantedBeforeItOpened() {
    // given
    List<String> leases = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      leases.add(granted("r" + i));
    }
    refused(leases.get(0), null);
    refused(leases.get(1), null);

    // when: one while it is open, then it closes, then two more
    List<Event> open = refused(leases.get(2), null);
    context.sleep(1_000);
    String probe = granted("p");
    List<Event> inFlight = refused(leases.get(3), null);
    context.settle(probe, "a1", Outcome.SUCCEEDED, 100L, 0L);
    List<Event> closed = new ArrayList<>(refused(leases.get(4), null));
    closed.addAll(refused(leases.get(5), null));

    // then
    for (List<Event> events : List.of(open, inFlight, closed)) {
      assertThat(events)
          .noneMatch(BreakerOpened.class::isInstance)
          .noneMatch(BreakerClosed.class::isInstance);
    }
    assertThat(open).noneMatch(QuotaHeld.class::isInstance);
  }

  @Test
  void shouldTakeARetryAfterForAFloorWhoeverBringsIt() {
    // given
    String old = granted("old");
    open();

    // when
    refused(old, 9_000L);
    context.ask("p", "a1", 100);

    // then
    assertThat(grants(context.sleep(8_999))).isEmpty();
    assertThat(grants(context.sleep(1))).hasSize(1);
  }

  @Test
  void shouldPauseOnceForOverloadsOfOneEpisodeAndRamp() {
    // given
    List<String> leases = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      leases.add(granted("r" + i));
    }

    // when
    List<Event> events = new ArrayList<>();
    for (String lease : leases) {
      events.addAll(context.settle(lease, "a1", Outcome.OVERLOADED, null, null));
    }
    long pausedMs = context.nowMs;
    context.sleep(1_000);
    List<Event> second = context.settle(granted("next"), "a1", Outcome.OVERLOADED, null, null);

    // then
    assertThat(only(events, QuotaHeld.class).untilMs()).isEqualTo(pausedMs + 1_000);
    assertThat(only(events, RampStarted.class).fromMs()).isEqualTo(pausedMs + 1_000);
    assertThat(only(second, QuotaHeld.class).untilMs()).isEqualTo(context.nowMs + 2_000);
    assertThat(only(second, RampStarted.class).fromMs()).isEqualTo(context.nowMs + 2_000);
    assertThat(context.level(dev.fairway.admission.engine.bucket.Dimension.TOKENS)).isPositive();
  }

  @Test
  void shouldCloseWhenAnOperatorClearsTheQuota() {
    // given
    open();
    context.ask("w", "a1", 100);

    // when
    List<Event> cleared =
        context.submit(
            new Command.DefineQuota(
                Redefined.like(EngineContext.quota(tokens(60_000), tokens(59_000)))
                    .cleared()
                    .definition(),
                EngineContext.SALT));

    // then
    assertThat(only(cleared, BreakerClosed.class).leaseId()).isNull();
    only(cleared, RampStarted.class);
    assertThat(grants(cleared)).hasSize(1);
  }

  @Test
  void shouldForgetTheBreakerUnderAPolicyThatHasNone() {
    // given
    open();

    // when
    context.submit(
        new Command.DefineQuota(
            Redefined.like(EngineContext.quota(tokens(60_000), tokens(59_000)))
                .cleared()
                .preset(Preset.SEED)
                .definition(),
            EngineContext.SALT));
    String first = granted("s1");
    String second = granted("s2");

    // then
    assertThat(context.engine.show("k/q", context.nowMs).breaker()).isEqualTo(BreakerState.NONE);
    List<Event> events = new ArrayList<>(refused(first, null));
    events.addAll(refused(second, 40_000L));
    assertThat(events)
        .noneMatch(BreakerOpened.class::isInstance)
        .noneMatch(RampStarted.class::isInstance);
  }

  @Test
  void shouldLetALeaseOfAnotherQuotaProbeAQuotaThatItTakesFromToo() {
    // given: the breaker of the quota that k/team takes from is open, and so is nobody else's
    context.submit(
        new Command.DefineQuota(
            Redefined.like(EngineContext.quota(tokens(60_000), null))
                .id("k/team")
                .takingFrom("k/q")
                .definition(),
            EngineContext.SALT));
    open();

    // when
    List<Event> early = context.submit(team("t1"));
    LeaseGranted probe = only(context.sleep(1_000), LeaseGranted.class);
    List<Event> others = context.submit(team("t2"));
    List<Event> answered =
        context.submit(
            new Command.SettleLease(
                new Settlement(
                    probe.leaseId(),
                    null,
                    probe.agentId(),
                    "k/team",
                    Outcome.SUCCEEDED,
                    null,
                    false,
                    null),
                context.nowMs));

    // then
    assertThat(grants(early)).isEmpty();
    assertThat(probe.requestId()).isEqualTo("t1");
    assertThat(grants(others)).isEmpty();
    assertThat(only(answered, BreakerClosed.class))
        .isEqualTo(new BreakerClosed("k/q", probe.leaseId(), null));
    assertThat(grants(answered)).hasSize(1);
  }

  private Command team(String id) {
    LeaseRequest request =
        Asking.like(EngineContext.request(id, "a-" + id, 100, 0)).of("k/team").request();
    return new Command.RequestLease(request, context.nowMs);
  }
}
