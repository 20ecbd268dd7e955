package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BreakerCause;
import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.MarginCut;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a breaker takes for an answer of the provider, and what for a 429. */
class BreakerAnswersTest {
  private final EngineContext context = EngineContext.with(tokens(60_000), tokens(59_000));
  private int asked;

  @Test
  void shouldHandOnAProbeThatFailedWithoutAnAnswer() {
    // given
    open();
    context.sleep(1_000);
    LeaseGranted first = granted();
    context.ask("w1", "w", 100);
    context.ask("w2", "w", 100);
    context.ask("w3", "w", 100);
    Signal broken = new Signal(null, Kind.ERROR, null, null, null, 200L, Map.of());
    Usage estimated = new Usage(100L, 0L, 0L, null, false);

    // when: a timeout, a broken connection, and one whose input its agent counted itself
    List<Event> timeout = end(first, Outcome.FAILED_AFTER_SEND, null, null);
    LeaseGranted second = only(timeout, LeaseGranted.class);
    List<Event> connection = end(second, Outcome.FAILED_AFTER_SEND, null, broken);
    LeaseGranted third = only(connection, LeaseGranted.class);
    List<Event> unheard = end(third, Outcome.FAILED_AFTER_SEND, estimated, null);

    // then: after the third calls trickle, so that nobody holds it open by failing
    assertThat(only(timeout, BreakerOpened.class).cause()).isEqualTo(BreakerCause.PROBE_NOT_SENT);
    assertThat(only(connection, BreakerOpened.class).cause())
        .isEqualTo(BreakerCause.PROBE_NOT_SENT);
    assertThat(only(unheard, BreakerClosed.class))
        .isEqualTo(new BreakerClosed("k/q", null, context.nowMs));
    assertThat(context.show().breaker().trickles()).isTrue();
  }

  @Test
  void shouldNotCloseForAnOldProbeThatNobodyAnswered() {
    // given: it stayed silent for longer than a probe may
    open();
    context.sleep(1_000);
    LeaseGranted old = granted();
    context.ask("w1", "w", 100);
    context.sleep(16_000);

    // when
    List<Event> failed = end(old, Outcome.FAILED_AFTER_SEND, null, null);

    // then
    assertThat(failed).noneMatch(BreakerClosed.class::isInstance);
    assertThat(context.show().breaker().isOpen()).isTrue();
  }

  @Test
  void shouldCloseAtAFailureThatTheProviderToldOf() {
    Signal error = new Signal(null, Kind.NEVER_FITS, null, null, null, null, Map.of());
    Signal status = new Signal(503, null, null, null, null, null, Map.of());
    Usage output = new Usage(null, null, null, 7L, false);
    Usage counted = new Usage(100L, 0L, 0L, null, true);
    assertThat(closesAtFailure(null, status)).isTrue();
    assertThat(closesAtFailure(output, null)).isTrue();
    assertThat(closesAtFailure(counted, null)).isTrue();
    assertThat(closesAtFailure(null, error)).isFalse();
  }

  private static boolean closesAtFailure(Usage usage, Signal signal) {
    BreakerAnswersTest fresh = new BreakerAnswersTest();
    fresh.open();
    fresh.context.sleep(1_000);
    return fresh.end(fresh.granted(), Outcome.FAILED_AFTER_SEND, usage, signal).stream()
        .anyMatch(BreakerClosed.class::isInstance);
  }

  @Test
  void shouldOpenAgainAtA429ToldOnTheWayAndGiveTheCallBack() {
    for (Outcome outcome : List.of(Outcome.CANCELLED, Outcome.NOT_SENT)) {
      // given
      BreakerAnswersTest fresh = new BreakerAnswersTest();
      fresh.open();
      fresh.context.sleep(1_000);
      LeaseGranted probe = fresh.granted();

      // when
      List<Event> told = fresh.end(probe, Outcome.IN_PROGRESS, null, refusal(5_000L));
      List<Event> twice = fresh.end(probe, Outcome.IN_PROGRESS, null, refusal(5_000L));
      List<Event> ended =
          outcome == Outcome.CANCELLED
              ? fresh.cancel(probe)
              : fresh.end(probe, Outcome.NOT_SENT, null, null);

      // then: one refusal, and no call
      assertThat(only(told, BreakerOpened.class))
          .isEqualTo(
              new BreakerOpened("k/q", BreakerCause.PROBE_REFUSED, 1, fresh.context.nowMs + 5_000));
      assertThat(twice).noneMatch(BreakerOpened.class::isInstance);
      assertThat(ended).noneMatch(BreakerClosed.class::isInstance);
      assertThat(only(ended, LeaseSettled.class).adjusted().get(Dimension.TOKENS)).isEqualTo(100);
    }
  }

  @Test
  void shouldTakeA429ForOneWhateverEndItIsToldWith() {
    for (Outcome outcome :
        List.of(Outcome.NOT_SENT, Outcome.FAILED_AFTER_SEND, Outcome.OVERLOADED)) {
      // given
      BreakerAnswersTest fresh = new BreakerAnswersTest();
      fresh.open();
      fresh.context.sleep(1_000);
      LeaseGranted probe = fresh.granted();
      Usage none = new Usage(0L, 0L, 0L, 0L, true);

      // when
      List<Event> ended = fresh.end(probe, outcome, none, refusal(null));

      // then
      assertThat(only(ended, BreakerOpened.class).cause()).isEqualTo(BreakerCause.PROBE_REFUSED);
      assertThat(only(ended, LeaseSettled.class).outcome()).isEqualTo(Outcome.RATE_LIMITED);
      assertThat(only(ended, LeaseSettled.class).adjusted().get(Dimension.TOKENS)).isEqualTo(100);
    }
  }

  @Test
  void shouldChargeWhatA429SaysWasUsedAllTheSame() {
    // given: a stream that broke off with the provider's limit
    LeaseGranted lease = granted();
    Usage used = new Usage(90L, 0L, 0L, 30L, true);

    // when
    List<Event> ended = end(lease, Outcome.FAILED_AFTER_SEND, used, refusal(null));

    // then
    assertThat(only(ended, LeaseSettled.class).actual().get(Dimension.TOKENS)).isEqualTo(120);
    only(ended, QuotaHeld.class);
  }

  @Test
  void shouldTakeA429ForOneWhateverClassItIsToldWith() {
    for (Kind kind : new Kind[] {Kind.ERROR, Kind.OK, null}) {
      // given
      BreakerAnswersTest fresh = new BreakerAnswersTest();
      LeaseGranted first = fresh.granted();
      LeaseGranted second = fresh.granted();
      Signal signal = new Signal(429, kind, null, null, 0L, null, Map.of());

      // when
      List<Event> one = fresh.end(first, Outcome.RATE_LIMITED, null, signal);
      List<Event> two = fresh.end(second, Outcome.FAILED_AFTER_SEND, null, signal);

      // then
      only(one, QuotaHeld.class);
      only(one, MarginCut.class);
      only(two, BreakerOpened.class);
    }
  }

  private void open() {
    LeaseGranted first = granted();
    LeaseGranted second = granted();
    end(first, Outcome.RATE_LIMITED, null, refusal(null));
    only(end(second, Outcome.RATE_LIMITED, null, refusal(null)), BreakerOpened.class);
  }

  private LeaseGranted granted() {
    return only(context.ask("r" + asked, "a" + asked++, 100), LeaseGranted.class);
  }

  private List<Event> cancel(LeaseGranted lease) {
    Settlement cancel = EngineContext.cancel(lease.requestId(), lease.agentId());
    return context.submit(new Command.SettleLease(cancel, context.nowMs));
  }

  private List<Event> end(LeaseGranted lease, Outcome outcome, Usage usage, Signal signal) {
    return context.submit(
        new Command.SettleLease(
            new Settlement(
                lease.leaseId(), null, lease.agentId(), "k/q", outcome, usage, false, signal),
            context.nowMs));
  }

  private static Signal refusal(Long retryAfterMs) {
    return new Signal(429, Kind.RATE_LIMITED, null, retryAfterMs, 0L, null, Map.of());
  }
}
