package dev.fairway.dispatcher;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeMap;

/**
 * The replies of one agent: parked ones in the journal's order, and those that were sent and not
 * yet acknowledged. Also what is known of the agent's trouble, so that it stays this agent's alone.
 * Used by the loop's thread.
 */
final class Lane {

  /**
   * Without an acknowledgement for this long, what follows is parked and the topic is looked at.
   */
  static final long SUSPECT_AFTER_MS = 1_000;

  private static final long SUSPECT_CHECK_PAUSE_MS = 2_000;
  private static final long FAILURE_BACKOFF_MIN_MS = 250;
  private static final long MISS_BACKOFF_MIN_MS = 5;
  private static final long BACKOFF_MAX_MS = 15_000;

  /**
   * Misses after which the topic itself is asked for again. The producer fetches metadata within a
   * few milliseconds, and a new topic takes some more to be known to every broker.
   */
  private static final int MISSES_BEFORE_CHECK = 6;

  private final String agentId;
  private final TreeMap<Long, Reply> parked = new TreeMap<>();
  private final Set<Reply> inFlight = new LinkedHashSet<>();
  private Route route;
  private int failures;
  private int misses;
  private long retryAtMs = Long.MIN_VALUE;
  private long checkAtMs = Long.MIN_VALUE;
  private boolean ensuring;

  Lane(String agentId, Route route) {
    this.agentId = agentId;
    this.route = route;
  }

  String agentId() {
    return agentId;
  }

  Route route() {
    return route;
  }

  void reroute(Route newRoute) {
    route = newRoute;
  }

  /** Parked replies, the oldest first. */
  Collection<Reply> parked() {
    return parked.values();
  }

  Reply head() {
    return parked.firstEntry().getValue();
  }

  /** Puts a reply in its place in the order, also one that was sent and failed. */
  void park(Reply reply) {
    parked.put(reply.number(), reply);
  }

  void unpark(Reply reply) {
    parked.remove(reply.number());
  }

  boolean hasParked() {
    return !parked.isEmpty();
  }

  int parkedCount() {
    return parked.size();
  }

  Collection<Reply> inFlight() {
    return inFlight;
  }

  /**
   * Whether the next reply may be sent. A lane in trouble sends one reply at a time, as a probe,
   * and only once everything that was under way has come back, so that order survives the failure.
   */
  boolean maySend(long nowMs) {
    if (nowMs < retryAtMs || ensuring) {
      return false;
    }
    return inFlight.isEmpty() || (failures == 0 && !isSuspect(nowMs));
  }

  /** Whether its oldest reply under way has waited suspiciously long. */
  boolean isSuspect(long nowMs) {
    return !inFlight.isEmpty() && nowMs - inFlight.iterator().next().sentAtMs() >= SUSPECT_AFTER_MS;
  }

  void sent(Reply reply, long nowMs) {
    reply.sentAt(nowMs);
    inFlight.add(reply);
  }

  /** A reply was acknowledged: the trouble, if there was any, is over. */
  void acknowledged(Reply reply) {
    inFlight.remove(reply);
    failures = 0;
    misses = 0;
    retryAtMs = Long.MIN_VALUE;
  }

  /** A reply came back undelivered. Those that come back together count as one failure. */
  void returned(Reply reply, long nowMs) {
    inFlight.remove(reply);
    failed(nowMs);
  }

  /** The topic could not be made, or a reply came back: wait longer each time. */
  void failed(long nowMs) {
    if (nowMs >= retryAtMs) {
      retryAtMs = nowMs + backoffMs(FAILURE_BACKOFF_MIN_MS, failures);
      failures++;
    }
  }

  /**
   * The producer does not know the topic, or not yet.
   *
   * @return whether the topic should be asked for again
   */
  boolean missed(long nowMs) {
    retryAtMs = nowMs + backoffMs(MISS_BACKOFF_MIN_MS, misses);
    misses++;
    return misses >= MISSES_BEFORE_CHECK;
  }

  /** Waits for its topic until {@link #ensured()}. */
  void ensuring() {
    ensuring = true;
  }

  void ensured() {
    ensuring = false;
  }

  /** Whether a suspect's topic should be looked at now; says so once in a while only. */
  boolean checkDue(long nowMs) {
    if (ensuring || nowMs < checkAtMs) {
      return false;
    }
    checkAtMs = nowMs + SUSPECT_CHECK_PAUSE_MS;
    return true;
  }

  /**
   * When something may be sent again; far off while the topic is awaited or replies are under way.
   */
  long retryAtMs() {
    return ensuring || !inFlight.isEmpty() ? Long.MAX_VALUE : retryAtMs;
  }

  boolean isFailing() {
    return failures > 0;
  }

  /** Whether nothing would be lost by forgetting this lane. */
  boolean isIdle(long nowMs) {
    return parked.isEmpty()
        && inFlight.isEmpty()
        && !ensuring
        && (failures == 0 || nowMs - retryAtMs > BACKOFF_MAX_MS);
  }

  private static long backoffMs(long minMs, int exponent) {
    return Math.min(BACKOFF_MAX_MS, minMs << Math.min(exponent, 20));
  }
}
