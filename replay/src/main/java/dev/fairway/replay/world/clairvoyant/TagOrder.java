package dev.fairway.replay.world.clairvoyant;

import dev.fairway.replay.world.Call;
import dev.fairway.replay.world.Limits;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeSet;

/**
 * Self-clocked fair queueing with the dominant cost: a call costs the largest share that it takes
 * of any limit, in input tokens, and the smallest virtual finish time goes first.
 */
final class TagOrder implements Iterable<TagOrder.Waiting> {

  /** A call in line. */
  record Waiting(Call call, double finish, long arrival) {}

  private final Limits limits;
  private final TreeSet<Waiting> line =
      new TreeSet<>(
          Comparator.comparingDouble(Waiting::finish).thenComparingLong(Waiting::arrival));
  private final Map<Call, Waiting> byCall = new HashMap<>();
  private final Map<Integer, Double> finishOfAgent = new HashMap<>();
  private double virtualTime;
  private long arrivals;

  TagOrder(Limits limits) {
    this.limits = limits;
  }

  void add(Call call, long input) {
    double start = Math.max(virtualTime, finishOfAgent.getOrDefault(call.agentIndex(), 0.0));
    double weight = call.role().weight() * (1 + 0.5 * call.unblocks());
    double finish = start + cost(input, call.output()) / weight;
    finishOfAgent.put(call.agentIndex(), finish);
    insert(new Waiting(call, finish, arrivals++));
  }

  /** A call that was served comes back, to where it was. */
  void putBack(Waiting served) {
    insert(served);
  }

  private void insert(Waiting waiting) {
    line.add(waiting);
    byCall.put(waiting.call(), waiting);
  }

  private double cost(long input, long output) {
    double ofOutput = (double) output * limits.inputTokens() / limits.outputTokens();
    double ofRequests = (double) limits.inputTokens() / limits.requests();
    return Math.max(input, Math.max(ofOutput, ofRequests));
  }

  Waiting head() {
    return line.isEmpty() ? null : line.first();
  }

  /** Takes one out that is let through. */
  void serve(Waiting waiting) {
    virtualTime = Math.max(virtualTime, waiting.finish());
    remove(waiting.call());
  }

  /** Takes one out that gave up; true if it was in line. */
  boolean remove(Call call) {
    Waiting waiting = byCall.remove(call);
    return waiting != null && line.remove(waiting);
  }

  @Override
  public Iterator<Waiting> iterator() {
    return line.iterator();
  }
}
