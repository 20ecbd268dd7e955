package dev.fairway.dispatcher;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * All parked replies, over all lanes: bounded in number, in bytes and per agent, and ordered by
 * deadline. Used by the loop's thread.
 */
final class ParkingLot {

  private final ParkingBounds bounds;
  private final NavigableSet<Parked> byAge =
      new TreeSet<>(Comparator.comparingLong(p -> p.reply.number()));
  private final NavigableSet<Parked> byDeadline =
      new TreeSet<>(
          Comparator.<Parked>comparingLong(p -> p.reply.deadlineMs())
              .thenComparingLong(p -> p.reply.number()));
  private long bytes;

  ParkingLot(ParkingBounds bounds) {
    this.bounds = bounds;
  }

  int count() {
    return byAge.size();
  }

  long bytes() {
    return bytes;
  }

  /**
   * Parks a reply, and makes room where a bound is passed: whatever is past its deadline goes
   * first, then the oldest of the agent or of all.
   *
   * @return what had to go, already taken out; perhaps the reply itself
   */
  List<Evicted> park(Lane lane, Reply reply, long nowMs) {
    Parked parked = new Parked(lane, reply);
    lane.park(reply);
    byAge.add(parked);
    byDeadline.add(parked);
    bytes += reply.payload().sizeBytes();
    if (lane.parkedCount() <= bounds.perAgentMax() && isWithinTotal()) {
      return List.of();
    }
    List<Evicted> evicted = expire(nowMs);
    if (lane.parkedCount() > bounds.perAgentMax()) {
      evicted.add(evict(new Parked(lane, lane.head()), DropReason.AGENT_PARKING_FULL));
    }
    while (!isWithinTotal()) {
      evicted.add(evict(byAge.first(), DropReason.PARKING_FULL));
    }
    return evicted;
  }

  /** Takes a reply out, to be sent or because nobody waits for it any more. */
  void unpark(Lane lane, Reply reply) {
    remove(new Parked(lane, reply));
  }

  /** Takes out everything whose deadline has passed. The list may be added to. */
  List<Evicted> expire(long nowMs) {
    List<Evicted> evicted = new ArrayList<>();
    while (!byDeadline.isEmpty() && byDeadline.first().reply.deadlineMs() <= nowMs) {
      evicted.add(evict(byDeadline.first(), DropReason.EXPIRED));
    }
    return evicted;
  }

  private boolean isWithinTotal() {
    return byAge.size() <= bounds.totalMax() && bytes <= bounds.bytesMax();
  }

  private Evicted evict(Parked parked, DropReason reason) {
    remove(parked);
    return new Evicted(parked.reply, reason);
  }

  private void remove(Parked parked) {
    parked.lane.unpark(parked.reply);
    byAge.remove(parked);
    byDeadline.remove(parked);
    bytes -= parked.reply.payload().sizeBytes();
  }

  /** A reply that lost its place, and why. */
  record Evicted(Reply reply, DropReason reason) {}

  private record Parked(Lane lane, Reply reply) {}
}
