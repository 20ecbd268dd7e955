package dev.fairway.dispatcher;

import dev.fairway.dispatcher.ParkingLot.Evicted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rules of delivery: what is sent when, what is parked, tried again or dropped. It neither
 * waits nor reads a clock. Used by the loop's thread.
 *
 * <p>Each agent has a {@link Lane}. A healthy lane sends at once, any number of replies behind each
 * other. Trouble (no topic, an error, no acknowledgement for a second) parks the lane's replies and
 * tries again with growing pauses; other lanes never notice.
 *
 * <p>An order that trouble can still break: a reply that fails after a later one of the same agent
 * was acknowledged is sent again behind it. Readers drop a decision older than one they have.
 */
final class Deliveries {

  /** After the producer's buffer was full, nothing is sent for this long. */
  private static final long BUFFER_FULL_PAUSE_MS = 5;

  /** How often lanes with replies under way are looked at for ones that don't come back. */
  private static final long SUSPECT_CHECK_INTERVAL_MS = 250;

  private final ReplySender sender;
  private final ReplyTopics topics;
  private final ParkingLot parking;
  private final DeliveryListener listener;
  private final int inFlightMax;

  private final Map<String, Lane> lanes = new HashMap<>();
  private final Set<Lane> lanesWithParked = new LinkedHashSet<>();
  private final Map<Route, Set<Lane>> lanesByAwaited = new HashMap<>();
  private int inFlight;
  private long sendAgainAtMs = Long.MIN_VALUE;
  private long suspectCheckAtMs = Long.MIN_VALUE;

  Deliveries(
      ReplySender sender,
      ReplyTopics topics,
      ParkingBounds bounds,
      int inFlightMax,
      DeliveryListener listener) {
    this.sender = sender;
    this.topics = topics;
    this.parking = new ParkingLot(bounds);
    this.inFlightMax = inFlightMax;
    this.listener = listener;
  }

  /** Sends or parks a reply that was just read from the journal. */
  void accept(Reply reply, Route route, long nowMs) {
    if (reply.deadlineMs() <= nowMs) {
      drop(reply, DropReason.EXPIRED);
      return;
    }
    Lane lane = lanes.computeIfAbsent(reply.agentId(), id -> new Lane(id, route));
    lane.reroute(route);
    if (lane.hasParked() || !trySend(lane, reply, nowMs)) {
      park(lane, reply, nowMs);
    }
  }

  /** A reply was acknowledged. */
  void delivered(Reply reply, long nowMs) {
    inFlight--;
    listener.delivered(reply, nowMs);
    reply.finish();
    Lane lane = laneOf(reply);
    if (lane != null) {
      lane.acknowledged(reply);
      flush(lane, nowMs);
    }
  }

  /** A reply that was sent did not arrive, or perhaps did and was not acknowledged. */
  void failed(Reply reply, TopicError error, long nowMs) {
    inFlight--;
    listener.topicError(reply.agentId(), error);
    Lane lane = laneOf(reply);
    if (lane == null) {
      drop(reply, DropReason.RETIRED);
      return;
    }
    if (error == TopicError.TOO_LARGE) {
      lane.acknowledged(reply);
      drop(reply, DropReason.TOO_LARGE);
      flush(lane, nowMs);
      return;
    }
    lane.returned(reply, nowMs);
    if (error == TopicError.MISSING || error == TopicError.TIMEOUT) {
      topics.forget(lane.route());
    }
    if (!reply.isForeign()) {
      park(lane, reply, nowMs);
    }
  }

  /** A topic that was asked for exists. */
  void topicReady(Route route, long nowMs) {
    for (Lane lane : awaiting(route)) {
      lane.ensured();
      flush(lane, nowMs);
    }
  }

  /** A topic that was asked for cannot be had just now. */
  void topicFailed(Route route, TopicError error, long nowMs) {
    for (Lane lane : awaiting(route)) {
      lane.ensured();
      lane.failed(nowMs);
      listener.topicError(lane.agentId(), error);
    }
  }

  /** The agent's registration names another address; what is parked goes there. */
  void reroute(String agentId, Route route) {
    Lane lane = lanes.get(agentId);
    if (lane != null) {
      lane.reroute(route);
    }
  }

  /** The agent is gone: nobody reads what is parked for it. */
  void retire(String agentId) {
    Lane lane = lanes.get(agentId);
    if (lane != null) {
      for (Reply reply : List.copyOf(lane.parked())) {
        parking.unpark(lane, reply);
        drop(reply, DropReason.RETIRED);
      }
      forget(lane);
    }
  }

  /**
   * Forgets what came from journal partitions that were taken away; it is delivered by who has
   * them.
   */
  void forgetForeign() {
    for (Lane lane : lanesWithParked) {
      for (Reply reply : List.copyOf(lane.parked())) {
        if (reply.isForeign()) {
          parking.unpark(lane, reply);
        }
      }
    }
  }

  /** Does what is due: drops the expired, tries lanes again, looks at suspects. Call it often. */
  void tick(long nowMs) {
    drop(parking.expire(nowMs));
    lanesWithParked.forEach(lane -> flush(lane, nowMs));
    lanesWithParked.removeIf(lane -> !lane.hasParked());
    if (nowMs >= suspectCheckAtMs) {
      suspectCheckAtMs = nowMs + SUSPECT_CHECK_INTERVAL_MS;
      checkSuspects(nowMs);
    }
  }

  /** Whether so much is under way that nothing more should be read for now. */
  boolean isSaturated(long nowMs) {
    return inFlight >= inFlightMax || nowMs < sendAgainAtMs;
  }

  /**
   * How long nothing is due of itself, in milliseconds from then; answers of Kafka may come
   * earlier.
   *
   * @param maxMs the answer if nothing is due at all
   */
  long quietMs(long nowMs, long maxMs) {
    long dueAtMs = nowMs + maxMs;
    for (Lane lane : lanesWithParked) {
      if (lane.hasParked()) {
        dueAtMs = Math.min(dueAtMs, Math.max(lane.retryAtMs(), sendAgainAtMs));
      }
    }
    return Math.max(0, dueAtMs - nowMs);
  }

  int inFlight() {
    return inFlight;
  }

  int parked() {
    return parking.count();
  }

  long parkedBytes() {
    return parking.bytes();
  }

  /** Agents with something under way, parked, or in trouble. */
  int lanes() {
    return lanes.size();
  }

  int lanesFailing() {
    return (int) lanes.values().stream().filter(Lane::isFailing).count();
  }

  private void flush(Lane lane, long nowMs) {
    while (lane.hasParked()) {
      Reply head = lane.head();
      if (!trySend(lane, head, nowMs)) {
        return;
      }
      parking.unpark(lane, head);
    }
  }

  /** Whether the reply needs no place any more: it is under way, or was dropped. */
  private boolean trySend(Lane lane, Reply reply, long nowMs) {
    if (!lane.maySend(nowMs) || nowMs < sendAgainAtMs) {
      return false;
    }
    if (!topics.isKnown(lane.route())) {
      await(lane);
      return false;
    }
    switch (sender.send(lane.route(), reply)) {
      case ACCEPTED -> {
        lane.sent(reply, nowMs);
        inFlight++;
        return true;
      }
      case TOO_LARGE -> {
        listener.topicError(lane.agentId(), TopicError.TOO_LARGE);
        drop(reply, DropReason.TOO_LARGE);
        return true;
      }
      case BUFFER_FULL -> sendAgainAtMs = nowMs + BUFFER_FULL_PAUSE_MS;
      case NO_METADATA -> {
        if (lane.missed(nowMs)) {
          topics.forget(lane.route());
        }
      }
    }
    return false;
  }

  private void park(Lane lane, Reply reply, long nowMs) {
    lanesWithParked.add(lane);
    drop(parking.park(lane, reply, nowMs));
  }

  private void await(Lane lane) {
    lane.ensuring();
    lanesByAwaited.computeIfAbsent(lane.route(), route -> new HashSet<>()).add(lane);
    topics.ensure(lane.route());
  }

  private Set<Lane> awaiting(Route route) {
    Set<Lane> waiting = lanesByAwaited.remove(route);
    return waiting == null ? Set.of() : waiting;
  }

  private void checkSuspects(long nowMs) {
    Iterator<Lane> all = lanes.values().iterator();
    List<Lane> idle = new ArrayList<>();
    while (all.hasNext()) {
      Lane lane = all.next();
      if (lane.isSuspect(nowMs) && lane.checkDue(nowMs)) {
        // A topic that was deleted is made again, and what the producer holds for it then goes out.
        await(lane);
      } else if (lane.isIdle(nowMs)) {
        idle.add(lane);
      }
    }
    idle.forEach(this::forget);
  }

  private void forget(Lane lane) {
    lanes.remove(lane.agentId());
    lanesWithParked.remove(lane);
    Set<Lane> waiting = lanesByAwaited.get(lane.route());
    if (waiting != null) {
      waiting.remove(lane);
    }
  }

  private Lane laneOf(Reply sent) {
    Lane lane = lanes.get(sent.agentId());
    return lane != null && lane.inFlight().contains(sent) ? lane : null;
  }

  private void drop(List<Evicted> evicted) {
    for (Evicted e : evicted) {
      drop(e.reply(), e.reason());
    }
  }

  private void drop(Reply reply, DropReason reason) {
    listener.dropped(reply.agentId(), reason);
    reply.finish();
  }
}
