package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.SALT;
import static dev.fairway.admission.engine.EngineContext.only;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.QuotaHeld;
import dev.fairway.admission.engine.Event.RampStarted;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Overloads of a provider, however long anybody waits in line. */
class OverloadPauseTest {
  @ParameterizedTest
  @ValueSource(longs = {60_000, 5_000, 0})
  void shouldDoublePausesAndRampAfterEachHoweverShortAWaitIsPromised(long maxQueueWaitMs) {
    // given
    EngineContext context = waitingAtMost(maxQueueWaitMs);

    // when: an overload each 40 s
    List<Long> pauses = new ArrayList<>();
    int ramps = 0;
    for (int i = 0; i < 7; i++) {
      List<Event> events = overloaded(context, "r" + i, null);
      QuotaHeld held = only(events, QuotaHeld.class);
      assertThat(held.reason()).isEqualTo(HoldReason.OVERLOADED);
      pauses.add(held.untilMs() - context.nowMs);
      ramps += events.stream().anyMatch(RampStarted.class::isInstance) ? 1 : 0;
      context.sleep(40_000);
    }

    // then
    assertThat(pauses).containsExactly(1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 30_000L, 30_000L);
    assertThat(ramps).isEqualTo(7);
  }

  @Test
  void shouldTurnAwayWhoWouldWaitForALongerPauseThanIsPromised() {
    // given
    EngineContext context = waitingAtMost(5_000);
    String lease = only(context.ask("r1", "a1", 1), LeaseGranted.class).leaseId();

    // when: 20 s, by the provider's own word
    overloaded(context, lease, "a1", 20_000L);
    LeaseRejected rejected = only(context.ask("r2", "a2", 1), LeaseRejected.class);
    context.sleep(19_000);
    LeaseQueued late = only(context.ask("r3", "a3", 1), LeaseQueued.class);

    // then
    assertThat(rejected.reason()).isEqualTo(RejectReason.QUOTA_EXHAUSTED);
    assertThat(rejected.detail()).contains("overloaded").contains("20000 ms");
    assertThat(late.etaMs()).isEqualTo(1_000);
    only(context.sleep(1_000), LeaseGranted.class);
  }

  @Test
  void shouldQueueWhoWaitsForAPauseThatIsNoLongerThanIsPromised() {
    // given
    EngineContext context = waitingAtMost(5_000);

    // when
    overloaded(context, "r1", null);

    // then
    only(context.ask("r2", "a2", 1), LeaseQueued.class);
  }

  private static List<Event> overloaded(EngineContext context, String id, Long retryAfterMs) {
    String lease = only(context.ask(id, "a" + id, 1), LeaseGranted.class).leaseId();
    context.sleep(200);
    return overloaded(context, lease, "a" + id, retryAfterMs);
  }

  private static List<Event> overloaded(
      EngineContext context, String lease, String agent, Long retryAfterMs) {
    return context.settle(
        lease,
        agent,
        Outcome.OVERLOADED,
        null,
        null,
        s -> BreakerFixture.with(s, 529, Kind.OVERLOADED, retryAfterMs));
  }

  private static EngineContext waitingAtMost(long ms) {
    QuotaDefinition plain = EngineContext.quota(Amounts.of(Dimension.REQUESTS, 6_000), null);
    EngineContext context = EngineContext.with(plain);
    context.submit(
        new Command.DefineQuota(Redefined.like(plain).maxQueueWaitMs(ms).definition(), SALT));
    return context;
  }
}
