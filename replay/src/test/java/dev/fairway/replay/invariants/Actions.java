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

  private static final Arbitrary<Integer> ANY = Arbitraries.integers().between(0, 1 << 20);

  private static final Arbitrary<Long> SOON =
      Arbitraries.frequencyOf(
          Tuple.of(50, Arbitraries.just(0L)),
          Tuple.of(40, Arbitraries.longs().between(1, 400)),
          Tuple.of(10, Arbitraries.longs().between(401, 4_000)));

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

  /** Calls of every size behind others that wait for tokens, small ones most of all. */
  static Arbitrary<List<Action>> passers() {
    Arbitrary<Action> small = action(Kind.REQUEST, SOON, each(3), each(4), ANY, ANY);
    Arbitrary<Action> large =
        action(Kind.REQUEST, SOON, ANY, each(4), Arbitraries.integers().between(60, 399), ANY);
    Arbitrary<Action> other = action(Kind.SETTLE, SOON, ANY, ANY, ANY, ANY);
    return scripts(Tuple.of(60, small), Tuple.of(30, large), Tuple.of(10, other));
  }

  /** Calls of a class with a reserve among others, in the quota that keeps one. */
  static Arbitrary<List<Action>> reserves() {
    Arbitrary<Integer> quota = each(4).map(n -> n + 2);
    Arbitrary<Action> own = action(Kind.REQUEST, SOON, ANY, quota, each(4), ANY);
    Arbitrary<Action> others = action(Kind.REQUEST, SOON, ANY, quota, ANY, ANY);
    Arbitrary<Action> settled = action(Kind.SETTLE, SOON, ANY, ANY, ANY, ANY);
    return scripts(Tuple.of(30, own), Tuple.of(40, others), Tuple.of(30, settled));
  }

  /** 429s far enough apart to be episodes of their own. */
  static Arbitrary<List<Action>> refusals() {
    return lists(
        Arbitraries.frequency(
            Tuple.of(50, Kind.REQUEST),
            Tuple.of(40, Kind.REFUSED),
            Tuple.of(5, Kind.SETTLE),
            Tuple.of(5, Kind.SETTLE_WITH_SIGNAL)),
        Arbitraries.frequencyOf(
            Tuple.of(50, Arbitraries.just(0L)),
            Tuple.of(50, Arbitraries.longs().between(1, 9_000))),
        MOST / 2);
  }

  /** Quotas that are paused and taken up again while many wait. */
  static Arbitrary<List<Action>> pauses() {
    return lists(
        Arbitraries.frequency(
            Tuple.of(50, Kind.REQUEST),
            Tuple.of(15, Kind.REDEFINE),
            Tuple.of(20, Kind.SETTLE),
            Tuple.of(10, Kind.PASS)));
  }

  /** Overloads that lines wait through, and what comes after them. */
  static Arbitrary<List<Action>> outages() {
    Arbitrary<Action> request = action(Kind.REQUEST, SOON, ANY, ANY, ANY, ANY);
    Arbitrary<Action> small = action(Kind.REQUEST, SOON, each(3), ANY, ANY, ANY);
    Arbitrary<Action> overload = action(Kind.SETTLE, SOON, ANY, each(6).map(n -> n + 5), ANY, ANY);
    Arbitrary<Action> refused = action(Kind.REFUSED, SOON, ANY, ANY, ANY, ANY);
    return scripts(
        Tuple.of(40, request), Tuple.of(30, small), Tuple.of(20, overload), Tuple.of(10, refused));
  }

  /** Calls of few tasks that fail and are made again. */
  static Arbitrary<List<Action>> retries() {
    Arbitrary<Integer> task = each(15);
    Arbitrary<Action> request = action(Kind.REQUEST, SOON, ANY, ANY, task, each(5));
    Arbitrary<Action> retry = action(Kind.RETRY, SOON, ANY, each(2), task, each(5));
    Arbitrary<Action> refused = action(Kind.REFUSED, SOON, ANY, ANY, ANY, ANY);
    Arbitrary<Action> failed = action(Kind.SETTLE, SOON, ANY, each(6).map(n -> n + 3), ANY, ANY);
    return scripts(
        Tuple.of(35, request), Tuple.of(30, retry), Tuple.of(15, refused), Tuple.of(20, failed));
  }

  /** Small calls of one quota that fail one after the other, and are made again at once. */
  static Arbitrary<List<Action>> failures() {
    Arbitrary<Action> request = action(Kind.REQUEST, SOON, each(3), each(4), ANY, ANY);
    Arbitrary<Action> retry = action(Kind.RETRY, SOON, each(3), each(4), ANY, ANY);
    Arbitrary<Action> failed = action(Kind.SETTLE, SOON, ANY, each(6).map(n -> n + 3), ANY, ANY);
    return Arbitraries.frequencyOf(Tuple.of(30, request), Tuple.of(35, retry), Tuple.of(35, failed))
        .list()
        .ofMinSize(MOST)
        .ofMaxSize(2 * MOST);
  }

  /** Limits that change while lines wait and calls are out. */
  static Arbitrary<List<Action>> redefinitions() {
    Arbitrary<Action> request = action(Kind.REQUEST, SOON, ANY, ANY, ANY, ANY);
    Arbitrary<Action> settled = action(Kind.SETTLE, SOON, ANY, ANY, ANY, ANY);
    Arbitrary<Action> other = action(Kind.REDEFINE, SOON, ANY, ANY, ANY, each(6).map(n -> n + 1));
    Arbitrary<Action> back = action(Kind.REDEFINE, SOON, ANY, ANY, ANY, each(6).map(n -> n + 2));
    return scripts(
        Tuple.of(70, request), Tuple.of(10, settled), Tuple.of(10, other), Tuple.of(10, back));
  }

  private static Arbitrary<Integer> each(int step) {
    return Arbitraries.integers().between(0, (1 << 20) / step).map(n -> n * step);
  }

  private static Arbitrary<Action> action(
      Kind kind,
      Arbitrary<Long> delay,
      Arbitrary<Integer> a,
      Arbitrary<Integer> b,
      Arbitrary<Integer> c,
      Arbitrary<Integer> d) {
    return Combinators.combine(delay, a, b, c, d)
        .as((delayMs, w, x, y, z) -> new Action(kind, delayMs, w, x, y, z));
  }

  @SafeVarargs
  private static Arbitrary<List<Action>> scripts(Tuple.Tuple2<Integer, Arbitrary<Action>>... of) {
    return Arbitraries.frequencyOf(List.of(of)).list().ofMinSize(MOST / 2).ofMaxSize(MOST);
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
