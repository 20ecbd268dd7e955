package dev.fairway.admission.engine.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** Integer arithmetic at the ends of what a long holds. */
class FixedPointTest {
  /** The highest refill: the largest limit at all of its share. */
  private static final long HIGHEST =
      FixedPoint.unitsPerMs(FixedPoint.MAX_AMOUNT, FixedPoint.ONE_BP);

  @Property
  void shouldRoundUpTheTimeOfAnyDebt(
      @ForAll @LongRange(min = 1, max = 20_000_000_000L) long missing,
      @ForAll @LongRange(min = 10, max = 10_000_000_000_000_000L) long unitsPerMs,
      @ForAll @LongRange(min = 0, max = FixedPoint.UNITS_PER_TOKEN - 1) long remainder) {
    BigInteger[] exact =
        BigInteger.valueOf(missing)
            .multiply(BigInteger.valueOf(FixedPoint.UNITS_PER_TOKEN))
            .subtract(BigInteger.valueOf(remainder))
            .divideAndRemainder(BigInteger.valueOf(unitsPerMs));
    long up = exact[0].longValueExact() + exact[1].signum();

    assertThat(FixedPoint.msUntil(unitsPerMs, missing, remainder)).isEqualTo(up);
  }

  @Test
  void shouldNotTakeADebtForNoneWhereItsUnitsNearlyFillALong() {
    // given: the last debts whose units fit into a long
    long last = Long.MAX_VALUE / FixedPoint.UNITS_PER_TOKEN - 1;

    // then
    assertThat(FixedPoint.msUntil(HIGHEST, last, 0)).isEqualTo(923);
    assertThat(FixedPoint.msUntil(HIGHEST, last - 1_000_000, 0)).isEqualTo(923);
    assertThat(FixedPoint.msUntil(HIGHEST, last + 1, 0)).isEqualTo(923);
  }

  @Test
  void shouldHoldWhatABucketLostAndOwesAtTheEndsOfALong() {
    // given
    Bucket lost = new Bucket(100, 0, Long.MAX_VALUE);

    // then
    assertThat(lost.clipTo(10).clipped()).isEqualTo(Long.MAX_VALUE);
    assertThat(Bucket.at(0).adjust(Long.MIN_VALUE, 10).balance()).isNegative();
  }
}
