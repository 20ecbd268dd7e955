package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.dispatcher.ReplySender.Attempt;
import org.junit.jupiter.api.Test;

/**
 * What is not delivered: the expired, what is beyond a bound, what is too large, and what a retired
 * agent would have got.
 */
class DeliveryDropsTest extends DeliveriesContext {

  @Test
  void shouldDropTheExpiredAndThenCommitPastThem() {
    // given
    accept("a", A, 500);
    accept("a", A, 2_000);

    // when
    nowMs = 500;
    deliveries.tick(nowMs);

    // then
    assertThat(listener.dropped).containsExactly("a:expired");
    assertThat(deliveries.parked()).isEqualTo(1);
    assertThat(committable()).isEqualTo(1);
  }

  @Test
  void shouldDropWhatHasExpiredBeforeItCame() {
    // given
    topics.known.add(A);
    nowMs = 100;

    // when
    accept("a", A, 100);

    // then
    assertThat(sender.sent).isEmpty();
    assertThat(listener.dropped).containsExactly("a:expired");
    assertThat(committable()).isEqualTo(1);
  }

  @Test
  void shouldDropTheOldestOfAnAgentAtItsBound() {
    // given
    start(new ParkingBounds(100, 2, 1 << 20), 1_000);

    // when
    accept("a", A);
    accept("b", B);
    accept("a", A);
    accept("a", A);

    // then
    assertThat(listener.dropped).containsExactly("a:agent_parking_full");
    topics.known.add(A);
    deliveries.topicReady(A, nowMs);
    assertThat(sender.sent).containsExactly("a:2", "a:3");
  }

  @Test
  void shouldDropTheOldestOfAllAtTheTotalBound() {
    // given
    start(new ParkingBounds(2, 10, 1 << 20), 1_000);

    // when
    accept("b", B);
    accept("a", A);
    accept("a", A);

    // then
    assertThat(listener.dropped).containsExactly("b:parking_full");
    assertThat(deliveries.parked()).isEqualTo(2);
  }

  @Test
  void shouldDropTheExpiredRatherThanTheOldestAtABound() {
    // given
    start(new ParkingBounds(2, 10, 1 << 20), 1_000);
    accept("b", B, LATER_MS);
    accept("a", A, 10);
    nowMs = 20;

    // when
    accept("a", A, LATER_MS);

    // then
    assertThat(listener.dropped).containsExactly("a:expired");
  }

  @Test
  void shouldDropTheOldestAtTheBoundOfBytes() {
    // given: a reply takes about 210 bytes
    start(new ParkingBounds(100, 10, 500), 1_000);

    // when
    accept("a", A);
    accept("a", A);
    accept("a", A);

    // then
    assertThat(listener.dropped).containsExactly("a:parking_full");
    assertThat(deliveries.parkedBytes()).isLessThanOrEqualTo(500);
  }

  @Test
  void shouldDropWhatIsTooLargeAndGoOn() {
    // given
    topics.known.add(A);
    Reply large = accept("a", A);

    // when
    deliveries.failed(large, TopicError.TOO_LARGE, nowMs);
    accept("a", A);

    // then
    assertThat(listener.dropped).containsExactly("a:too_large");
    assertThat(sender.sent).containsExactly("a:0", "a:1");
    assertThat(committable()).isEqualTo(1);
  }

  @Test
  void shouldDropWhatTheProducerFindsTooLarge() {
    // given
    topics.known.add(A);
    sender.answers.put("replies.a", Attempt.TOO_LARGE);

    // when
    accept("a", A);

    // then
    assertThat(listener.dropped).containsExactly("a:too_large");
    assertThat(deliveries.parked()).isZero();
    assertThat(committable()).isEqualTo(1);
  }

  @Test
  void shouldBeSaturatedAtTheBoundOfRepliesUnderWay() {
    // given
    start(new ParkingBounds(100, 10, 1 << 20), 2);
    topics.known.add(A);
    Reply first = accept("a", A);

    // when
    accept("a", A);

    // then
    assertThat(deliveries.isSaturated(nowMs)).isTrue();
    deliveries.delivered(first, nowMs);
    assertThat(deliveries.isSaturated(nowMs)).isFalse();
  }

  @Test
  void shouldDropWhatIsParkedForARetiredAgent() {
    // given
    accept("a", A);
    accept("a", A);

    // when
    deliveries.retire("a");

    // then
    assertThat(listener.dropped).containsExactly("a:retired", "a:retired");
    assertThat(committable()).isEqualTo(2);
    assertThat(deliveries.lanes()).isZero();
  }

  @Test
  void shouldDropWhatComesBackForARetiredAgent() {
    // given
    topics.known.add(A);
    Reply reply = accept("a", A);
    deliveries.retire("a");

    // when
    deliveries.failed(reply, TopicError.MISSING, nowMs);

    // then
    assertThat(listener.dropped).containsExactly("a:retired");
    assertThat(deliveries.inFlight()).isZero();
    assertThat(committable()).isEqualTo(1);
  }
}
