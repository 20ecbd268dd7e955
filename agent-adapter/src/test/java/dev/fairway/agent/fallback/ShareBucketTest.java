package dev.fairway.agent.fallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ShareBucketTest {
  private static final OptionalLong NONE = OptionalLong.empty();

  @Test
  void shouldWaitForTheScarcestDimension() {
    // given: 60 calls and 600 tokens of output a minute
    ShareBucket bucket =
        new ShareBucket(
            new ShareBucket.Amounts(OptionalLong.of(60), NONE, OptionalLong.of(600), NONE), 0);

    // when / then
    assertThat(bucket.waitMs(ShareBucket.Amounts.ofCall(1_000_000, 50), 0)).isEqualTo(5_000);
    assertThat(bucket.waitMs(ShareBucket.Amounts.ofCall(1_000_000, 0), 0)).isEqualTo(1_000);
  }

  @Test
  void shouldNeverServeWhatItHasNoShareOf() {
    // given
    ShareBucket bucket =
        new ShareBucket(
            new ShareBucket.Amounts(NONE, OptionalLong.of(100), OptionalLong.of(0), NONE), 0);

    // when / then
    assertThat(bucket.waitMs(ShareBucket.Amounts.ofCall(1, 1), 60_000))
        .isEqualTo(ShareBucket.NEVER);
    assertThat(bucket.waitMs(ShareBucket.Amounts.ofCall(1, 0), 60_000)).isZero();
  }

  @Test
  void shouldHoldAsLongAsTheProviderSays() {
    // given
    ShareBucket bucket = new ShareBucket(new ShareBucket.Amounts(NONE, NONE, NONE, NONE), 0);

    // when
    bucket.hold(7_000);
    bucket.hold(3_000);

    // then
    assertThat(bucket.waitMs(ShareBucket.Amounts.ofCall(5, 5), 0)).isEqualTo(7_000);
    assertThat(bucket.waitMs(ShareBucket.Amounts.ofCall(5, 5), 7_000)).isZero();
  }

  @Test
  void shouldNoticeSilenceOnlyOfWhoIsAsked() {
    // given
    SilenceWatch watch = new SilenceWatch(5_000);

    // when / then
    assertThat(watch.begins(1_000_000)).isFalse();
    watch.asked(1_000_000);
    watch.asked(1_004_000);
    assertThat(watch.checkInMs(1_004_000)).isEqualTo(1_000);
    assertThat(watch.begins(1_004_999)).isFalse();
    assertThat(watch.begins(1_005_000)).isTrue();
    assertThat(watch.begins(1_006_000)).as("begins once").isFalse();
    assertThat(watch.heard()).isTrue();
    assertThat(watch.heard()).isFalse();
    watch.asked(1_007_000);
    watch.nobodyWaits();
    assertThat(watch.begins(2_000_000)).isFalse();
  }

  @Test
  void shouldSayWhatIsWrongWithSettings() {
    // when / then
    assertThatThrownBy(() -> RetryBudget.of(-1)).hasMessageContaining("0 to 1000");
    assertThatThrownBy(() -> FullJitter.of(Duration.ZERO, Duration.ofSeconds(1)))
        .hasMessageContaining("base of 1 ms");
    assertThatThrownBy(() -> new FallbackConfig(FailMode.CLOSED, Duration.ZERO))
        .hasMessageContaining("silentAfter");
    assertThatThrownBy(() -> new FallbackConfig(null, Duration.ofSeconds(1)))
        .hasMessageContaining("SAFE_SHARE");
  }
}
