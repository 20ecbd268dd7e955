package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Forecast;
import dev.fairway.admission.engine.lease.Told;

/**
 * A lease, from its grant until it is forgotten.
 *
 * @param request as received
 * @param contentHash hash of its content
 * @param appendedAtMs broker's append time of the request
 * @param deadlineMs when the request leaves the queue, kept for a requeue
 * @param leaseId id
 * @param attempt from 1; 0: a call that was made without a lease, and reported
 * @param status state
 * @param grantedAtMs when it was granted
 * @param expiresAtMs when it ends unless settled or renewed
 * @param endedAtMs when it was settled or reaped, or null
 * @param charged what it holds, after adjustments
 * @param told what interim settlements told of it
 * @param coldCache whether the cached prefix was charged
 * @param cost cost in tokens of the reference dimension
 * @param weightMilli weight in thousandths
 * @param startTag start tag, kept for a requeue, or {@link #NO_PLACE}
 * @param sentAtMs when it was sent, or is thought to have been
 * @param sendKnown whether its own signal told that time
 * @param sendGuardMs uncertainty of that time
 * @param forecast what its charge was made of
 * @param errorMilli standard deviation of its actual, thousandths of its charge
 * @param signalled whether a signal of its own was applied: the provider's number has it
 * @param standing as what its request was served
 * @param taken what it took besides {@code charged}
 */
public record Lease(
    LeaseRequest request,
    String contentHash,
    long appendedAtMs,
    long deadlineMs,
    String leaseId,
    int attempt,
    Status status,
    long grantedAtMs,
    long expiresAtMs,
    Long endedAtMs,
    Amounts charged,
    Told told,
    boolean coldCache,
    long cost,
    int weightMilli,
    long startTag,
    long sentAtMs,
    boolean sendKnown,
    long sendGuardMs,
    Forecast forecast,
    int errorMilli,
    boolean signalled,
    Standing standing,
    Taken taken) {

  /** Its tenant ended, and its place in line with it. */
  public static final long NO_PLACE = Long.MAX_VALUE;

  /** State of a lease. */
  public enum Status {
    OPEN,
    EXPIRED,
    SETTLED
  }

  /** Whether an interim settlement told the input. */
  public boolean inputKnown() {
    return told.input() != null;
  }

  /** Whether it is no lease at all, but a call that was made without one. */
  public boolean isUnleased() {
    return attempt == UnleasedCall.ATTEMPT;
  }

  /** When it was sent, or, where all that is known is a time by which it was, that time. */
  long sentByMs() {
    return isUnleased() ? sentAtMs + sendGuardMs : sentAtMs;
  }

  /**
   * A call without a lease as if it had been granted when it was sent, at the earliest: what was
   * answered then says nothing of what has changed since.
   */
  public Lease grantedWhenSent() {
    Copy copy = new Copy(this);
    copy.grantedAtMs = sentAtMs - sendGuardMs;
    return copy.make();
  }

  /** An open lease that lives on: what it holds is adjusted, and its end is moved. */
  Lease renewed(Amounts adjusted, Told nowTold, long newExpiresAtMs, Taken nowTaken) {
    Copy copy = new Copy(this);
    copy.expiresAtMs = newExpiresAtMs;
    copy.charged = charged.minus(adjusted);
    copy.told = nowTold;
    copy.taken = nowTaken;
    return copy.make();
  }

  /** The lease with that much of a dimension. */
  Lease holding(Dimension dimension, long amount) {
    Copy copy = new Copy(this);
    copy.charged = charged.with(dimension, amount);
    return copy.make();
  }

  /** The lease with that much of a dimension of its tenant's ceiling. */
  Lease holdingOfCeiling(Dimension dimension, long amount) {
    Copy copy = new Copy(this);
    Amounts ceiling = taken.ceiling().with(dimension, amount);
    copy.taken = taken.holding(taken.also(), taken.reserve(), ceiling);
    return copy.make();
  }

  /** The lease at its end. */
  Lease ended(Status newStatus, long atMs, Amounts nowCharged, Taken nowTaken) {
    Copy copy = new Copy(this);
    copy.status = newStatus;
    copy.endedAtMs = atMs;
    copy.charged = nowCharged;
    copy.taken = nowTaken;
    return copy.make();
  }

  /** With that cost in the fair queue; null leaves it as it is. */
  Lease costing(Long newCost) {
    if (newCost == null) {
      return this;
    }
    Copy copy = new Copy(this);
    copy.cost = newCost;
    return copy.make();
  }

  /** With what was told of a refusal counted. */
  Lease heeded() {
    Copy copy = new Copy(this);
    copy.told = told.heeded();
    return copy.make();
  }

  /** Without a place in line to come back to. */
  Lease withoutPlace() {
    Copy copy = new Copy(this);
    copy.startTag = NO_PLACE;
    return copy.make();
  }

  /** With a signal of its own applied. */
  Lease withSignal() {
    Copy copy = new Copy(this);
    copy.signalled = true;
    return copy.make();
  }

  /** With the time of its send as its own signal told it; null leaves it as it was thought. */
  Lease sentAfter(Long delayMs) {
    if (delayMs == null) {
      return this;
    }
    Copy copy = new Copy(this);
    copy.sentAtMs = grantedAtMs + delayMs;
    copy.sendKnown = true;
    copy.sendGuardMs = 0;
    return copy.make();
  }

  /** The one place that names all fields: a lease with some of them changed. */
  private static final class Copy {
    private final Lease of;
    private Status status;
    private long grantedAtMs;
    private long expiresAtMs;
    private Long endedAtMs;
    private Amounts charged;
    private Told told;
    private long cost;
    private long startTag;
    private long sentAtMs;
    private boolean sendKnown;
    private long sendGuardMs;
    private boolean signalled;
    private Taken taken;

    Copy(Lease of) {
      this.of = of;
      status = of.status;
      grantedAtMs = of.grantedAtMs;
      expiresAtMs = of.expiresAtMs;
      endedAtMs = of.endedAtMs;
      charged = of.charged;
      told = of.told;
      cost = of.cost;
      startTag = of.startTag;
      sentAtMs = of.sentAtMs;
      sendKnown = of.sendKnown;
      sendGuardMs = of.sendGuardMs;
      signalled = of.signalled;
      taken = of.taken;
    }

    Lease make() {
      return new Lease(
          of.request,
          of.contentHash,
          of.appendedAtMs,
          of.deadlineMs,
          of.leaseId,
          of.attempt,
          status,
          grantedAtMs,
          expiresAtMs,
          endedAtMs,
          charged,
          told,
          of.coldCache,
          cost,
          of.weightMilli,
          startTag,
          sentAtMs,
          sendKnown,
          sendGuardMs,
          of.forecast,
          of.errorMilli,
          signalled,
          of.standing,
          taken);
    }
  }
}
