package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.DuplicateIgnored;
import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdmissionEngineTest {

  @Test
  void shouldGrantAtOnceWhatFitsAndQueueWhatDoesNotWithItsEta() {
    // given
    EngineContext context = EngineContext.with(tokens(100), tokens(100));

    // when
    List<Event> first = context.ask("r1", "a1", 58);
    List<Event> second = context.ask("r2", "a2", 80);
    List<Event> third = context.ask("r3", "a3", 175);

    // then
    assertThat(only(first, LeaseGranted.class).charged()).isEqualTo(tokens(58));
    assertThat(first).noneMatch(LeaseQueued.class::isInstance);
    LeaseQueued queued = only(second, LeaseQueued.class);
    assertThat(queued.position()).isEqualTo(1);
    assertThat(queued.etaMs()).isEqualTo(22_800);
    assertThat(only(third, LeaseRejected.class).reason()).isEqualTo(RejectReason.NEVER_FITS);
    assertThat(only(third, LeaseRejected.class).retryAtMs()).isNull();
  }

  @Test
  void shouldGrantTheQueuedRequestAtItsEtaWithoutAnyOtherRecord() {
    // given
    EngineContext context = EngineContext.with(tokens(100), tokens(0));
    LeaseQueued queued = only(context.ask("r1", "a1", 50), LeaseQueued.class);

    // when
    List<Event> before = context.sleep(queued.etaMs() - 1);
    List<Event> at = context.sleep(1);

    // then
    assertThat(queued.etaMs()).isEqualTo(30_000);
    assertThat(before).isEmpty();
    assertThat(only(at, LeaseGranted.class).requestId()).isEqualTo("r1");
  }

  @Test
  void shouldRefundTheDifferenceOnceAndIgnoreTheSecondSettlement() {
    // given
    EngineContext context = EngineContext.with(tokens(10_000), tokens(3_200));
    String lease = only(context.ask("r1", "a1", 2_200), LeaseGranted.class).leaseId();

    // when
    List<Event> first = context.settle(lease, "a1", Outcome.SUCCEEDED, 1_650L, 0L);
    long afterFirst = context.level(Dimension.TOKENS);
    List<Event> second = context.settle(lease, "a1", Outcome.SUCCEEDED, 0L, 0L);

    // then
    assertThat(only(first, LeaseSettled.class).adjusted()).isEqualTo(tokens(550));
    assertThat(afterFirst).isEqualTo(1_550);
    only(second, DuplicateIgnored.class);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(1_550);
  }

  @Test
  void shouldTakeDebtAndRefuseEverythingUntilItIsRepaid() {
    // given
    EngineContext context =
        EngineContext.with(
            Amounts.of(Dimension.OUTPUT_TOKENS, 1000), Amounts.of(Dimension.OUTPUT_TOKENS, 1000));
    String lease =
        only(context.ask(EngineContext.request("r1", "a1", 0, 800)), LeaseGranted.class).leaseId();

    // when
    context.settle(lease, "a1", Outcome.SUCCEEDED, 0L, 1200L);
    List<Event> next = context.ask(EngineContext.request("r2", "a1", 0, 100));
    List<Event> zero = context.ask(EngineContext.request("r3", "a2", 0, 0));

    // then
    assertThat(context.level(Dimension.OUTPUT_TOKENS)).isEqualTo(-200);
    assertThat(only(next, LeaseQueued.class).etaMs()).isEqualTo(18_000);
    only(zero, LeaseQueued.class);
  }

  @Test
  void shouldRepeatTheDecisionOfTheSameRequestAndChargeNothing() {
    // given
    EngineContext context = EngineContext.with(tokens(10_000), tokens(10_000));
    LeaseGranted granted = only(context.ask("r1", "a1", 4_000), LeaseGranted.class);

    // when
    List<Event> again = context.ask("r1", "a1", 4_000);
    List<Event> other = context.ask("r1", "a1", 4_001);

    // then
    LeaseGranted repeated = (LeaseGranted) only(again, DecisionRepeated.class).decision();
    assertThat(repeated.leaseId()).isEqualTo(granted.leaseId());
    assertThat(only(other, LeaseRejected.class).reason()).isEqualTo(RejectReason.INVALID);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(6_000);
  }

  @Test
  void shouldReapAnUnsettledLeaseWithoutRefundAndFreeItsSlot() {
    // given
    EngineContext context =
        EngineContext.with(
            Amounts.of(Dimension.CONCURRENT_REQUESTS, 1).with(Dimension.TOKENS, 60_000),
            Amounts.of(Dimension.TOKENS, 1000));
    context.ask("r1", "a1", 1000);
    List<Event> waiting = context.ask("r2", "a2", 0);

    // when
    List<Event> later = context.sleep(120_000);

    // then
    assertThat(only(waiting, LeaseQueued.class).etaMs()).isZero();
    only(later, LeaseExpired.class);
    assertThat(only(later, LeaseGranted.class).requestId()).isEqualTo("r2");
    assertThat(context.engine.show(EngineContext.QUOTA, context.nowMs).reserved())
        .isEqualTo(tokens(0).with(Dimension.CONCURRENT_REQUESTS, 1));
  }

  @Test
  void shouldShowZerosReservedBeforeTheFirstGrant() {
    // given
    EngineContext context = EngineContext.with(tokens(6_000), tokens(0));

    // when, then
    assertThat(context.show().reserved()).isEqualTo(tokens(0));
  }

  @Test
  void shouldServeByVirtualFinishTimeSoThatANewcomerAlternates() {
    // given
    EngineContext context = EngineContext.with(tokens(6_000), tokens(0));
    for (int i = 0; i < 5; i++) {
      context.ask("a" + i, "A", 100);
    }
    for (int i = 0; i < 5; i++) {
      context.ask("b" + i, "B", 100);
    }

    // when
    List<String> order =
        context.sleep(60_000).stream()
            .filter(LeaseGranted.class::isInstance)
            .map(e -> ((LeaseGranted) e).requestId())
            .toList();

    // then
    assertThat(order).containsExactly("a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4");
  }

  @Test
  void shouldNotEnqueueWhatIsRejected() {
    // given
    EngineContext context = EngineContext.with(tokens(60), tokens(0));
    context.ask("r1", "a1", 55);

    // when
    List<Event> tooLong = context.ask("r2", "a1", 20);

    // then
    LeaseRejected rejected = only(tooLong, LeaseRejected.class);
    assertThat(rejected.reason()).isEqualTo(RejectReason.QUEUE_WAIT_TOO_LONG);
    assertThat(rejected.retryAtMs()).isEqualTo(context.nowMs + 75_000);
    assertThat(tooLong).noneMatch(LeaseEnqueued.class::isInstance);
  }
}
