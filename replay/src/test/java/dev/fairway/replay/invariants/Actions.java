package dev.fairway.replay.invariants;

import dev.fairway.replay.invariants.Action.Kind;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Random lists of actions: many requests on small limits, so that queues form. */
final class Actions {
  static final int MOST = 70;

  private Actions() {}

  static Arbitrary<List<Action>> lists() {
    return lists(kinds());
  }

  /** The same where providers refuse a good part of the calls. */
  static Arbitrary<List<Action>> storms() {
    return lists(
        Arbitraries.frequency(
            Tuple.of(40, Kind.REQUEST),
            Tuple.of(2, Kind.RETRY),
            Tuple.of(26, Kind.SETTLE),
            Tuple.of(3, Kind.SETTLE_WITH_SIGNAL),
            Tuple.of(30, Kind.REFUSED),
            Tuple.of(3, Kind.RENEW),
            Tuple.of(8, Kind.CANCEL),
            Tuple.of(2, Kind.REDEFINE),
            Tuple.of(8, Kind.PASS)));
  }

  /** Outages whose probes are given back or stay silent as often as they are refused. */
  static Arbitrary<List<Action>> silences() {
    return lists(
        Arbitraries.frequency(
            Tuple.of(40, Kind.REQUEST),
            Tuple.of(24, Kind.REFUSED),
            Tuple.of(24, Kind.GIVE_BACK),
            Tuple.of(2, Kind.SETTLE),
            Tuple.of(1, Kind.REDEFINE),
            Tuple.of(8, Kind.PASS)),
        Arbitraries.frequencyOf(
            Tuple.of(50, Arbitraries.just(0L)),
            Tuple.of(30, Arbitraries.longs().between(1, 2_000)),
            Tuple.of(20, Arbitraries.longs().between(2_001, 16_000))),
        MOST / 2);
  }

  /** Full lines, from which many are sent away and come back, under this tenant or that. */
  static Arbitrary<List<Action>> comebacks() {
    return lists(
        Arbitraries.frequency(
            Tuple.of(40, Kind.REQUEST),
            Tuple.of(30, Kind.RETRY),
            Tuple.of(12, Kind.SETTLE),
            Tuple.of(4, Kind.REFUSED),
            Tuple.of(4, Kind.REDEFINE),
            Tuple.of(4, Kind.PASS)),
        delays(),
        MOST / 2);
  }

  /** Minutes of calls that are settled sooner or later, some of them in the next minute. */
  static Arbitrary<List<Action>> minutes() {
    return lists(
        Arbitraries.frequency(
            Tuple.of(40, Kind.REQUEST),
            Tuple.of(32, Kind.SETTLE),
            Tuple.of(3, Kind.UNLEASED),
            Tuple.of(2, Kind.REDEFINE),
            Tuple.of(4, Kind.PASS)),
        Arbitraries.frequencyOf(
            Tuple.of(40, Arbitraries.just(0L)),
            Tuple.of(30, Arbitraries.longs().between(1, 2_000)),
            Tuple.of(25, Arbitraries.longs().between(2_001, 30_000)),
            Tuple.of(5, Arbitraries.longs().between(30_001, 130_000))));
  }

  private static Arbitrary<List<Action>> lists(Arbitrary<Kind> kinds) {
    return lists(kinds, delays());
  }

  private static Arbitrary<List<Action>> lists(Arbitrary<Kind> kinds, Arbitrary<Long> delays) {
    return lists(kinds, delays, 5);
  }

  private static Arbitrary<List<Action>> lists(
      Arbitrary<Kind> kinds, Arbitrary<Long> delays, int least) {
    Arbitrary<Integer> numbers = Arbitraries.integers().between(0, 1 << 20);
    return Combinators.combine(kinds, delays, numbers, numbers, numbers, numbers)
        .as(Action::new)
        .list()
        .ofMinSize(least)
        .ofMaxSize(MOST);
  }

  private static Arbitrary<Kind> kinds() {
    return Arbitraries.frequency(
        Tuple.of(40, Kind.REQUEST),
        Tuple.of(5, Kind.REQUEST_AGAIN),
        Tuple.of(5, Kind.RETRY),
        Tuple.of(22, Kind.SETTLE),
        Tuple.of(14, Kind.SETTLE_WITH_SIGNAL),
        Tuple.of(6, Kind.REFUSED),
        Tuple.of(9, Kind.RENEW),
        Tuple.of(5, Kind.CANCEL),
        Tuple.of(4, Kind.UNLEASED),
        Tuple.of(3, Kind.REDEFINE),
        Tuple.of(5, Kind.TASK),
        Tuple.of(4, Kind.PASS));
  }

  private static Arbitrary<Long> delays() {
    return Arbitraries.frequencyOf(
        Tuple.of(50, Arbitraries.just(0L)),
        Tuple.of(25, Arbitraries.longs().between(1, 300)),
        Tuple.of(20, Arbitraries.longs().between(301, 6_000)),
        Tuple.of(4, Arbitraries.longs().between(6_001, 70_000)),
        Tuple.of(1, Arbitraries.longs().between(600_000, 90_000_000)));
  }
}
