package dev.fairway.admission.engine.margin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.bucket.FixedPoint;
import org.junit.jupiter.api.Test;

class OutsideRateTest {
  private static final long LIMIT = 60_000;

  /** Resyncs every two seconds, each losing so much. */
  private static OutsideRate after(OutsideRate rate, long fromMs, int resyncs, long lost) {
    OutsideRate now = rate;
    for (int i = 1; i <= resyncs; i++) {
      long atMs = fromMs + i * 2_000L;
      now = now.sampled(atMs, lost, now.after(atMs, null, lost, false, LIMIT));
    }
    return now;
  }

  @Test
  void shouldRiseWithinAMinuteAndFallWithinTwo() {
    // given: others take 10 tokens a millisecond more than is assumed, at first
    OutsideRate start = OutsideRate.NONE.sampled(0, 0, 0L);

    // when
    OutsideRate risen = start;
    for (int i = 1; i <= 30; i++) {
      // 12000 a minute are 400 in two seconds; what is assumed is refilled less, and not lost
      long lost = Math.round(400 - risen.perMinuteMilli() / 1000.0 / 30);
      risen = after(risen, (i - 1) * 2_000L, 1, lost);
    }
    OutsideRate fallen = risen;
    for (int i = 1; i <= 60; i++) {
      long lost = Math.round(-fallen.perMinuteMilli() / 1000.0 / 30);
      fallen = after(fallen, 60_000 + (i - 1) * 2_000L, 1, lost);
    }

    // then: one time constant each, 1 - 1/e and 1/e
    assertThat(risen.perMinuteMilli() / 1000).isBetween(7_300L, 7_900L);
    assertThat(fallen.perMinuteMilli() / 1000).isBetween(2_400L, 3_000L);
  }

  @Test
  void shouldNotSampleTwiceInHalfASecondAndForgetNothing() {
    // given
    OutsideRate start = new OutsideRate(0, 1_000L, 0);

    // when
    Long early = start.after(1_499, null, 100, false, LIMIT);
    OutsideRate kept = start.sampled(1_499, 100, early);
    Long late = kept.after(2_000, null, 100, false, LIMIT);

    // then: 200 in a second are 12000 a minute, of which a sixtieth counts
    assertThat(early).isNull();
    assertThat(late).isEqualTo(200_000);
  }

  @Test
  void shouldDecayAtTheCapAndStayOtherwise() {
    // given
    OutsideRate known = new OutsideRate(6_000_000, 0L, 0);

    // then
    assertThat(known.after(12_000, null, 0, true, LIMIT)).isEqualTo(5_400_000);
    assertThat(known.after(12_000, null, 0, false, LIMIT)).isEqualTo(6_000_000);
  }

  @Test
  void shouldForgetWhatWasSampledTwoMinutesAgo() {
    // given
    OutsideRate known = new OutsideRate(6_000_000, 0L, 0);

    // then: in hours, what the balance lost was lost at no rate that could be told
    assertThat(known.after(119_999, null, 0, false, LIMIT)).isEqualTo(6_000_000);
    assertThat(known.after(120_000, null, 0, false, LIMIT)).isZero();
    assertThat(known.after(40_000_000, null, 30_000, false, LIMIT)).isZero();
    assertThat(known.paused().after(119_999, 0L, 0, false, LIMIT)).isEqualTo(6_000_000);
    assertThat(known.paused().after(120_000, 0L, 0, false, LIMIT)).isZero();
    assertThat(known.isFresh(119_999)).isTrue();
    assertThat(known.isFresh(120_000)).isFalse();
    assertThat(known.paused().isFresh(1)).isFalse();
  }

  @Test
  void shouldNeverRefillLessThanHalfTheRate() {
    long rate = FixedPoint.unitsPerMs(LIMIT, FixedPoint.ONE_BP);
    assertThat(OutsideRate.refillUnitsPerMs(LIMIT, FixedPoint.ONE_BP, 0)).isEqualTo(rate);
    assertThat(OutsideRate.refillUnitsPerMs(LIMIT, FixedPoint.ONE_BP, 6_000_000))
        .isEqualTo(rate / 10 * 9);
    assertThat(OutsideRate.refillUnitsPerMs(LIMIT, FixedPoint.ONE_BP, 59_000_000))
        .isEqualTo(rate / 2);
    assertThat(OutsideRate.refillUnitsPerMs(LIMIT, FixedPoint.ONE_BP, Long.MAX_VALUE))
        .isEqualTo(rate / 2);
  }
}
