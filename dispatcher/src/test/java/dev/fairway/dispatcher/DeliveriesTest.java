package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.dispatcher.ReplySender.Attempt;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeliveriesTest extends DeliveriesContext {

  @Test
  void shouldSendAtOnceToAKnownTopic() {
    // given
    topics.known.add(A);

    // when
    accept("a", A);
    accept("a", A);

    // then
    assertThat(sender.sent).containsExactly("a:0", "a:1");
    assertThat(deliveries.parked()).isZero();
    assertThat(deliveries.inFlight()).isEqualTo(2);
    assertThat(committable()).isZero();
  }

  @Test
  void shouldFinishTheRecordWhenAcknowledged() {
    // given
    topics.known.add(A);
    Reply reply = accept("a", A);

    // when
    deliveries.delivered(reply, nowMs);

    // then
    assertThat(listener.delivered).containsExactly(0L);
    assertThat(committable()).isEqualTo(1);
    assertThat(deliveries.inFlight()).isZero();
  }

  @Test
  void shouldParkUntilTheTopicExistsAndThenSendInOrder() {
    // given
    accept("a", A);
    accept("a", A);
    accept("a", A);
    assertThat(sender.sent).isEmpty();
    assertThat(topics.asked).containsExactly(A);

    // when
    topics.known.add(A);
    deliveries.topicReady(A, nowMs);

    // then
    assertThat(sender.sent).containsExactly("a:0", "a:1", "a:2");
    assertThat(deliveries.parked()).isZero();
  }

  @Test
  void shouldNotDelayOthersWhileATopicIsMissing() {
    // given
    topics.known.add(B);
    accept("a", A);

    // when
    accept("b", B);

    // then
    assertThat(sender.sent).containsExactly("b:1");
    assertThat(deliveries.parked()).isEqualTo(1);
  }

  @Test
  void shouldAskAgainForATopicWithGrowingPauses() {
    // given
    accept("a", A);
    List<Long> askedAtMs = new ArrayList<>();

    // when: the topic can never be had
    while (nowMs < 60_000) {
      if (!topics.asked.isEmpty()) {
        topics.asked.clear();
        askedAtMs.add(nowMs);
        deliveries.topicFailed(A, TopicError.FORBIDDEN, nowMs);
      }
      nowMs += 50;
      deliveries.tick(nowMs);
    }

    // then
    assertThat(askedAtMs)
        .containsExactly(0L, 250L, 750L, 1_750L, 3_750L, 7_750L, 15_750L, 30_750L, 45_750L);
    assertThat(listener.errors).containsOnly(TopicError.FORBIDDEN);
    assertThat(committable()).isZero();
  }

  @Test
  void shouldSendAgainInOrderAfterAFailure() {
    // given
    topics.known.add(A);
    Reply first = accept("a", A);
    Reply second = accept("a", A);

    // when: both come back, and one more arrives meanwhile
    deliveries.failed(first, TopicError.OTHER, nowMs);
    accept("a", A);
    deliveries.failed(second, TopicError.OTHER, nowMs);
    sender.sent.clear();
    nowMs = 250;
    deliveries.tick(nowMs);

    // then: one at a time until the topic is known to work again
    assertThat(sender.sent).containsExactly("a:0");
    deliveries.delivered(first, nowMs);
    assertThat(sender.sent).containsExactly("a:0", "a:1", "a:2");
    assertThat(deliveries.lanesFailing()).isZero();
  }

  @Test
  void shouldHoldBackWhatFollowsUntilEverythingUnderWayCameBack() {
    // given
    topics.known.add(A);
    Reply first = accept("a", A);
    accept("a", A);
    deliveries.failed(first, TopicError.OTHER, nowMs);
    sender.sent.clear();

    // when
    nowMs = 500;
    deliveries.tick(nowMs);

    // then
    assertThat(sender.sent).isEmpty();
  }

  @Test
  void shouldMakeADeletedTopicAgain() {
    // given
    topics.known.add(A);
    Reply reply = accept("a", A);

    // when
    deliveries.failed(reply, TopicError.MISSING, nowMs);
    nowMs = 250;
    deliveries.tick(nowMs);

    // then
    assertThat(topics.asked).containsExactly(A);
    topics.known.add(A);
    deliveries.topicReady(A, nowMs);
    assertThat(sender.sent).containsExactly("a:0", "a:0");
  }

  @Test
  void shouldRetryShortlyWhenTheProducerDoesNotKnowTheTopicYet() {
    // given
    topics.known.add(A);
    sender.answers.put("replies.a", Attempt.NO_METADATA);
    accept("a", A);
    assertThat(deliveries.inFlight()).isZero();

    // when
    sender.answers.clear();
    nowMs = 5;
    deliveries.tick(nowMs);

    // then
    assertThat(deliveries.inFlight()).isEqualTo(1);
    assertThat(topics.asked).isEmpty();
  }

  @Test
  void shouldLookForATopicThatTheProducerDoesNotFind() {
    // given
    topics.known.add(A);
    sender.answers.put("replies.a", Attempt.NO_METADATA);
    accept("a", A);

    // when
    while (nowMs < 1_000) {
      nowMs += 5;
      deliveries.tick(nowMs);
    }

    // then
    assertThat(topics.asked).containsExactly(A);
    assertThat(sender.attempts).isEqualTo(6);
  }

  @Test
  void shouldParkBehindAReplyThatDoesNotComeBackAndLookAtItsTopic() {
    // given
    topics.known.add(A);
    topics.known.add(B);
    accept("a", A);

    // when
    nowMs = 1_000;
    deliveries.tick(nowMs);
    accept("a", A);
    accept("b", B);

    // then
    assertThat(topics.asked).containsExactly(A);
    assertThat(sender.sent).containsExactly("a:0", "b:2");
    assertThat(deliveries.parked()).isEqualTo(1);
  }

  @Test
  void shouldGoOnWhenTheReplyThatWasLateComesBack() {
    // given
    topics.known.add(A);
    Reply late = accept("a", A);
    nowMs = 1_000;
    deliveries.tick(nowMs);
    accept("a", A);

    // when
    deliveries.topicReady(A, nowMs);
    deliveries.delivered(late, nowMs);

    // then
    assertThat(sender.sent).containsExactly("a:0", "a:1");
  }

  @Test
  void shouldPauseForAllWhileTheBufferIsFull() {
    // given
    topics.known.add(A);
    topics.known.add(B);
    sender.answers.put("replies.a", Attempt.BUFFER_FULL);

    // when
    accept("a", A);
    accept("b", B);

    // then
    assertThat(deliveries.isSaturated(nowMs)).isTrue();
    assertThat(sender.sent).isEmpty();
    sender.answers.clear();
    nowMs = 5;
    deliveries.tick(nowMs);
    assertThat(deliveries.isSaturated(nowMs)).isFalse();
    assertThat(sender.sent).containsExactly("a:0", "b:1");
  }

  @Test
  void shouldForgetWhatOthersDeliverNow() {
    // given
    topics.known.add(A);
    Reply underWay = accept("a", A);
    accept("b", B);

    // when
    tracker.revoke();
    deliveries.forgetForeign();
    deliveries.failed(underWay, TopicError.TIMEOUT, nowMs);

    // then
    assertThat(deliveries.parked()).isZero();
    assertThat(deliveries.inFlight()).isZero();
    assertThat(listener.dropped).isEmpty();
  }

  @Test
  void shouldSendParkedRepliesToANewAddress() {
    // given
    accept("a", A);
    Route moved = new Route("elsewhere", 0, true);
    topics.known.add(moved);

    // when
    deliveries.reroute("a", moved);
    deliveries.topicFailed(A, TopicError.FORBIDDEN, nowMs);
    nowMs = 250;
    deliveries.tick(nowMs);

    // then
    assertThat(sender.sent).containsExactly("a:0");
    assertThat(sender.routes).containsExactly(moved);
  }

  @Test
  void shouldWakeAllAgentsOfASharedTopic() {
    // given
    Route shared = new Route("shared", 3, false);
    accept("a", shared);
    accept("b", shared);

    // when
    topics.known.add(shared);
    deliveries.topicReady(shared, nowMs);

    // then
    assertThat(sender.sent).containsExactlyInAnyOrder("a:0", "b:1");
  }

  @Test
  void shouldForgetLanesWithNothingToDo() {
    // given
    topics.known.add(A);
    Reply reply = accept("a", A);
    deliveries.delivered(reply, nowMs);

    // when
    nowMs = 1_000;
    deliveries.tick(nowMs);

    // then
    assertThat(deliveries.lanes()).isZero();
  }

  @Test
  void shouldRememberAFailingLaneWithNothingToDo() {
    // given: so that each new reply does not begin to ask for its topic at full speed again
    accept("a", A, 100);
    deliveries.topicFailed(A, TopicError.FORBIDDEN, nowMs);

    // when
    nowMs = 1_000;
    deliveries.tick(nowMs);

    // then
    assertThat(deliveries.parked()).isZero();
    assertThat(deliveries.lanesFailing()).isEqualTo(1);
    nowMs = 60_000;
    deliveries.tick(nowMs);
    assertThat(deliveries.lanes()).isZero();
  }

  @Test
  void shouldTellWhenSomethingIsDueNext() {
    // given
    assertThat(deliveries.quietMs(nowMs, 50)).isEqualTo(50);
    topics.known.add(A);
    sender.answers.put("replies.a", Attempt.NO_METADATA);

    // when
    accept("a", A);

    // then: the producer fetches metadata within milliseconds
    assertThat(deliveries.quietMs(nowMs, 50)).isEqualTo(5);
    assertThat(deliveries.quietMs(nowMs, 2)).isEqualTo(2);
    assertThat(deliveries.quietMs(10, 50)).isZero();
  }

  @Test
  void shouldNotHurryWhileATopicIsAwaited() {
    // when
    accept("a", A);

    // then
    assertThat(deliveries.quietMs(nowMs, 50)).isEqualTo(50);
  }
}
