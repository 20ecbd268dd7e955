package dev.fairway.agent.gateway;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The retry budget as one call sees it, and what its client is told of it. A call that is not
 * counted has none. Used by the call's invoker.
 */
final class CallRetries {
  private static final Logger log = LoggerFactory.getLogger(CallRetries.class);
  private static final int TOO_MANY_REQUESTS = 429;

  private final GatewayContext context;
  private final CallPlan plan;

  CallRetries(GatewayContext context, CallPlan plan) {
    this.context = context;
    this.plan = plan;
  }

  /** Whether the call must not go upstream any more. */
  boolean isSpent() {
    return plan.counted() && plan.tries().isSpent();
  }

  /** The call goes upstream on a grant; false if it must not. Who observes stops nobody. */
  boolean trySend(Grant granted) {
    return !granted.canRequeue() || plan.tries().trySend(context.epochMs());
  }

  /** A try failed. */
  void failed(String requestId) {
    if (plan.counted() && requestId != null) {
      plan.tries().ended(requestId, true, context.epochMs());
    }
  }

  /** The call was tried as often as it may be: nobody is asked, and nothing is sent. */
  Trouble refusal() {
    tellSpent();
    Duration until = plan.tries().forgottenIn(context.epochMs());
    return new Trouble(
        TOO_MANY_REQUESTS,
        "Expected a call that may still be tried, but it went upstream "
            + plan.tries().sent()
            + " times, and its retry budget is spent. Look at why it fails; the same call is taken"
            + " again when it is forgotten.",
        until,
        false);
  }

  /** What a client is told of a trouble: not to try again by itself where that is of no use. */
  Trouble told(Trouble trouble) {
    if (!trouble.again() || !isSpent()) {
      return trouble;
    }
    tellSpent();
    return trouble.forGood();
  }

  /** The upstream's error goes to the client; true if it was the last try. */
  boolean endsWithError() {
    boolean spent = isSpent();
    if (spent) {
      tellSpent();
    }
    return spent;
  }

  /** Tells with an error how many tries are left. */
  void tellLeft(ClientAnswer answer) {
    if (plan.counted()) {
      answer.retriesLeft(plan.tries().retriesLeft());
    }
  }

  /** Loudly, and once for all its tries. */
  private void tellSpent() {
    if (plan.tries().tellOnce()) {
      context.counters().budgetsSpent.increment();
      log.error(
          "A call of agent {} on quota {} failed for good: it went upstream {} times, which is all"
              + " that its retry budget allows. `fairway why {}` tells its story.",
          plan.asker().member(),
          plan.target().quota(),
          plan.tries().sent(),
          plan.tries().retryOf());
    }
  }
}
