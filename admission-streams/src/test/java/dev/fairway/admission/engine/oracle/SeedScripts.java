package dev.fairway.admission.engine.oracle;

import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Random scripts for one quota with the seed's preset. */
final class SeedScripts {
  /** What happens; the numbers choose among what there is when it runs. */
  enum Kind {
    REQUEST,
    AGAIN,
    RETRY,
    SETTLE,
    SIGNAL,
    REFUSED,
    OVERLOADED,
    RENEW,
    CANCEL,
    UNLEASED,
    PASS
  }

  /** One line of a script. */
  record Line(Kind kind, long delayMs, int a, int b, int c, int d) {}

  private SeedScripts() {}

  static Arbitrary<List<Line>> scripts() {
    Arbitrary<Integer> numbers = Arbitraries.integers().between(0, 1 << 20);
    return Combinators.combine(kinds(), delays(), numbers, numbers, numbers, numbers)
        .as(Line::new)
        .list()
        .ofMinSize(4)
        .ofMaxSize(60);
  }

  private static Arbitrary<Kind> kinds() {
    return Arbitraries.frequency(
        Tuple.of(42, Kind.REQUEST),
        Tuple.of(4, Kind.AGAIN),
        Tuple.of(4, Kind.RETRY),
        Tuple.of(22, Kind.SETTLE),
        Tuple.of(6, Kind.SIGNAL),
        Tuple.of(7, Kind.REFUSED),
        Tuple.of(2, Kind.OVERLOADED),
        Tuple.of(4, Kind.RENEW),
        Tuple.of(5, Kind.CANCEL),
        Tuple.of(2, Kind.UNLEASED),
        Tuple.of(3, Kind.PASS));
  }

  private static Arbitrary<Long> delays() {
    return Arbitraries.frequencyOf(
        Tuple.of(55, Arbitraries.just(0L)),
        Tuple.of(25, Arbitraries.longs().between(1, 400)),
        Tuple.of(17, Arbitraries.longs().between(401, 9_000)),
        Tuple.of(3, Arbitraries.longs().between(9_001, 900_000)));
  }

  static LeaseRequest request(
      Line line, int number, String quotaId, List<String> roles, LeaseRequest retried, long nowMs) {
    boolean oversize = line.d() % 23 == 0;
    Long input = line.c() % 12 == 0 ? null : (Long) (long) (line.c() % (oversize ? 8000 : 500));
    Long output = line.d() % 4 == 0 ? null : (Long) (long) (line.d() % 200);
    long cached = line.a() % 6 == 0 ? 120 : 0;
    return new LeaseRequest(
        "r" + number,
        retried != null ? retried.agentId() : "a" + line.a() % 4,
        quotaId,
        line.c() % 8 < 5 ? "task" : null,
        roles.get(line.b() % roles.size()),
        "batch",
        retried != null ? retried.requestId() : null,
        line.a() % 3,
        line.b() % 3 == 0 ? (Integer) (line.d() % 2 * 2) : null,
        new LeaseRequest.Estimate(
            input, cached, cached == 0 ? null : (Long) (nowMs + line.b() % 4000), output, "random"),
        null,
        line.b() % 13 == 0 ? (Long) (nowMs + line.c() % 8000) : null,
        null,
        null);
  }

  static Settlement.Usage usage(Line line) {
    Long output = line.b() % 6 == 0 ? null : (Long) (long) (line.b() % 300);
    return new Settlement.Usage((long) (line.c() % 600), null, null, output, true);
  }

  static Outcome ending(Line line) {
    Outcome[] endings = {
      Outcome.SUCCEEDED,
      Outcome.SUCCEEDED,
      Outcome.SUCCEEDED,
      Outcome.FAILED_AFTER_SEND,
      Outcome.NOT_SENT
    };
    return endings[line.d() % endings.length];
  }

  /** A signal of a call that was sent when it was granted. */
  static Signal signal(Line line, long sinceGrantMs) {
    Map<Dimension, Signal.Reading> readings = new LinkedHashMap<>();
    for (Dimension d : Dimension.values()) {
      int number = line.d() >> d.ordinal();
      if (d.refills() && number % 3 == 0) {
        Long limit = number % 15 == 0 ? (Long) (4000L + number % 3 * 600) : null;
        readings.put(d, new Signal.Reading(limit, number % 21 == 0 ? -1L : number % 1000, null));
      }
    }
    return new Signal(200, null, null, null, null, sinceGrantMs, readings);
  }

  static Signal refusal(Line line) {
    Long retryAfterMs = line.c() % 2 == 0 ? (Long) (long) (line.d() % 30_000) : null;
    return new Signal(429, null, null, retryAfterMs, null, null, Map.of());
  }
}
