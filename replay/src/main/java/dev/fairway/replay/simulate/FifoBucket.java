package dev.fairway.replay.simulate;

import dev.fairway.replay.world.Admission;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.Usage;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The bucket that most people would build: 85 % of each limit, estimates on grant and actuals on
 * settlement, first come, first served, and a pause after a 429. No headers, no weights, no order
 * but that of arrival.
 */
final class FifoBucket implements Admission {
  private static final double MARGIN = 0.85;
  private static final double MINUTE_MS = 60_000;
  private static final long LEASE_MS = 120_000;

  private final Consumer<Decision> decisions;
  private final Level requests;
  private final Level input;
  private final Level output;
  private final ArrayDeque<Waiting> line = new ArrayDeque<>();
  private final Map<String, Waiting> granted = new HashMap<>();

  /** Requests of calls that go on, and have told their input. */
  private final Set<String> inputTold = new HashSet<>();

  private long holdUntilMs;
  private long dueMs = Long.MAX_VALUE;

  /** A request in line or granted, by its id. */
  private record Waiting(LeaseRequest request, long input, int attempt) {}

  /** One limit at the margin; not below by anything but debt. */
  private static final class Level {
    private final double depth;
    private final double perMs;
    private double level;
    private long atMs;

    Level(long limitPerMinute, int depthS) {
      depth = Math.max(1, MARGIN * limitPerMinute * depthS / 60);
      perMs = MARGIN * limitPerMinute / MINUTE_MS;
      level = depth;
    }

    double at(long nowMs) {
      level = Math.min(depth, level + (nowMs - atMs) * perMs);
      atMs = nowMs;
      return level;
    }

    void add(long nowMs, double tokens) {
      level = Math.min(depth, at(nowMs) + tokens);
    }

    long msUntil(long nowMs, double tokens) {
      return (long) Math.ceil(Math.max(0, Math.min(tokens, depth) - at(nowMs)) / perMs);
    }
  }

  FifoBucket(Terms terms, Consumer<Decision> decisions) {
    this.decisions = decisions;
    requests = new Level(terms.requestsPerMinute(), terms.depthS());
    input = new Level(terms.inputTokensPerMinute(), terms.depthS());
    output = new Level(terms.outputTokensPerMinute(), terms.depthS());
  }

  @Override
  public void request(LeaseRequest request, long nowMs) {
    Estimate estimate = request.getEstimate();
    Long cacheEndsMs = estimate.getCacheExpiresAtMs();
    long cold = cacheEndsMs != null && cacheEndsMs > nowMs ? 0 : estimate.getCachedTokens();
    line.addLast(new Waiting(request, estimate.getInputTokens() + cold, 1));
    drain(nowMs);
    if (!granted.containsKey(leaseId(request.getRequestId(), 1))) {
      decisions.accept(
          Decisions.queued(
              request.getRequestId(),
              request.getAgentId(),
              nowMs,
              line.size(),
              Math.max(0, dueMs - nowMs)));
    }
  }

  @Override
  public void settle(Settlement settlement, long nowMs) {
    if (settlement.getOutcome() == Outcome.CANCELLED) {
      cancel(settlement.getRequestId(), nowMs);
    } else {
      byLease(settlement, nowMs);
    }
    drain(nowMs);
  }

  /** Out of line, or a grant given back that its agent never read. */
  private void cancel(String requestId, long nowMs) {
    line.removeIf(waiting -> waiting.request().getRequestId().equals(requestId));
    granted
        .values()
        .removeIf(
            lease -> {
              boolean unread = lease.request().getRequestId().equals(requestId);
              input.add(nowMs, unread ? lease.input() : 0);
              return unread;
            });
  }

  private void byLease(Settlement settlement, long nowMs) {
    Waiting lease = granted.get(settlement.getLeaseId());
    if (lease == null) {
      return;
    }
    Usage usage = settlement.getUsage();
    if (settlement.getOutcome() == Outcome.RATE_LIMITED) {
      granted.remove(settlement.getLeaseId());
      input.add(nowMs, lease.input());
      holdUntilMs = Math.max(holdUntilMs, nowMs + settlement.getSignal().getRetryAfterMs());
      if (settlement.getRequeue()) {
        line.addFirst(new Waiting(lease.request(), lease.input(), lease.attempt() + 1));
      }
    } else if (settlement.getOutcome() == Outcome.IN_PROGRESS) {
      correct(lease, usage, nowMs);
    } else {
      correct(lease, usage, nowMs);
      granted.remove(settlement.getLeaseId());
      inputTold.remove(lease.request().getRequestId());
      if (usage != null && usage.getOutputTokens() != null) {
        output.add(nowMs, -usage.getOutputTokens());
      }
    }
  }

  /** By the input that a call used, once: on the way, or at its end. */
  private void correct(Waiting lease, Usage usage, long nowMs) {
    if (usage != null
        && usage.getInputTokens() != null
        && inputTold.add(lease.request().getRequestId())) {
      long written = usage.getCacheWriteTokens() == null ? 0 : usage.getCacheWriteTokens();
      input.add(nowMs, lease.input() - usage.getInputTokens() - written);
    }
  }

  private void drain(long nowMs) {
    dueMs = Long.MAX_VALUE;
    while (!line.isEmpty()) {
      Waiting head = line.peekFirst();
      long waitMs = Math.max(0, holdUntilMs - nowMs);
      waitMs = Math.max(waitMs, requests.msUntil(nowMs, 1));
      waitMs = Math.max(waitMs, input.msUntil(nowMs, head.input()));
      waitMs = Math.max(waitMs, output.msUntil(nowMs, 1));
      if (waitMs > 0) {
        dueMs = nowMs + waitMs;
        return;
      }
      grant(line.pollFirst(), nowMs);
    }
  }

  private void grant(Waiting head, long nowMs) {
    requests.add(nowMs, -1);
    input.add(nowMs, -head.input());
    String id = head.request().getRequestId();
    String leaseId = leaseId(id, head.attempt());
    granted.put(leaseId, head);
    Amounts charged = new Amounts(1L, head.input(), null, null, null);
    decisions.accept(
        Decisions.granted(
            id,
            head.request().getAgentId(),
            nowMs,
            leaseId,
            head.attempt(),
            charged,
            nowMs + LEASE_MS));
  }

  private static String leaseId(String requestId, int attempt) {
    return requestId + "/" + attempt;
  }

  @Override
  public void task(TaskUpdate update, long nowMs) {}

  @Override
  public long nextDeadlineMs() {
    return dueMs;
  }

  @Override
  public void tick(long nowMs) {
    drain(nowMs);
  }

  @Override
  public boolean requeues() {
    return true;
  }
}
