package dev.fairway.replay.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.replay.world.Admission;
import dev.fairway.replay.world.Admission.Terms;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Signal;
import dev.fairway.schemas.Usage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimplePoliciesTest {
  private static final Terms TERMS =
      new Terms(60, 60_000, 6000, ProviderWindow.TOKEN_BUCKET, 60, false);

  private final List<Decision> decisions = new ArrayList<>();

  private static LeaseRequest request(String id, long input) {
    Estimate estimate = new Estimate(input, 0L, null, 1000L, "");
    return new LeaseRequest(
        id,
        "a",
        Admission.QUOTA,
        null,
        "worker",
        "batch",
        null,
        0,
        null,
        estimate,
        null,
        null,
        null,
        null);
  }

  private static Settlement settlement(
      Decision granted, String id, Outcome outcome, Usage usage, boolean requeue, Signal signal) {
    return new Settlement(
        granted == null ? null : granted.getGranted().getLeaseId(),
        id,
        "a",
        Admission.QUOTA,
        outcome,
        usage,
        requeue,
        signal);
  }

  private Decision last() {
    return decisions.get(decisions.size() - 1);
  }

  @Test
  void shouldCountCallsOfAClockMinuteAndNothingElse() {
    // given
    SharedRpm counter = new SharedRpm(TERMS, decisions::add);

    // when
    for (int i = 0; i < 60; i++) {
      counter.request(request("r" + i, 50_000), 59_000);
    }
    counter.request(request("late", 1), 59_999);

    // then
    assertThat(decisions.subList(0, 60)).allMatch(d -> d.getStatus() == DecisionStatus.GRANTED);
    assertThat(last().getRejected().getRetryAtMs()).isEqualTo(60_000);
    counter.request(request("next", 1), 60_000);
    assertThat(last().getStatus()).isEqualTo(DecisionStatus.GRANTED);
  }

  @Test
  void shouldServeTheBucketInOrderOfArrival() {
    // given: 51,000 at the margin
    FifoBucket bucket = new FifoBucket(TERMS, decisions::add);
    bucket.request(request("r1", 50_000), 0);

    // when
    bucket.request(request("r2", 9500), 0);
    bucket.request(request("r3", 1), 0);

    // then: 850 a second
    assertThat(decisions)
        .extracting(Decision::getStatus)
        .containsExactly(DecisionStatus.GRANTED, DecisionStatus.QUEUED, DecisionStatus.QUEUED);
    assertThat(bucket.nextDeadlineMs()).isEqualTo(10_000);
    bucket.tick(10_000);
    assertThat(last().getRequestId()).isEqualTo("r2");
    assertThat(bucket.nextDeadlineMs()).isBetween(10_001L, 10_002L);
  }

  @Test
  void shouldGiveBackTheDifferenceToTheActualInput() {
    // given
    FifoBucket bucket = new FifoBucket(TERMS, decisions::add);
    bucket.request(request("r1", 50_000), 0);

    // when
    bucket.settle(
        settlement(
            last(), "r1", Outcome.IN_PROGRESS, new Usage(40_000L, 0L, 0L, null, true), false, null),
        0);
    bucket.request(request("r2", 11_000), 0);

    // then
    assertThat(last().getStatus()).isEqualTo(DecisionStatus.GRANTED);
  }

  @Test
  void shouldPauseAfterARefusalAndPutTheCallBackInFront() {
    // given
    FifoBucket bucket = new FifoBucket(TERMS, decisions::add);
    bucket.request(request("r1", 10_000), 0);
    Decision granted = last();
    Signal refused = new Signal(429, null, null, 7000L, 0L, 100L, null);

    // when
    bucket.settle(settlement(granted, "r1", Outcome.RATE_LIMITED, null, true, refused), 0);
    bucket.request(request("r2", 1), 100);

    // then
    assertThat(last().getStatus()).isEqualTo(DecisionStatus.QUEUED);
    assertThat(bucket.nextDeadlineMs()).isEqualTo(7000);
    bucket.tick(7000);
    assertThat(decisions)
        .filteredOn(d -> d.getStatus() == DecisionStatus.GRANTED)
        .extracting(Decision::getRequestId)
        .containsExactly("r1", "r1", "r2");
  }

  @Test
  void shouldForgetWhoWithdraws() {
    // given
    FifoBucket bucket = new FifoBucket(TERMS, decisions::add);
    bucket.request(request("r1", 51_000), 0);
    bucket.request(request("r2", 51_000), 0);

    // when
    bucket.settle(settlement(null, "r2", Outcome.CANCELLED, null, false, null), 0);
    bucket.settle(settlement(null, "r1", Outcome.CANCELLED, null, false, null), 0);
    bucket.request(request("r3", 51_000), 0);

    // then
    assertThat(last().getRequestId()).isEqualTo("r3");
    assertThat(last().getStatus()).isEqualTo(DecisionStatus.GRANTED);
  }
}
