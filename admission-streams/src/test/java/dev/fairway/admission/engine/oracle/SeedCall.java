package dev.fairway.admission.engine.oracle;

import java.util.Map;

/** One model call from its request to its end, as the oracle sees it. */
final class SeedCall {
  /**
   * What the agent asked for; null is unknown.
   *
   * @param deadlineMs when it leaves the queue, or null for the default
   */
  record Ask(
      String agent,
      String id,
      String task,
      String role,
      String retryOf,
      int repeatFailures,
      Integer unblocks,
      Long input,
      long cached,
      Long cacheExpiresAtMs,
      Long maxOutput,
      Long deadlineMs) {}

  /** Where the call stands. */
  enum State {
    WAITING,
    OPEN,
    SETTLED,
    EXPIRED,
    REJECTED,
    CANCELLED
  }

  final Ask ask;
  final int attempt;
  final long arrival;
  final long deadlineMs;
  final Map<String, Long> estimate;
  final Rational cost;
  final Rational weight;
  final Rational startTag;
  State state = State.WAITING;
  Map<String, Long> charged = Map.of();
  boolean inputKnown;
  boolean inSignal;
  long grantedAtMs;
  long expiresAtMs;
  long endedAtMs;
  Long retryAtMs;
  boolean tagKept;
  boolean cancelCameFirst;

  SeedCall(
      Ask ask,
      int attempt,
      long arrival,
      long deadlineMs,
      Map<String, Long> estimate,
      Rational cost,
      Rational weight,
      Rational startTag) {
    this.ask = ask;
    this.attempt = attempt;
    this.arrival = arrival;
    this.deadlineMs = deadlineMs;
    this.estimate = estimate;
    this.cost = cost;
    this.weight = weight;
    this.startTag = startTag;
  }

  Rational finishTag() {
    return startTag.plus(length(cost));
  }

  /** What a cost of this call moves a tag. */
  Rational length(Rational anyCost) {
    return anyCost.over(weight);
  }

  String name() {
    return ask.agent() + "/" + ask.id();
  }
}
