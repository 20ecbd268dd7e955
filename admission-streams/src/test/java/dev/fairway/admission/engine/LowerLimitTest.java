package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.SALT;
import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Dimension;
import org.junit.jupiter.api.Test;

/** What was used stays used when a limit comes down, however that is told. */
class LowerLimitTest {
  private final EngineContext context = EngineContext.with(quota(60_000, 1.0));

  @Test
  void shouldCountWhatWasUsedWhereTheOperatorLowersTheLimit() {
    // given
    use("r1", 28_000);

    // when
    context.submit(new Command.DefineQuota(quota(30_000, 1.0), SALT));

    // then: a bucket of 29,500
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(1_500);
  }

  @Test
  void shouldCountWhatWasUsedWhereAnAnswerNamesALowerLimit() {
    // given
    String lease = use("r1", 28_000);

    // when
    named(lease, 28_000, 30_000);

    // then
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(1_500);
  }

  @Test
  void shouldCountWhatWasUsedWhereLimitAndMarginComeDown() {
    // given
    use("r1", 20_000);

    // when
    context.submit(new Command.DefineQuota(quota(30_000, 0.8), SALT));

    // then: 29,500 at .8
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(23_600 - 20_000);
  }

  @Test
  void shouldCountWhatWasUsedWhereTheDepthComesDown() {
    // given
    use("r1", 5_000);

    // when
    context.submit(
        new Command.DefineQuota(
            Redefined.like(quota(60_000, 1.0)).depth(tokens(12_000)).definition(), SALT));

    // then
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(7_000);
  }

  @Test
  void shouldOweNothingForWhatALowerLimitNeverHad() {
    // given
    use("r1", 50_000);

    // when
    context.submit(new Command.DefineQuota(quota(30_000, 1.0), SALT));

    // then
    assertThat(context.level(Dimension.TOKENS)).isZero();
  }

  @Test
  void shouldTakeItOffOnceWhereAnswersNameTwoLimitsInTurn() {
    // given: two models behind one quota
    named(use("r0", 100), 100, 30_000);

    // when: a call a second, for two minutes and a half
    for (int i = 1; i <= 150; i++) {
      context.sleep(1_000);
      named(use("r" + i, 100), 100, i % 2 == 0 ? 30_000 : 60_000);
    }

    // then: it is full but for the last call, as often as it was lowered
    assertThat(context.level(Dimension.TOKENS)).isGreaterThan(29_000);
  }

  @Test
  void shouldNotTakeItOffAgainWhereADefinitionForgetsTheLimitAndTheNextAnswerNamesIt() {
    // given
    named(use("r1", 100), 100, 30_000);
    context.sleep(60_000);

    // when: a definition that changes something else
    context.submit(
        new Command.DefineQuota(
            Redefined.like(quota(60_000, 1.0)).maxQueueWaitMs(61_000L).definition(), SALT));
    named(use("r2", 100), 100, 30_000);

    // then
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(29_400);
  }

  @Test
  void shouldOnlyClipUnderSeed() {
    // given
    QuotaDefinition high = Redefined.like(quota(60_000, 1.0)).preset(Preset.SEED).definition();
    QuotaDefinition low = Redefined.like(quota(30_000, 1.0)).preset(Preset.SEED).definition();
    EngineContext seed = EngineContext.with(high);
    only(seed.ask("r1", "a1", 28_000), LeaseGranted.class);

    // when
    seed.submit(new Command.DefineQuota(low, SALT));

    // then
    assertThat(seed.level(Dimension.TOKENS)).isEqualTo(29_500);
  }

  private String use(String id, long amount) {
    return only(context.ask(id, "a1", amount), LeaseGranted.class).leaseId();
  }

  private void named(String lease, long used, long limit) {
    Reading reading = new Reading(limit, null, null);
    context.settle(lease, Outcome.SUCCEEDED, used, 0L, Dimension.TOKENS, reading, 0L, (Long) 0L);
  }

  private static QuotaDefinition quota(long limit, double margin) {
    return EngineContext.quota(
        tokens(limit), null, MarginModeName.RATE, margin, Window.TOKEN_BUCKET);
  }
}
