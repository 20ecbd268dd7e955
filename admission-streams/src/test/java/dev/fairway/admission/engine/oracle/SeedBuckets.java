package dev.fairway.admission.engine.oracle;

import java.util.LinkedHashMap;
import java.util.Map;

/** The published buckets: refill m x rate, cap m x depth, in exact fractions of a token. */
final class SeedBuckets {
  private static final Rational MS_PER_MINUTE = Rational.of(60_000);

  private final SeedRules rules;
  private final Map<String, Rational> levels = new LinkedHashMap<>();
  private final Map<String, Long> limits = new LinkedHashMap<>();
  private Rational margin = SeedRules.START;
  private long atMs;

  SeedBuckets(SeedRules rules, long atMs) {
    this.rules = rules;
    this.atMs = atMs;
    rules.limits().forEach(limits::put);
    for (String d : limits.keySet()) {
      Long level = rules.levels().get(d);
      levels.put(d, level == null ? cap(d) : Rational.of(level));
    }
  }

  Rational margin() {
    return margin;
  }

  /** Whole tokens, as the published levels are told. */
  Map<String, Long> whole() {
    Map<String, Long> whole = new LinkedHashMap<>();
    levels.forEach((d, level) -> whole.put(d, level.floor()));
    return whole;
  }

  Rational level(String d) {
    return levels.get(d);
  }

  /** Moves a level by what the provider's own number says; the fraction under way stays. */
  void resync(String d, long by) {
    levels.put(d, levels.get(d).plus(Rational.of(by)));
  }

  long limit(String d) {
    return limits.get(d);
  }

  long depth(String d) {
    return refills(d) ? rules.depths().get(d) : limits.get(d);
  }

  Rational cap(String d) {
    return refills(d)
        ? Rational.of(1).max(margin.times(Rational.of(depth(d))))
        : Rational.of(limits.get(d));
  }

  Rational ratePerMs(String d) {
    return margin.times(Rational.of(limits.get(d))).over(MS_PER_MINUTE);
  }

  static boolean refills(String d) {
    return !d.equals(SeedRules.CONCURRENCY);
  }

  void advance(long toMs) {
    if (toMs > atMs) {
      for (String d : levels.keySet()) {
        if (refills(d)) {
          Rational more = ratePerMs(d).times(Rational.of(toMs - atMs));
          // Above its cap (a level that was given) a bucket waits until it is used.
          Rational full = Rational.of(levels.get(d).floor()).max(cap(d));
          levels.put(d, levels.get(d).plus(more).min(full));
        }
      }
      atMs = toMs;
    }
  }

  void charge(String d, long tokens) {
    levels.put(d, levels.get(d).minus(Rational.of(tokens)));
  }

  /** A refund stops at the cap; what is negative is charged, into debt if need be. */
  void adjust(String d, long tokens) {
    Rational level = levels.get(d);
    Rational moved = level.plus(Rational.of(tokens));
    Rational top = Rational.of(level.floor()).max(cap(d));
    levels.put(d, tokens >= 0 ? moved.min(top) : moved);
  }

  void margin(Rational newMargin) {
    margin = newMargin;
    clip();
  }

  /** A lower limit is learned, never one above the operator's. */
  void learn(String d, long limit) {
    limits.put(d, limit);
    clip();
  }

  /** The level that a charge of that size needs: an oversize one goes when the bucket is full. */
  Rational need(String d, long charge) {
    return Rational.of(charge).min(cap(d));
  }

  boolean fits(Map<String, Long> charge) {
    for (String d : levels.keySet()) {
      Rational level = levels.get(d);
      if (level.compareTo(Rational.ZERO) < 0 || level.compareTo(need(d, charge.get(d))) < 0) {
        return false;
      }
    }
    return true;
  }

  /** Milliseconds until that much is there, refill alone counted; rounded up. */
  long msUntil(String d, Rational needed) {
    Rational missing = needed.minus(levels.get(d));
    return missing.compareTo(Rational.ZERO) <= 0 ? 0 : missing.over(ratePerMs(d)).ceiling();
  }

  /** What is above the cap is lost. */
  private void clip() {
    for (String d : levels.keySet()) {
      if (refills(d) && Rational.of(levels.get(d).floor()).compareTo(cap(d)) >= 0) {
        levels.put(d, cap(d));
      }
    }
  }
}
