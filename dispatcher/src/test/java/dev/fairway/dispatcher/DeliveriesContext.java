package dev.fairway.dispatcher;

import dev.fairway.dispatcher.ReplySender.Attempt;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;

/** Deliveries over a sender and topics that do what a test tells them to, in virtual time. */
abstract class DeliveriesContext {

  static final Route A = new Route("replies.a", 0, true);
  static final Route B = new Route("replies.b", 0, true);
  static final long LATER_MS = 1_000_000;

  final FakeSender sender = new FakeSender();
  final FakeTopics topics = new FakeTopics();
  final Listener listener = new Listener();
  final OffsetTracker tracker = new OffsetTracker(0);
  Deliveries deliveries;
  long nextNumber;
  long nowMs;

  @BeforeEach
  void startDeliveries() {
    start(new ParkingBounds(100, 10, 1 << 20), 1_000);
  }

  void start(ParkingBounds bounds, int inFlightMax) {
    deliveries = new Deliveries(sender, topics, bounds, inFlightMax, listener);
  }

  Reply accept(String agentId, Route route) {
    return accept(agentId, route, LATER_MS);
  }

  Reply accept(String agentId, Route route, long deadlineMs) {
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

  long committable() {
    return tracker.committable().orElse(0);
  }

  static final class FakeSender implements ReplySender {

    final List<String> sent = new ArrayList<>();
    final List<Route> routes = new ArrayList<>();
    final Map<String, Attempt> answers = new HashMap<>();
    int attempts;

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

  static final class FakeTopics implements ReplyTopics {

    final Set<Route> known = new HashSet<>();
    final List<Route> asked = new ArrayList<>();

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

  static final class Listener implements DeliveryListener {

    final List<Long> delivered = new ArrayList<>();
    final List<String> dropped = new ArrayList<>();
    final List<TopicError> errors = new ArrayList<>();

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
