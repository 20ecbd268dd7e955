package dev.fairway.replay.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.replay.world.Provider.Answer;
import org.junit.jupiter.api.Test;

class ProviderTest {
  private static final Limits LIMITS = new Limits(60, 60_000, 6000);

  private static Provider provider(WorldOptions options) {
    return new Provider(options.provider(), LIMITS, 60_000);
  }

  private static Refusal refusal(Answer answer) {
    assertThat(answer).isInstanceOf(Answer.Refused.class);
    return ((Answer.Refused) answer).refusal();
  }

  private static Headers headers(Answer answer) {
    assertThat(answer).isInstanceOf(Answer.Admitted.class);
    return ((Answer.Admitted) answer).headers();
  }

  @Test
  void shouldChargeInputOnArrivalAndTellWhatRemains() {
    // given
    Provider provider = provider(WorldOptions.defaults());

    // when
    Headers headers = headers(provider.arrive(0, 20_000, 4096));

    // then
    assertThat(headers.readings().get(Dimension.INPUT_TOKENS))
        .isEqualTo(new Headers.Reading(60_000, 40_000, 20_000));
    assertThat(headers.readings().get(Dimension.REQUESTS).remaining()).isEqualTo(59);
    assertThat(headers.readings().get(Dimension.OUTPUT_TOKENS).remaining()).isEqualTo(6000);
  }

  @Test
  void shouldRefuseWhatDoesNotFitAndBeAsGoodAsItsRetryAfter() {
    // given
    Provider provider = provider(WorldOptions.defaults());
    provider.arrive(0, 59_500, 4096);

    // when
    Refusal refusal = refusal(provider.arrive(0, 1_700, 4096));

    // then
    assertThat(refusal.binding()).isEqualTo(Dimension.INPUT_TOKENS);
    assertThat(refusal.retryAfterS()).isEqualTo(2);
    assertThat(provider.arrive(refusal.retryAfterS() * 1000, 1_700, 4096))
        .isInstanceOf(Answer.Admitted.class);
  }

  @Test
  void shouldTakeARequestForARefusal() {
    // given
    Provider provider = provider(WorldOptions.defaults());
    provider.arrive(0, 60_000, 4096);

    // when
    provider.arrive(0, 100, 4096);

    // then
    assertThat(provider.room(Dimension.REQUESTS, 0)).isEqualTo(58);
    assertThat(provider.room(Dimension.INPUT_TOKENS, 0)).isZero();
  }

  @Test
  void shouldAdmitACallAboveTheDepthOnlyWhenFull() {
    // given
    Provider provider = provider(WorldOptions.defaults());

    // when, then
    assertThat(provider.arrive(0, 90_000, 4096)).isInstanceOf(Answer.Admitted.class);
    assertThat(provider.room(Dimension.INPUT_TOKENS, 0)).isEqualTo(-30_000);
    assertThat(provider.arrive(89_999, 90_000, 4096)).isInstanceOf(Answer.Refused.class);
    assertThat(provider.arrive(90_000, 90_000, 4096)).isInstanceOf(Answer.Admitted.class);
  }

  @Test
  void shouldChargeOutputAtTheEndAndNeedAnyRoomForIt() {
    // given
    Provider provider = provider(WorldOptions.defaults());
    provider.arrive(0, 100, 8192);

    // when
    provider.finish(0, 8192, 6100);

    // then
    assertThat(provider.room(Dimension.OUTPUT_TOKENS, 0)).isEqualTo(-100);
    assertThat(refusal(provider.arrive(0, 100, 8192)).binding()).isEqualTo(Dimension.OUTPUT_TOKENS);
  }

  @Test
  void shouldReserveMaxTokensWhereItDoesSo() {
    // given
    Provider provider =
        provider(WorldOptions.defaults().with(Parameter.MAX_TOKENS_CHARGED, "true"));

    // when
    provider.arrive(0, 100, 4096);

    // then
    assertThat(provider.room(Dimension.OUTPUT_TOKENS, 0)).isEqualTo(6000 - 4096);
    assertThat(provider.arrive(0, 100, 4096)).isInstanceOf(Answer.Refused.class);
    provider.finish(0, 4096, 1000);
    assertThat(provider.room(Dimension.OUTPUT_TOKENS, 0)).isEqualTo(5000);
  }

  @Test
  void shouldTellNothingWithoutHeaders() {
    // given
    Provider provider = provider(WorldOptions.defaults().with(Parameter.HEADERS, "false"));

    // when, then
    assertThat(headers(provider.arrive(0, 100, 4096)).readings()).isEmpty();
  }

  @Test
  void shouldAnswer429InAnOutage() {
    // given
    WorldOptions options =
        WorldOptions.defaults().with(Parameter.OUTAGE_S, "180").with(Parameter.OUTAGE_AT_S, "100");
    Provider provider = provider(options);

    // when, then
    assertThat(provider.arrive(99_999, 1, 1)).isInstanceOf(Answer.Admitted.class);
    assertThat(refusal(provider.arrive(100_000, 1, 1)).binding()).isNull();
    assertThat(provider.arrive(279_999, 1, 1)).isInstanceOf(Answer.Refused.class);
    assertThat(provider.arrive(280_000, 1, 1)).isInstanceOf(Answer.Admitted.class);
  }

  @Test
  void shouldHaveAnotherDepth() {
    // given
    Provider provider = provider(WorldOptions.defaults().with(Parameter.DEPTH_S, "15"));

    // when, then
    assertThat(provider.depth(Dimension.INPUT_TOKENS)).isEqualTo(15_000);
    assertThat(provider.arrive(0, 15_000, 1)).isInstanceOf(Answer.Admitted.class);
    assertThat(provider.arrive(0, 1, 1)).isInstanceOf(Answer.Refused.class);
  }
}
