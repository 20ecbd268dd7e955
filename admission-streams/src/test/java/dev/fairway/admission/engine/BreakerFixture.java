package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;

import dev.fairway.admission.engine.Event.BreakerOpened;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import java.util.List;
import java.util.Map;

/** An engine with one quota, and what opens, probes and answers its breaker. */
abstract class BreakerFixture {
  final EngineContext context = EngineContext.with(tokens(60_000), tokens(59_000));

  final void open() {
    open(context);
  }

  static void open(EngineContext context) {
    String first = only(context.ask("o1", "a1", 100), LeaseGranted.class).leaseId();
    String second = only(context.ask("o2", "a1", 100), LeaseGranted.class).leaseId();
    refused(context, first, null);
    only(refused(context, second, null), BreakerOpened.class);
  }

  final String granted(String id) {
    return only(context.ask(id, "a1", 100), LeaseGranted.class).leaseId();
  }

  final List<Event> refused(String lease, Long retryAfterMs) {
    return refused(context, lease, retryAfterMs);
  }

  final List<Event> refused(LeaseGranted lease, Long retryAfterMs) {
    return context.settle(
        lease.leaseId(),
        lease.agentId(),
        Outcome.RATE_LIMITED,
        null,
        null,
        s -> with(s, Kind.RATE_LIMITED, retryAfterMs));
  }

  final void requeued(LeaseGranted lease) {
    context.settle(
        lease.leaseId(),
        lease.agentId(),
        Outcome.RATE_LIMITED,
        null,
        null,
        s -> again(with(s, Kind.RATE_LIMITED, null)));
  }

  static Settlement again(Settlement s) {
    return new Settlement(
        s.leaseId(),
        s.requestId(),
        s.agentId(),
        s.quotaId(),
        s.outcome(),
        s.usage(),
        true,
        s.signal());
  }

  final List<Event> answer(LeaseGranted lease) {
    return context.settle(lease.leaseId(), lease.agentId(), Outcome.SUCCEEDED, 100L, 0L);
  }

  static List<Event> refused(EngineContext context, String lease, Long retryAfterMs) {
    return context.settle(
        lease,
        "a1",
        Outcome.RATE_LIMITED,
        null,
        null,
        s -> with(s, Kind.RATE_LIMITED, retryAfterMs));
  }

  static Settlement with(Settlement s, Kind kind, Long retryAfterMs) {
    return with(s, 429, kind, retryAfterMs);
  }

  static Settlement with(Settlement s, int status, Kind kind, Long retryAfterMs) {
    return new Settlement(
        s.leaseId(),
        s.requestId(),
        s.agentId(),
        s.quotaId(),
        s.outcome(),
        s.usage(),
        s.requeue(),
        new Signal(status, kind, null, retryAfterMs, 0L, null, Map.of()));
  }

  static List<LeaseGranted> grants(List<Event> events) {
    return events.stream()
        .filter(LeaseGranted.class::isInstance)
        .map(LeaseGranted.class::cast)
        .toList();
  }
}
