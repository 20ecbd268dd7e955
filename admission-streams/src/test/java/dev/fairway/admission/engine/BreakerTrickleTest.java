package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BreakerCause;
import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.RampEnded;
import dev.fairway.admission.engine.Event.RampStarted;
import dev.fairway.admission.engine.Settlement.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What comes between an open breaker and all of the rate: the trickle, and the ramp. */
class BreakerTrickleTest extends BreakerFixture {
  @Test
  void shouldTrickleAfterThreeProbesThatToldNothing() {
    // given: one with four calls first in line, that tells of none of them
    open();
    for (int i = 1; i <= 4; i++) {
      context.ask("x" + i, "x", 1_000);
    }
    context.ask("y1", "y", 5_000);
    context.ask("y2", "y", 5_000);
    LeaseGranted first = only(context.sleep(1_000), LeaseGranted.class);

    // when: given back, and then silent twice
    List<Event> second = context.settle(first.leaseId(), "x", Outcome.NOT_SENT, null, null);
    List<Event> third = context.sleep(15_000);
    List<Event> trickle = context.sleep(15_000);
    long fromMs = context.nowMs;
    List<LeaseGranted> trickled = new ArrayList<>(grants(trickle));
    trickled.addAll(grants(context.sleep(40_000)));

    // then: a quarter of 95 % of 60,000 a minute, and none keeps the next one back over 15 s
    assertThat(only(second, BreakerOpened.class).cause()).isEqualTo(BreakerCause.PROBE_NOT_SENT);
    assertThat(only(third, BreakerOpened.class).cause()).isEqualTo(BreakerCause.PROBE_SILENT);
    assertThat(only(trickle, BreakerClosed.class))
        .isEqualTo(new BreakerClosed("k/q", null, fromMs));
    assertThat(trickle).noneMatch(BreakerOpened.class::isInstance);
    assertThat(trickled).extracting(LeaseGranted::requestId).containsExactly("x4", "y1", "y2");
    assertThat(trickled)
        .extracting(e -> e.grantedAtMs() - fromMs)
        .containsExactly(0L, 4_211L, 19_211L);
    assertThat(context.show().paceBp()).isEqualTo(2_500);
  }

  @Test
  void shouldKeepNobodyBackForWhatTheTrickleGetsBack() {
    // given
    LeaseGranted given = only(trickle(), LeaseGranted.class);
    context.ask("y", "y", 1_000);

    // when
    List<Event> back = context.settle(given.leaseId(), "x", Outcome.NOT_SENT, null, null);

    // then
    assertThat(only(back, LeaseGranted.class).requestId()).isEqualTo("y");
    assertThat(back).noneMatch(BreakerOpened.class::isInstance);
  }

  @Test
  void shouldOpenAgainWhereItWasAtOneRefusalInTheTrickle() {
    // given: the second wait of the episode is over
    open();
    context.sleep(1_000);
    refused(granted("p"), null);
    context.sleep(2_000);
    int marginBp = context.show().marginBp();
    context.ask("x1", "x", 100);
    context.ask("x2", "x", 100);
    context.ask("x3", "x", 100);
    context.sleep(45_000);
    LeaseGranted one = only(context.ask("y1", "y", 100), LeaseGranted.class);
    context.sleep(1_000);
    LeaseGranted two = only(context.ask("y2", "y", 100), LeaseGranted.class);

    // when: both are refused, and then one that stayed silent as a probe
    List<Event> again = refused(one, null);
    List<Event> other = refused(two, null);

    // then: the waits go on, the refusals of the trickle are one, and the margin was cut before
    assertThat(only(again, BreakerOpened.class))
        .isEqualTo(new BreakerOpened("k/q", BreakerCause.PROBE_REFUSED, 2, context.nowMs + 4_000));
    assertThat(other).noneMatch(BreakerOpened.class::isInstance);
    assertThat(context.show().marginBp()).isEqualTo(marginBp);
    assertThat(context.show().breaker().trickles()).isFalse();
  }

  @Test
  void shouldRampUpAtTheFirstAnswerToTheTrickle() {
    // given
    LeaseGranted lease = only(trickle(), LeaseGranted.class);
    context.sleep(600_000);

    // when
    List<Event> answered = context.settle(lease.leaseId(), "x", Outcome.SUCCEEDED, 100L, 0L);
    List<Event> once = refused(only(context.ask("y", "y", 100), LeaseGranted.class), null);

    // then: however late, and the next 429 is a first one
    assertThat(only(answered, BreakerClosed.class))
        .isEqualTo(new BreakerClosed("k/q", lease.leaseId(), null));
    only(answered, RampStarted.class);
    assertThat(context.show().breaker().failures()).isZero();
    assertThat(once).noneMatch(BreakerOpened.class::isInstance);
  }

  @Test
  void shouldCountProbesThatToldNothingAnewAfterARefusal() {
    // given
    open();
    for (int i = 0; i < 3; i++) {
      context.ask("w" + i, "w", 100);
    }
    List<LeaseGranted> probes = grants(context.sleep(1_000 + 2 * 15_000));

    // when
    List<Event> refused = refused(probes.get(2), null);
    context.ask("x1", "x", 100);
    context.ask("x2", "x", 100);
    context.ask("x3", "x", 100);
    List<Event> silent = context.sleep(2_000 + 3 * 15_000 - 1);

    // then
    assertThat(only(refused, BreakerOpened.class).failures()).isEqualTo(1);
    assertThat(silent).noneMatch(BreakerClosed.class::isInstance);
    only(context.sleep(1), BreakerClosed.class);
  }

  /** Three silent probes; returns what came with the end of the third. */
  private List<Event> trickle() {
    open();
    for (int i = 1; i <= 4; i++) {
      context.ask("x" + i, "x", 1_000);
    }
    context.sleep(1_000 + 2 * 15_000);
    return context.sleep(15_000);
  }

  @Test
  void shouldPaceWhoWaitedAfterItCloses() {
    // given: a hundred calls, and a bucket that holds them all
    open();
    for (int i = 0; i < 100; i++) {
      context.ask("w" + i, "a" + i, 500);
    }
    LeaseGranted probe = only(context.sleep(1_000), LeaseGranted.class);
    List<LeaseGranted> served = new ArrayList<>(grants(answer(probe)));
    long fromMs = context.nowMs;

    // when
    served.addAll(grants(context.sleep(20_000)));

    // then: 20 s of the ramp are worth 11.7 s of the rate, 95 % of the limit: 22 calls and the
    // first
    assertThat(served).hasSize(23);
    assertThat(served.stream().filter(e -> e.grantedAtMs() == fromMs)).hasSize(1);
    assertThat(served.stream().filter(e -> e.grantedAtMs() < fromMs + 1_000)).hasSize(1);
  }

  @Test
  void shouldTellTheWaitThroughARamp() {
    // given
    open();
    context.sleep(1_000);
    LeaseGranted probe = only(context.ask("p", "a1", 100), LeaseGranted.class);
    answer(probe);
    for (int i = 0; i < 30; i++) {
      context.ask("w" + i, "a", 1_000);
    }

    // when
    LeaseQueued told = only(context.ask("last", "a", 1_000), LeaseQueued.class);
    long toldMs = context.nowMs;
    LeaseGranted last = null;
    for (LeaseGranted e : grants(context.sleep(120_000))) {
      last = e.requestId().equals("last") ? e : last;
    }

    // then
    assertThat(last).isNotNull();
    long waitedMs = last.grantedAtMs() - toldMs;
    assertThat(told.etaMs()).isBetween(waitedMs * 9 / 10, waitedMs * 11 / 10);
    assertThat(waitedMs).isGreaterThan(30_000);
  }

  @Test
  void shouldRampAfterALongHoldAndNotAfterAShortOne() {
    // given
    String one = granted("r1");
    String two = granted("r2");

    // when
    List<Event> shortHold = refused(one, 29_999L);
    context.sleep(30_000);
    List<Event> longHold = refused(two, 30_000L);
    long untilMs = context.nowMs + 30_000;
    for (int i = 0; i < 10; i++) {
      context.ask("w" + i, "a" + i, 1_000);
    }
    List<LeaseGranted> served = grants(context.sleep(40_000));

    // then: 10 s of the ramp are worth 5.4 s of the rate
    assertThat(shortHold).noneMatch(RampStarted.class::isInstance);
    assertThat(only(longHold, RampStarted.class).fromMs()).isEqualTo(untilMs);
    assertThat(served.get(0).grantedAtMs()).isEqualTo(untilMs);
    assertThat(served).hasSize(6);
  }

  @Test
  void shouldEndTheRampWithoutABurst() {
    // given: a bucket that fills while a queue is paced
    open();
    context.sleep(1_000);
    LeaseGranted probe = only(context.ask("p", "a1", 100), LeaseGranted.class);
    answer(probe);
    List<LeaseGranted> served = new ArrayList<>();
    int ended = 0;
    for (int i = 0; i < 240; i++) {
      context.ask("w" + i + "a", "a", 1_000);
      context.ask("w" + i + "b", "b", 1_000);
      List<Event> events = context.sleep(1_000);
      ended += events.stream().filter(RampEnded.class::isInstance).count();
      served.addAll(grants(events));
    }

    // then: never more in a second than twice the rate and one call
    for (LeaseGranted e : served) {
      long within =
          served.stream()
              .filter(
                  o ->
                      o.grantedAtMs() >= e.grantedAtMs()
                          && o.grantedAtMs() < e.grantedAtMs() + 1_000)
              .count();
      assertThat(within).isLessThanOrEqualTo(3);
    }
    assertThat(ended).isEqualTo(1);
    assertThat(context.engine.show("k/q", context.nowMs).breaker().isOpen()).isFalse();
  }
}
