package dev.fairway.agent.fallback;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How often one logical call may still be tried again, whoever tries: an SDK inside a loop inside a
 * queue that delivers again would else multiply their tries. One budget is made where the logical
 * call begins, and handed down through all of them: as an object within a process, in the header
 * {@value #HEADER} beyond it. Thread-safe.
 */
public final class RetryBudget {
  /** Carries what is left: on a call what its sender allows, on an answer what remains. */
  public static final String HEADER = "x-fairway-retry-budget";

  /** Highest budget. */
  public static final int RETRIES_MAX = 1_000;

  private final AtomicInteger left;

  private RetryBudget(int retries) {
    this.left = new AtomicInteger(retries);
  }

  /**
   * A budget of its own.
   *
   * @param retries tries beyond the first one, 0 to {@value #RETRIES_MAX}
   */
  public static RetryBudget of(int retries) {
    if (retries < 0 || retries > RETRIES_MAX) {
      throw new IllegalArgumentException(
          "Expected a retry budget of 0 to " + RETRIES_MAX + ", but found " + retries + ".");
    }
    return new RetryBudget(retries);
  }

  /**
   * The budget that a header tells, or empty if it is absent or tells none. One above {@value
   * #RETRIES_MAX} counts as that.
   */
  public static Optional<RetryBudget> ofHeader(String value) {
    if (value == null || !value.strip().matches("[0-9]{1,9}")) {
      return Optional.empty();
    }
    return Optional.of(of(Math.min(RETRIES_MAX, Integer.parseInt(value.strip()))));
  }

  /** Takes one try; false if none is left, and then there must be no other try. */
  public boolean trySpend() {
    return left.getAndUpdate(now -> Math.max(0, now - 1)) > 0;
  }

  /**
   * Takes what is left above a number away.
   *
   * @param retries tries that may be left at most, 0 or more
   */
  public void lowerTo(int retries) {
    left.getAndUpdate(now -> Math.min(now, Math.max(0, retries)));
  }

  /** Tries left. */
  public int remaining() {
    return left.get();
  }

  /** Value of the header. */
  public String toHeader() {
    return Integer.toString(remaining());
  }

  @Override
  public String toString() {
    return remaining() + " retries left";
  }
}
