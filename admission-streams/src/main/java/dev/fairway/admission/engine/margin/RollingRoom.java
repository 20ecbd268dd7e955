package dev.fairway.admission.engine.margin;

/**
 * How much of a limit calls of one minute may take, where the provider adds up exactly the last
 * minute. A bucket bounds what a minute can take, but it cannot tell what the last one did take, so
 * a call larger than its depth was sent into a window that was still taken. Pure arithmetic.
 */
public final class RollingRoom {
  /** Others are taken to have this part of the limit at most, or nobody would ever be granted. */
  private static final int OTHERS_SHARE = 2;

  /** No call is asked to find more than this part of the limit free, unless it is larger. */
  private static final int MOST_FREE_BP = 8_500;

  private static final int ONE_BP = 10_000;

  private RollingRoom() {}

  /** What is ours of a limit where the provider tells its level: what others do not have. */
  public static long besideOthers(long limit, long outsidePerMinute) {
    return limit - Math.min(limit / OTHERS_SHARE, outsidePerMinute);
  }

  /**
   * What must be free for a call that is charged that much. A call of nearly the whole limit would
   * else wait until nobody has called for a minute.
   *
   * @param need what {@link Need#tokens} asks for in a bucket as deep as the limit
   */
  public static long need(long charge, long need, long limit) {
    long most = limit / ONE_BP * MOST_FREE_BP + limit % ONE_BP * MOST_FREE_BP / ONE_BP;
    return Math.min(need, Math.max(most, Math.min(charge, limit - limit / 1000)));
  }
}
