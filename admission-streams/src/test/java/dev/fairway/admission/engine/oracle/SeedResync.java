package dev.fairway.admission.engine.oracle;

import dev.fairway.admission.engine.oracle.SeedCall.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The provider's own numbers: balances are moved into the interval that they leave open. */
final class SeedResync {
  private static final long ABSORB_WINDOW_MS = 60_000;
  private static final long GUARD_MS = 120;

  private final SeedRules rules;
  private final SeedBuckets buckets;
  private final List<SeedCall> leases;
  private final Map<String, Long> absorbedUpToMs = new HashMap<>();
  private Long lastSignalSentAtMs;
  private boolean undecided;
  private long nowMs;

  SeedResync(SeedRules rules, SeedBuckets buckets, List<SeedCall> leases) {
    this.rules = rules;
    this.buckets = buckets;
    this.leases = leases;
  }

  /**
   * Whether the last command turned on what the rules leave open: they do not say whether a call
   * that was sent about when the signal's was is in the provider's number.
   */
  boolean leftOpen() {
    return undecided;
  }

  /**
   * Whether the provider's own number, as applied, has the call in it: its own signal did, or a
   * call that was sent clearly later. Output is never in it: that counts as it is produced.
   */
  boolean absorbed(String d, SeedCall call) {
    Long upToMs = absorbedUpToMs.get(d);
    if (upToMs == null || d.equals("output_tokens")) {
      return false;
    }
    long sentAtMs = call.grantedAtMs;
    undecided |= !call.inSignal && Math.abs(sentAtMs - upToMs) <= GUARD_MS;
    return call.inSignal ? sentAtMs <= upToMs : sentAtMs < upToMs - GUARD_MS;
  }

  /** Calls are taken to be sent when they are granted: that is what the signals of the test say. */
  void apply(SeedCall own, SeedSignal signal, long atMs, List<String> told) {
    nowMs = atMs;
    if (signal == null) {
      return;
    }
    own.inSignal = true;
    signal.limits().forEach((d, limit) -> learn(d, limit, told));
    long sentAtMs = own.grantedAtMs;
    if (lastSignalSentAtMs != null && sentAtMs < lastSignalSentAtMs - GUARD_MS) {
      return;
    }
    List<String> moved = new ArrayList<>();
    for (Map.Entry<String, Long> reading : signal.remaining().entrySet()) {
      String d = reading.getKey();
      if (rules.limits().containsKey(d) && reading.getValue() >= 0) {
        moved.add(d + " " + resync(own, d, reading.getValue(), sentAtMs));
        absorbedUpToMs.merge(d, sentAtMs, Math::max);
      }
    }
    if (!moved.isEmpty()) {
      lastSignalSentAtMs =
          lastSignalSentAtMs == null ? sentAtMs : Math.max(lastSignalSentAtMs, sentAtMs);
      told.add("resynced " + moved);
    }
  }

  private void learn(String d, long limit, List<String> told) {
    if (rules.limits().containsKey(d)) {
      long lower = Math.min(limit, rules.limits().get(d));
      if (lower != buckets.limit(d)) {
        buckets.learn(d, lower);
        told.add("learned " + d + " " + lower);
      }
    }
  }

  private long resync(SeedCall own, String d, long remaining, long sentAtMs) {
    long unseen = 0;
    long ambiguous = 0;
    for (SeedCall other : leases) {
      boolean recent = nowMs < other.grantedAtMs + ABSORB_WINDOW_MS || other.state == State.OPEN;
      boolean output = d.equals("output_tokens");
      if (output && other.state == State.OPEN) {
        unseen += other.charged.get(d);
      } else if (other != own && recent && other.grantedAtMs > sentAtMs + GUARD_MS) {
        unseen += other.charged.get(d);
      } else if (other != own && recent && other.grantedAtMs >= sentAtMs - GUARD_MS) {
        ambiguous += other.charged.get(d);
      }
    }
    long hi = Math.min(buckets.depth(d), remaining) - unseen;
    long lo = hi - ambiguous;
    long before = buckets.level(d).floor();
    long clamped = Math.max(lo, Math.min(hi, before));
    long after = Math.min(buckets.cap(d).floor(), clamped);
    buckets.resync(d, after - before);
    return after;
  }
}
