package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CoordinatorClockTest {
  private static final long OFFSET_MS = 1_000_000;
  private static final long TTL_MS = 10_000;

  private final CoordinatorClock clock = new CoordinatorClock();

  @Test
  void shouldCountFromTheReadingWhereNothingElseIsKnown() {
    // given: decided at 0, delivered after 3 s
    clock.observe(OFFSET_MS, 3_000);

    // when / then
    assertThat(expiry(0, 0, 3_000)).isEqualTo(13_000);
  }

  @Test
  void shouldCountFromTheDecisionOnceAFastDeliveryWasSeen() {
    // given
    clock.observe(OFFSET_MS, 2);
    clock.observe(OFFSET_MS + 1_000, 9_000);

    // when / then: decided at 1,000, and the fastest delivery took 2 ms
    assertThat(expiry(1_000, 0, 9_000)).isEqualTo(11_002);
  }

  @Test
  void shouldNeverExpireBeforeWhatItsRequestProves() {
    // given: the coordinator moved to a clock that is a minute behind
    clock.observe(OFFSET_MS, 2);
    long sentAtMs = 100_000;
    long decidedAtMs = 40_000;
    clock.observe(OFFSET_MS + decidedAtMs, 100_005);

    // when / then
    assertThat(expiry(decidedAtMs, sentAtMs, 100_005)).isEqualTo(sentAtMs + TTL_MS);
  }

  @Test
  void shouldForgetAnOldClock() {
    // given
    clock.observe(OFFSET_MS, 2);
    long decidedAtMs = -60_000;
    for (long atMs = 1_000; atMs <= 2 * CoordinatorClock.WINDOW_MS + 1_000; atMs += 10_000) {
      clock.observe(OFFSET_MS + decidedAtMs + atMs, atMs);
    }
    long nowMs = 2 * CoordinatorClock.WINDOW_MS + 2_000;

    // when
    clock.observe(OFFSET_MS + decidedAtMs + nowMs, nowMs);

    // then
    assertThat(expiry(decidedAtMs + nowMs, 0, nowMs)).isEqualTo(nowMs + TTL_MS);
  }

  @Test
  void shouldForgetAClockThatWasNotSeenForLong() {
    // given
    clock.observe(OFFSET_MS, 2);
    long nowMs = 10 * CoordinatorClock.WINDOW_MS;

    // when
    clock.observe(OFFSET_MS + nowMs - 60_000, nowMs);

    // then
    assertThat(expiry(nowMs - 60_000, 0, nowMs)).isEqualTo(nowMs + TTL_MS);
  }

  private long expiry(long decidedAtMs, long sentAtMs, long receivedAtMs) {
    return clock.localExpiryMs(OFFSET_MS + decidedAtMs + TTL_MS, TTL_MS, sentAtMs, receivedAtMs);
  }
}
