package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.lease.Forecast;

/**
 * A waiting request.
 *
 * @param request as received
 * @param contentHash hash of its content
 * @param appendedAtMs broker's append time
 * @param attempt from 1
 * @param arrival order of arrival within the quota
 * @param enqueuedAtMs when it was enqueued
 * @param deadlineMs when it leaves the queue
 * @param estimate charge with a warm cache, per limited dimension
 * @param cost cost in tokens of the reference dimension
 * @param weightMilli weight in thousandths
 * @param startTag start tag of the fair queue
 * @param finishTag virtual finish time
 * @param toldAtMs when the agent was last told an ETA, or null
 * @param toldEtaMs what it was told, or null
 * @param firstEtaMs what it was told first, or null
 * @param forecast what its charge is made of
 */
public record Waiter(
    LeaseRequest request,
    String contentHash,
    long appendedAtMs,
    int attempt,
    long arrival,
    long enqueuedAtMs,
    long deadlineMs,
    Amounts estimate,
    long cost,
    int weightMilli,
    long startTag,
    long finishTag,
    Long toldAtMs,
    Long toldEtaMs,
    Long firstEtaMs,
    Forecast forecast) {

  /** A copy that was told this ETA at this time. */
  public Waiter told(long atMs, long etaMs) {
    return new Waiter(
        request,
        contentHash,
        appendedAtMs,
        attempt,
        arrival,
        enqueuedAtMs,
        deadlineMs,
        estimate,
        cost,
        weightMilli,
        startTag,
        finishTag,
        atMs,
        etaMs,
        firstEtaMs != null ? firstEtaMs : (Long) etaMs,
        forecast);
  }
}
