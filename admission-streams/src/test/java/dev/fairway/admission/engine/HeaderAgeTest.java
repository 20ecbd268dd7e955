package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LimitLearned;
import dev.fairway.admission.engine.Event.ResetLearned;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Headers that nobody tells the age of: it is between nothing and the age of their call. */
class HeaderAgeTest {
  private static final long LIMIT = 60_000; // 1,000 a second

  @ParameterizedTest
  @CsvSource({
    // Age, send, what the provider had left, and what may be left of it now.
    "    0, 10000, 20000, 20000",
    "10000, 10000, 20000, 30000",
    "     , 10000, 20000, 30000",
    "     ,      , 20000, 30000",
    "     ,  2000, 20000, 22000",
    "     , 10000, 45000, 45000",
    "10000, 10000, 45000, 55000"
  })
  void shouldMoveTheBalanceIntoWhatItMayBe(
      Long ageMs, Long msSinceSend, long remaining, long level) {
    // given: a bucket that holds 40,000 or 30,000 when the signal comes
    long before = remaining == 20_000 ? 40_000 : 30_000;
    EngineContext context = EngineContext.with(tokens(LIMIT), tokens(before - 9_000));
    String lease = granted(context, 1_000);
    context.sleep(10_000);

    // when
    settle(
        context, lease, Dimension.TOKENS, new Reading(LIMIT, remaining, null), ageMs, msSinceSend);

    // then: no lower than it surely is, no higher than it can be
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(level);
  }

  @Test
  void shouldReadItAsOneOfNowInSeed() {
    // given
    EngineContext context =
        EngineContext.with(
            Redefined.like(EngineContext.quota(tokens(LIMIT), tokens(31_000)))
                .preset(Preset.SEED)
                .definition());
    String lease = granted(context, 1_000);
    context.sleep(10_000);

    // when
    List<Event> settled =
        settle(context, lease, Dimension.TOKENS, new Reading(LIMIT, 20_000L, null), null, 10_000L);

    // then
    assertThat(only(settled, BucketsResynced.class).dimensions().get(0).high()).isEqualTo(20_000);
  }

  @ParameterizedTest
  @CsvSource({"60000, true", "60001, false"})
  void shouldReadNoNumberThatMayBeOlderThanTheCallsThatAreRemembered(long sinceMs, boolean read) {
    // given
    EngineContext context = EngineContext.with(tokens(LIMIT), tokens(50_000));
    String lease = granted(context, 1_000);
    context.sleep(sinceMs);

    // when
    List<Event> settled =
        settle(context, lease, Dimension.TOKENS, new Reading(30_000L, 100L, null), null, null);

    // then: a limit is one of any time
    assertThat(settled.stream().anyMatch(BucketsResynced.class::isInstance)).isEqualTo(read);
    assertThat(only(settled, LimitLearned.class).limitPerMinute()).isEqualTo(30_000);
  }

  @ParameterizedTest
  @CsvSource({"0, true", "2000, true", "2001, false", ", false"})
  void shouldReadNoOutputThatMayBeOld(Long ageMs, boolean read) {
    // given
    Amounts limit = Amounts.of(Dimension.OUTPUT_TOKENS, LIMIT);
    EngineContext context =
        EngineContext.with(
            EngineContext.quota(limit, null, MarginModeName.ADAPTIVE, 1.0, Window.TOKEN_BUCKET));
    String lease = granted(context, 1_000);
    context.sleep(3_000);

    // when
    List<Event> settled =
        settle(
            context,
            lease,
            Dimension.OUTPUT_TOKENS,
            new Reading(LIMIT, 20_000L, null),
            ageMs,
            3_000L);

    // then
    assertThat(settled.stream().anyMatch(BucketsResynced.class::isInstance)).isEqualTo(read);
  }

  @ParameterizedTest
  @CsvSource({"0, 3000, true", ", 3000, false", ", 120, true"})
  void shouldLearnNoResetOfATimeThatNobodyKnows(Long ageMs, long sinceMs, boolean learned) {
    // given
    EngineContext context =
        EngineContext.with(
            EngineContext.quota(tokens(LIMIT), null, MarginModeName.RATE, 1.0, Window.FIXED));
    String lease = granted(context, 1_000);
    context.sleep(sinceMs);

    // when
    List<Event> settled =
        settle(
            context, lease, Dimension.TOKENS, new Reading(LIMIT, 20_000L, 17_000L), ageMs, sinceMs);

    // then
    assertThat(settled.stream().anyMatch(ResetLearned.class::isInstance)).isEqualTo(learned);
  }

  private static String granted(EngineContext context, long input) {
    return only(context.ask("r1", "a1", input), LeaseGranted.class).leaseId();
  }

  private static List<Event> settle(
      EngineContext context,
      String lease,
      Dimension d,
      Reading reading,
      Long ageMs,
      Long msSinceSend) {
    Signal signal = new Signal(200, Kind.OK, null, null, ageMs, msSinceSend, Map.of(d, reading));
    return context.settle(
        lease,
        "a1",
        Outcome.SUCCEEDED,
        1_000L,
        0L,
        s ->
            new Settlement(
                s.leaseId(), null, "a1", s.quotaId(), s.outcome(), s.usage(), false, signal));
  }
}
