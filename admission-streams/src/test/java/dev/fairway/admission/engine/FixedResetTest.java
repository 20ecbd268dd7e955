package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.ResetLearned;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Resets of a fixed window that are told in whole seconds, or moved by a little. */
class FixedResetTest {
  private static final long LIMIT = 10_000;

  /** The provider resets so long after each minute of the clock. */
  private static final long PHASE_MS = 17_300;

  private final EngineContext context =
      EngineContext.with(
          EngineContext.quota(tokens(LIMIT), null, MarginModeName.RATE, 1.0, Window.FIXED));

  private int asked;
  private long drawn = 1;
  private long learnedMs;

  @Test
  void shouldNotFillAMinuteTwiceBecauseItsResetIsToldALittleLater() {
    // given: a reset told up to a second late, and half of the next minute is used
    learn(untilResetMs());
    context.sleep(untilResetMs() + 600);
    String lease = use(5_000);
    context.sleep(300);

    // when: 59.1 s are left, told as 60
    settled(lease, 60_000);
    long levelMs = context.level(Dimension.TOKENS);
    context.sleep(1_000);

    // then
    assertThat(levelMs).isEqualTo(5_000);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(5_000);
  }

  @Test
  void shouldNotPassOverAResetBecauseItIsToldALittleEarlier() {
    // given: a reset told a second late, and a minute that is used up
    learn(untilResetMs() + 1_000);
    use(LIMIT - 100);
    String last = use(10);

    // when: told exactly, after it happened and before it is counted here
    context.sleep(untilResetMs() + 500);
    settled(last, untilResetMs());
    context.sleep(700);

    // then
    assertThat(context.level(Dimension.TOKENS)).isGreaterThanOrEqualTo(LIMIT - 10);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldSettleOnTheLatestOfTheResetsThatAreToldInWholeSeconds(boolean up) {
    // given: two minutes of answers
    for (int i = 0; i < 100; i++) {
      sleepAtRandom();
      learn(inSeconds(untilResetMs(), up));
    }

    // when
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      sleepAtRandom();
      events.addAll(learn(inSeconds(untilResetMs(), up)));
    }

    // then: never before it happens, and no more than a second after
    long phaseMs = Math.floorMod(learnedMs, 60_000L);
    assertThat(events).noneMatch(ResetLearned.class::isInstance);
    assertThat(phaseMs).isBetween(PHASE_MS - 120, PHASE_MS + 1_000);
  }

  @Test
  void shouldLearnAResetThatMovedByMoreThanRounding() {
    // given
    learn(untilResetMs());

    // when
    List<Event> moved = learn(Math.floorMod(untilResetMs() - 5_000, 60_000L));

    // then
    only(moved, ResetLearned.class);
  }

  /** To some time at which a call may go, whatever reset is believed in. */
  private void sleepAtRandom() {
    drawn = (drawn * 1_103_515_245L + 12_345) & 0x7fffffff;
    context.sleep(400 + drawn % 1_500);
    if (Math.floorMod(context.nowMs - PHASE_MS + 1_200, 60_000L) < 2_400) {
      context.sleep(2_400);
    }
  }

  private long untilResetMs() {
    return 60_000 - Math.floorMod(context.nowMs - PHASE_MS, 60_000L);
  }

  private static long inSeconds(long ms, boolean up) {
    return (up ? (ms + 999) / 1_000 : ms / 1_000) * 1_000;
  }

  private List<Event> learn(long resetMs) {
    return settled(use(10), resetMs);
  }

  private String use(long amount) {
    return only(context.ask("r" + asked++, "a1", amount), LeaseGranted.class).leaseId();
  }

  private List<Event> settled(String lease, long resetMs) {
    Reading reading = new Reading(null, null, resetMs);
    List<Event> events =
        context.settle(
            lease, Outcome.SUCCEEDED, null, null, Dimension.TOKENS, reading, 0, (Long) 100L);
    for (Event event : events) {
      learnedMs = event instanceof ResetLearned e ? e.resetAtMs() : learnedMs;
    }
    return events;
  }
}
