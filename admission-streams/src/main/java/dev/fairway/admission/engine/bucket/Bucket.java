package dev.fairway.admission.engine.bucket;

/**
 * The raw balance of one dimension. Immutable; what may be used of it, and how fast it refills, is
 * the margin's affair.
 *
 * @param balance whole tokens, negative in debt
 * @param remainder part of a token that the refill carries, in refill units
 * @param clipped tokens lost at the cap so far, so that conservation can be checked
 */
public record Bucket(long balance, long remainder, long clipped) {

  /** A bucket with that balance. */
  public static Bucket at(long balance) {
    return new Bucket(balance, 0, 0);
  }

  /** After a time of refill. At or above the cap nothing is added and nothing is carried. */
  public Bucket refill(long unitsPerMs, long elapsedMs, long cap) {
    if (elapsedMs <= 0) {
      return this;
    }
    long refilled = FixedPoint.refilledTokens(unitsPerMs, elapsedMs, remainder);
    if (balance >= cap) {
      return new Bucket(balance, 0, Amounts.saturatedAdd(clipped, refilled));
    }
    long level = Amounts.saturatedAdd(balance, refilled);
    if (level >= cap) {
      return new Bucket(cap, 0, Amounts.saturatedAdd(clipped, level - cap));
    }
    return new Bucket(
        level, FixedPoint.refilledRemainder(unitsPerMs, elapsedMs, remainder), clipped);
  }

  /** After a charge; debt is allowed. */
  public Bucket charge(long amount) {
    return new Bucket(Amounts.saturatedSubtract(balance, amount), remainder, clipped);
  }

  /** After a refund, which never lifts the balance above the cap; at the cap nothing is carried. */
  public Bucket refund(long amount, long cap) {
    long level = Amounts.saturatedAdd(balance, amount);
    long kept = Math.max(balance, Math.min(level, cap));
    long carried = kept >= cap ? 0 : remainder;
    return new Bucket(kept, carried, Amounts.saturatedAdd(clipped, level - kept));
  }

  /** After an adjustment: a refund where positive, a charge where negative. */
  public Bucket adjust(long amount, long cap) {
    return amount >= 0 ? refund(amount, cap) : charge(Amounts.saturatedSubtract(0, amount));
  }

  /** The same bucket with another balance. */
  public Bucket withBalance(long newBalance) {
    return new Bucket(newBalance, remainder, clipped);
  }

  /**
   * After its cap came down by that much, to that cap: what was used of it stays used, but nobody
   * owes anything for it.
   */
  public Bucket lowered(long by, long cap) {
    long lost = Math.max(0, Math.min(by, balance));
    return new Bucket(balance - lost, remainder, Amounts.saturatedAdd(clipped, lost)).clipTo(cap);
  }

  /** Clipped to a cap that came down. */
  public Bucket clipTo(long cap) {
    return balance < cap
        ? this
        : new Bucket(
            cap, 0, Amounts.saturatedAdd(clipped, Amounts.saturatedSubtract(balance, cap)));
  }
}
