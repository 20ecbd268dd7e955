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
 * @param cost cost in the fair queue
 * @param weightMilli weight in thousandths
 * @param startTag start tag of the fair queue
 * @param finishTag virtual finish time
 * @param toldAtMs when the agent was last told an ETA, or null
 * @param toldEtaMs what it was told, or null
 * @param firstEtaMs what it was told first, or null
 * @param forecast what its charge is made of
 * @param standing as what it is served
 * @param flowShift shift of its agent's flow when it came in line
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
    Forecast forecast,
    Standing standing,
    long flowShift) {

  /** What it takes per dimension: of every one where other quotas are taken from too. */
  public Amounts demand() {
    return standing.demand() != null ? standing.demand() : estimate;
  }

  /** Tag and arrival decide who is served first within a tenant. */
  public boolean before(Waiter other) {
    return finishTag != other.finishTag ? finishTag < other.finishTag : arrival < other.arrival;
  }

  /** A copy that was told this ETA at this time. */
  public Waiter told(long atMs, long etaMs) {
    return copy(
        estimate,
        cost,
        weightMilli,
        startTag,
        finishTag,
        atMs,
        etaMs,
        firstEtaMs != null ? firstEtaMs : (Long) etaMs,
        standing,
        flowShift);
  }

  /** A copy of that weight; the start stays, the finish follows. */
  public Waiter weighing(int newWeightMilli, long newFinishTag, Standing newStanding) {
    return placed(estimate, cost, newWeightMilli, startTag, newFinishTag, newStanding);
  }

  /** A copy at another place in line. */
  Waiter placed(
      Amounts newEstimate,
      long newCost,
      int newWeightMilli,
      long newStartTag,
      long newFinishTag,
      Standing newStanding) {
    return copy(
        newEstimate,
        newCost,
        newWeightMilli,
        newStartTag,
        newFinishTag,
        toldAtMs,
        toldEtaMs,
        firstEtaMs,
        newStanding,
        flowShift);
  }

  /** A copy in that standing, at the same place. */
  Waiter in(Standing newStanding) {
    return placed(estimate, cost, weightMilli, startTag, finishTag, newStanding);
  }

  /** A copy that lies further back by that much. */
  Waiter movedBy(long shift) {
    return placed(
        estimate,
        cost,
        weightMilli,
        Amounts.saturatedAdd(startTag, shift),
        Amounts.saturatedAdd(finishTag, shift),
        standing);
  }

  /** A copy that came in line at that shift of its flow. */
  Waiter since(long newFlowShift) {
    return copy(
        estimate,
        cost,
        weightMilli,
        startTag,
        finishTag,
        toldAtMs,
        toldEtaMs,
        firstEtaMs,
        standing,
        newFlowShift);
  }

  private Waiter copy(
      Amounts newEstimate,
      long newCost,
      int newWeightMilli,
      long newStartTag,
      long newFinishTag,
      Long newToldAtMs,
      Long newToldEtaMs,
      Long newFirstEtaMs,
      Standing newStanding,
      long newFlowShift) {
    return new Waiter(
        request,
        contentHash,
        appendedAtMs,
        attempt,
        arrival,
        enqueuedAtMs,
        deadlineMs,
        newEstimate,
        newCost,
        newWeightMilli,
        newStartTag,
        newFinishTag,
        newToldAtMs,
        newToldEtaMs,
        newFirstEtaMs,
        forecast,
        newStanding,
        newFlowShift);
  }
}
