package dev.fairway.admission.engine.margin;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class NeedTest {

  @Test
  void shouldAddIndependentErrorsAsSquares() {
    // given: an own error that makes half as much again, others 2.5 x 1600 = 4000, floor 12000
    double sigma = Math.log(1.5) / 2.5;
    long need = Need.tokens(6_000, sigma, 2_500, 1_600L * 1_600, 12_000, 100_000);

    // then
    assertThat(need).isEqualTo(6_000 + 13_000);
  }

  @Test
  void shouldHoldThatAnEstimateIsOffByAFactor() {
    // given
    long above = Need.keptFree(50_000, 0.15, 2_500, 0, 0);

    // when: a call uses what an estimate that is too low by 2.5 deviations of its logarithm hides
    long used = Math.round(50_000 * Math.exp(2.5 * 0.15));

    // then: 22,750, where two and a half deviations of the estimate itself are 18,750
    assertThat(50_000 + above).isBetween(used - 1, used);
  }

  @Test
  void shouldTakeTheLargerOfACallOfSomebodyElseAndASixteenthForTheFloor() {
    assertThat(Need.floor(10_000, 160_000)).isEqualTo(15_000);
    assertThat(Need.floor(1_000, 160_000)).isEqualTo(10_000);
    assertThat(Need.floor(0, 160_000)).isEqualTo(10_000);
  }

  @Property
  void shouldAlwaysBeReachableAndCoverTheEstimateOrAFullBucket(
      @ForAll @LongRange(min = 0, max = 2_000_000) long estimate,
      @ForAll @DoubleRange(min = 0, max = 1) double sigma,
      @ForAll @IntRange(min = 2_500, max = 4_000) int zMilli,
      @ForAll @LongRange(min = 0, max = 1L << 50) long squares,
      @ForAll @LongRange(min = 1, max = 1_000_000) long depth) {
    // when
    long need = Need.tokens(estimate, sigma, zMilli, squares, Need.floor(0, depth), depth);

    // then
    assertThat(need).isLessThanOrEqualTo(depth);
    assertThat(need).isGreaterThanOrEqualTo(Math.min(estimate, depth - depth / 1000));
  }

  @Property
  void shouldGrowWithTheSafetyFactor(
      @ForAll @LongRange(min = 0, max = 20_000) long estimate,
      @ForAll @IntRange(min = 2_500, max = 3_999) int zMilli) {
    long need = Need.tokens(estimate, 0.2, zMilli, 4_000_000, 5_000, 200_000);
    assertThat(Need.tokens(estimate, 0.2, zMilli + 1, 4_000_000, 5_000, 200_000))
        .isGreaterThanOrEqualTo(need);
  }
}
