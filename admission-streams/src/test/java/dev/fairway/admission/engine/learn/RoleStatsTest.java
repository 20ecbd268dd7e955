package dev.fairway.admission.engine.learn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RoleStatsTest {

  @Test
  void shouldLearnTheSpreadAndTheBiasOfEstimates() {
    // given: actual / estimate is lognormal around 1.1, and the charge is the corrected estimate
    Random random = new Random(3);
    RoleStats stats = RoleStats.fresh(0);
    assertThat(stats.sigma()).isEqualTo(0.2);
    assertThat(stats.correction()).isEqualTo(1);

    // when
    for (int i = 0; i < 2_000; i++) {
      double ratio = 1.1 * Math.exp(0.1 * random.nextGaussian());
      double error = ratio / stats.correction() - 1;
      stats = stats.with(sample(error, ratio), RoleStats.ROLE_SHARE, i);
    }

    // then
    assertThat(stats.correction()).isCloseTo(1.1, within(0.05));
    assertThat(stats.sigma()).isCloseTo(0.1, within(0.04));
  }

  @Test
  void shouldNotCorrectByAFewCalls() {
    // given
    RoleStats stats = RoleStats.fresh(0);

    // when
    for (int i = 0; i < 19; i++) {
      stats = stats.with(sample(1.0, 2.0), RoleStats.ROLE_SHARE, i);
    }

    // then
    assertThat(stats.correction()).isEqualTo(1);
    assertThat(stats.with(sample(1.0, 2.0), RoleStats.ROLE_SHARE, 20).correction())
        .isGreaterThan(1.5);
  }

  @Test
  void shouldLearnTheFactorThatOneWaitInTenExceeds() {
    // given: waits are uniform from half the ETA to two and a half times it
    Random random = new Random(5);
    RoleStats stats = RoleStats.fresh(0);
    assertThat(stats.etaP90Factor()).isNull();

    // when
    double sum = 0;
    for (int i = 0; i < 6_000; i++) {
      stats = stats.withWait(1_000, (long) (500 + 2_000 * random.nextDouble()), i);
      sum += i < 1_000 ? 0 : stats.etaP90Factor();
    }

    // then: nine tenths of the way is 2.3
    assertThat(sum / 5_000).isCloseTo(2.3, within(0.1));
  }

  @Test
  void shouldRememberSinceWhenEstimatesAreFarOff() {
    // given
    ErrorTrend trend = ErrorTrend.NONE;

    // when: each is off by half, so the mean passes 20 % with the eleventh
    for (int i = 1; i <= 20; i++) {
      trend = trend.with(0.5, i * 1_000);
    }

    // then
    assertThat(trend.aboveSinceMs()).isEqualTo(10_000);
    for (int i = 0; i < 20; i++) {
      trend = trend.with(0, 30_000);
    }
    assertThat(trend.aboveSinceMs()).isNull();
  }

  private static CallSample sample(double error, double ratio) {
    return new CallSample(error, ratio, ratio - 1, 1_000L, 10L);
  }
}
