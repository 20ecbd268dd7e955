package dev.fairway.admission.engine;

import java.util.Locale;

/**
 * A rule of the policy that a quota may have or not. FAIRWAY has all of them, SEED those that were
 * published; an operator switches each by its name.
 */
public enum Rule {
  /**
   * A missing estimate of input, or of output, is what calls of its role take; of input else the
   * quota's default.
   */
  LEARNED_ESTIMATE(false),
  /** Estimates are corrected by how far those of their role lie off. */
  ESTIMATE_CORRECTION(false),
  /** A cached prefix counts where its cache will have ended at the grant. */
  COLD_CACHE(true),
  /** Where the provider reserves max_tokens, its headers have a call's output from the start. */
  RESERVED_OUTPUT(false),
  /**
   * A fixed window refunds nothing of a minute that is over, and a rolling one adds up its last
   * minute. A quota has one window, so this is one rule in each.
   */
  EXACT_WINDOWS(false),
  /** What was used stays used when the margin shrinks; else a balance is only clipped. */
  KEEP_USE(false),
  /** Headers of a limit above the quota's bound its balance, and lift it no further. */
  OWN_LIMIT(false),
  /** A lower limit that answers named is forgotten when none names it any more. */
  LIMIT_EXPIRY(false),
  /** What others take of a limit is learned, and taken off its refill. */
  OUTSIDE_RATE(true),
  /** ETAs see through holds, windows and who passes; else they are sums of a line. */
  EXACT_ETA(false),
  /** Unblocks are those of the live task graph, for who waits already too; else as claimed. */
  TASK_GRAPH(false),
  /** Of sibling tasks the one with the most work left weighs more. */
  SIBLING_BALANCE(false),
  /** A step that failed before weighs half for each failure. */
  LOOP_DECAY(true),
  /** A waiting request whose cache is about to end weighs twice, once. */
  CACHE_BUMP(false),
  /** Which attempt of its call a request is, is counted and not claimed; retries have budgets. */
  COUNTED_ATTEMPTS(false),
  /** A retry weighs half. */
  RETRY_CLASS(false),
  /** Small requests may pass a head that waits for tokens. */
  BACKFILL(false),
  /**
   * Places follow what their agent used: kept ones one another, those in line its tag, and those in
   * a reserve's line what it can ever pay for.
   */
  STRICT_PLACES(false),
  /** What is told of calls is held against what is known of them; else it is taken at its word. */
  STRICT_REPORTS(false),
  /** Only the first 429 of an episode cuts the margin, only its first overload pauses. */
  EPISODES(false),
  /** 429s in a row let nothing through but a probe. */
  BREAKER(false),
  /** After a pause grants come back bit by bit. */
  RAMP(false),
  /** An overloaded provider pauses the quota, longer each time. */
  OVERLOAD_PAUSE(true);

  private final boolean published;

  Rule(boolean published) {
    this.published = published;
  }

  /** Whether it is one of the published rules, which SEED has. */
  boolean isPublished() {
    return published;
  }

  /** Name of its knob. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
