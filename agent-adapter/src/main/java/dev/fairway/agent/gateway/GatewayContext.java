package dev.fairway.agent.gateway;

import dev.fairway.agent.estimate.EstimateErrors;
import dev.fairway.agent.estimate.InputEstimator;
import dev.fairway.agent.estimate.PrefixBook;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * What all calls of one gateway share.
 *
 * @param keys API keys by the name of their upstream; absent where the caller's own are passed on
 */
record GatewayContext(
    GatewayConfig config,
    Admission admission,
    InputEstimator estimator,
    EstimateErrors estimateErrors,
    CountCalls countCalls,
    PrefixBook prefixes,
    Modes modes,
    Observations observations,
    PlaceBook places,
    ByteBudget bodies,
    GatewayCounters counters,
    HttpClient client,
    UsedConnections usedConnections,
    Scheduler scheduler,
    Map<String, String> keys) {

  /** Milliseconds of a clock that never goes back. */
  long nowMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** Milliseconds since 1970, for what others read. */
  long epochMs() {
    return System.currentTimeMillis();
  }
}
