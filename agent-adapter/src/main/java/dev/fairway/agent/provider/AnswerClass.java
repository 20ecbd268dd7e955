package dev.fairway.agent.provider;

/** What a provider's answer means for whoever shares its quota. */
public enum AnswerClass {
  /** The call succeeded. */
  OK(false),
  /** A limit that refills was hit: wait, then try again. */
  RATE_LIMITED(true),
  /** The provider itself is overloaded; no limit of ours was hit. */
  OVERLOADED(true),
  /** The call is larger than the limit: it will not fit at any time. */
  NEVER_FITS(false),
  /** A quota over a long time, such as a month's spend, is used up. */
  QUOTA_EXHAUSTED(false),
  /** A quota per day is used up. */
  DAILY_QUOTA(false),
  /** No credit, or no valid subscription: somebody has to act. */
  BILLING(false),
  /** Anything else that failed. */
  ERROR(false);

  private final boolean passes;

  AnswerClass(boolean passes) {
    this.passes = passes;
  }

  /** Whether it passes by itself soon, so that the same call may be tried again. */
  boolean passes() {
    return passes;
  }

  /** Whether the provider refused the call because of a limit. */
  boolean isLimit() {
    return this == RATE_LIMITED
        || this == NEVER_FITS
        || this == QUOTA_EXHAUSTED
        || this == DAILY_QUOTA;
  }
}
