package dev.fairway.agent.gateway;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What a gateway counts; {@link GatewayStats} says what each means. Thread-safe. */
final class GatewayCounters {
  final AtomicInteger open = new AtomicInteger();
  final LongAdder calls = new LongAdder();
  final LongAdder uncounted = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder retries = new LongAdder();
  final LongAdder requeues = new LongAdder();
  final LongAdder budgetsSpent = new LongAdder();
  final LongAdder keptAlive = new LongAdder();
  final LongAdder clientsGone = new LongAdder();
  final LongAdder upstreamFailures = new LongAdder();

  GatewayStats snapshot() {
    return new GatewayStats(
        open.get(),
        calls.sum(),
        uncounted.sum(),
        refused.sum(),
        retries.sum(),
        requeues.sum(),
        budgetsSpent.sum(),
        keptAlive.sum(),
        clientsGone.sum(),
        upstreamFailures.sum());
  }
}
