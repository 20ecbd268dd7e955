package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.dispatcher.ReplySender.Attempt;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeliveriesTest {

  private static final Route A = new Route("replies.a", 0, true);
  private static final Route B = new Route("replies.b", 0, true);
  private static final long LATER_MS = 1_000_000;

  private final FakeSender sender = new FakeSender();
  private final FakeTopics topics = new FakeTopics();
  private final Listener listener = new Listener();
  private final OffsetTracker tracker = new OffsetTracker(0);
  private Deliveries deliveries;
  private long nextNumber;
  private long nowMs;

  @BeforeEach
  void startDeliveries() {
    start(new ParkingBounds(100, 10, 1 << 20), 1_000);
  }

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

  private void start(ParkingBounds bounds, int inFlightMax) {
    deliveries = new Deliveries(sender, topics, bounds, inFlightMax, listener);
  }

  private Reply accept(String agentId, Route route) {
    return accept(agentId, route, LATER_MS);
  }

  private Reply accept(String agentId, Route route, long deadlineMs) {
    long number = nextNumber++;
    tracker.begin(number, 1, nowMs);
    tracker.readUpTo(number + 1);
    Reply.Payload payload =
        new Reply.Payload(
            (agentId + ":" + number).getBytes(StandardCharsets.UTF_8), new byte[8], null);
    Reply reply = new Reply(number, agentId, payload, tracker, number, nowMs, deadlineMs);
    deliveries.accept(reply, route, nowMs);
    return reply;
  }

  private long committable() {
    return tracker.committable().orElse(0);
  }

  private static final class FakeSender implements ReplySender {

    private final List<String> sent = new ArrayList<>();
    private final List<Route> routes = new ArrayList<>();
    private final Map<String, Attempt> answers = new HashMap<>();
    private int attempts;

    @Override
    public Attempt send(Route route, Reply reply) {
      attempts++;
      Attempt answer = answers.getOrDefault(route.topic(), Attempt.ACCEPTED);
      if (answer == Attempt.ACCEPTED) {
        sent.add(new String(reply.payload().key(), StandardCharsets.UTF_8));
        routes.add(route);
      }
      return answer;
    }
  }

  private static final class FakeTopics implements ReplyTopics {

    private final Set<Route> known = new HashSet<>();
    private final List<Route> asked = new ArrayList<>();

    @Override
    public boolean isKnown(Route route) {
      return known.contains(route);
    }

    @Override
    public void forget(Route route) {
      known.remove(route);
    }

    @Override
    public void ensure(Route route) {
      asked.add(route);
    }
  }

  private static final class Listener implements DeliveryListener {

    private final List<Long> delivered = new ArrayList<>();
    private final List<String> dropped = new ArrayList<>();
    private final List<TopicError> errors = new ArrayList<>();

    @Override
    public void delivered(Reply reply, long nowMs) {
      delivered.add(reply.number());
    }

    @Override
    public void dropped(String agentId, DropReason reason) {
      dropped.add(agentId + ":" + reason.label());
    }

    @Override
    public void topicError(String agentId, TopicError error) {
      errors.add(error);
    }
  }
}
