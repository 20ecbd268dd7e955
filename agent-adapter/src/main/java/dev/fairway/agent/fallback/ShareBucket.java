package dev.fairway.agent.fallback;

import java.util.Arrays;
import java.util.OptionalLong;

/**
 * A local token bucket over several dimensions, for the time in which nobody else counts. It starts
 * empty, because what was granted just before still runs: whatever happens, what it lets pass in a
 * time is at most that time's share plus what it may save up, {@value #SAVED_MS} ms' worth. A call
 * that is larger than that may be waited for: the bucket then fills up to that call.
 *
 * <p>Balances are integers, with time's remainder carried. Not thread-safe; time is an argument and
 * never goes back.
 */
public final class ShareBucket {
  /** How much time's share an unused bucket saves up. */
  public static final long SAVED_MS = 10_000;

  /** The wait for what never comes. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final int DIMENSIONS = 4;
  private static final long MINUTE_MS = 60_000;

  /** Highest amount and rate that is told apart; above, arithmetic would overflow. */
  private static final long AMOUNT_MAX = 1_000_000_000_000L;

  private static final long UNLIMITED = -1;

  /**
   * What a call takes, or a minute brings.
   *
   * @param requests calls, empty: not limited
   * @param inputTokens input tokens, empty: not limited
   * @param outputTokens output tokens, empty: not limited
   * @param tokens both together, empty: not limited
   */
  public record Amounts(
      OptionalLong requests,
      OptionalLong inputTokens,
      OptionalLong outputTokens,
      OptionalLong tokens) {
    /** What one call takes. */
    public static Amounts ofCall(long inputTokens, long outputTokens) {
      return ofCalls(1, inputTokens, outputTokens);
    }

    /** What some calls take together. */
    public static Amounts ofCalls(long requests, long inputTokens, long outputTokens) {
      return new Amounts(
          OptionalLong.of(requests),
          OptionalLong.of(inputTokens),
          OptionalLong.of(outputTokens),
          OptionalLong.of(inputTokens + outputTokens));
    }

    private long[] array(long absent) {
      long[] amounts = new long[DIMENSIONS];
      OptionalLong[] given = {requests, inputTokens, outputTokens, tokens};
      for (int i = 0; i < DIMENSIONS; i++) {
        amounts[i] =
            given[i].isEmpty() ? absent : Math.max(0, Math.min(AMOUNT_MAX, given[i].getAsLong()));
      }
      return amounts;
    }
  }

  private final long[] rates = new long[DIMENSIONS];

  /** Amount x milliseconds of a minute, so that nothing is lost by rounding. */
  private final long[] levels = new long[DIMENSIONS];

  private final long[] wanted = new long[DIMENSIONS];
  private long atMs;
  private long heldUntilMs;

  /** An empty bucket. */
  public ShareBucket(Amounts perMinute, long nowMs) {
    this.atMs = nowMs;
    this.heldUntilMs = nowMs;
    rates(perMinute, nowMs);
  }

  /** The share changed; what was saved up stays as far as it may. */
  public void rates(Amounts perMinute, long nowMs) {
    refill(nowMs);
    System.arraycopy(perMinute.array(UNLIMITED), 0, rates, 0, DIMENSIONS);
  }

  /** Nothing passes until then: the provider said so. An earlier time changes nothing. */
  public void hold(long untilMs) {
    heldUntilMs = Math.max(heldUntilMs, untilMs);
  }

  /**
   * How long until a call may be taken, 0 for now, {@link #NEVER} if no time is long enough. The
   * bucket makes room for that call from now on, so it is to be asked for the next one only.
   */
  public long waitMs(Amounts call, long nowMs) {
    refill(nowMs);
    long[] need = call.array(0);
    long waitMs = Math.max(0, heldUntilMs - nowMs);
    for (int i = 0; i < DIMENSIONS; i++) {
      wanted[i] = need[i] * MINUTE_MS;
      long missing = wanted[i] - levels[i];
      if (rates[i] == UNLIMITED || missing <= 0) {
        continue;
      }
      if (rates[i] == 0) {
        return NEVER;
      }
      waitMs = Math.max(waitMs, (missing + rates[i] - 1) / rates[i]);
    }
    return waitMs;
  }

  /** Takes a call whose wait is over. */
  public void take(Amounts call, long nowMs) {
    refill(nowMs);
    long[] need = call.array(0);
    for (int i = 0; i < DIMENSIONS; i++) {
      levels[i] -= rates[i] == UNLIMITED ? 0 : need[i] * MINUTE_MS;
    }
    Arrays.fill(wanted, 0);
  }

  /** A call that was taken turned out to use something else: the difference, up or down. */
  public void adjust(Amounts taken, Amounts used, long nowMs) {
    refill(nowMs);
    long[] before = taken.array(0);
    long[] after = used.array(0);
    for (int i = 0; i < DIMENSIONS; i++) {
      levels[i] += rates[i] == UNLIMITED ? 0 : (before[i] - after[i]) * MINUTE_MS;
    }
    cap();
  }

  private void refill(long nowMs) {
    long passedMs = Math.max(0, nowMs - atMs);
    for (int i = 0; i < DIMENSIONS; i++) {
      if (rates[i] > 0) {
        // No longer than until it is full, so that nothing overflows after a long pause.
        long fullInMs = Math.max(0, most(i) - levels[i]) / rates[i] + 1;
        levels[i] += rates[i] * Math.min(passedMs, fullInMs);
      }
    }
    atMs = Math.max(atMs, nowMs);
    cap();
  }

  private void cap() {
    for (int i = 0; i < DIMENSIONS; i++) {
      levels[i] = Math.max(-AMOUNT_MAX * MINUTE_MS, Math.min(levels[i], most(i)));
    }
  }

  private long most(int dimension) {
    return Math.max(wanted[dimension], Math.max(0, rates[dimension]) * SAVED_MS);
  }
}
