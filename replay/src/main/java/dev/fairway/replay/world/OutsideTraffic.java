package dev.fairway.replay.world;

import dev.fairway.replay.world.Draws.Stream;

/**
 * Calls of others on the same limit: a Poisson stream, five times as dense in a burst of each hour.
 * Drawn ahead, the same for every policy.
 */
public final class OutsideTraffic {
  private static final long HOUR_MS = 3_600_000;
  private static final double MINUTE_MS = 60_000;

  private final long[] atMs;
  private final long[] input;
  private final int count;

  private OutsideTraffic(long[] atMs, long[] input, int count) {
    this.atMs = atMs;
    this.input = input;
    this.count = count;
  }

  static OutsideTraffic draw(long seed, WorldOptions options, long inputTokensPerMinute) {
    WorldOptions.Outside outside = options.outside();
    double most = Math.max(outside.share(), outside.burstShare());
    double callsPerMs = most * inputTokensPerMinute / MINUTE_MS / outside.callTokens();
    int room = (int) (2 * callsPerMs * options.durationMs()) + 1000;
    long[] atMs = new long[room];
    long[] input = new long[room];
    int count = 0;
    Draws draws = Draws.of(seed, Stream.OUTSIDE, 0, 0);
    double now = callsPerMs > 0 ? draws.exponential(1 / callsPerMs) : options.durationMs();
    while (now < options.durationMs() && count < room) {
      double share = inBurst(seed, outside, (long) now) ? outside.burstShare() : outside.share();
      long size = Math.max(1, Math.round(draws.exponential(outside.callTokens())));
      // Thinned, so that a burst moves no call of the time around it.
      if (draws.next() < share / most) {
        atMs[count] = (long) now;
        input[count] = size;
        count++;
      }
      now += draws.exponential(1 / callsPerMs);
    }
    return new OutsideTraffic(atMs, input, count);
  }

  private static boolean inBurst(long seed, WorldOptions.Outside outside, long nowMs) {
    long hour = nowMs / HOUR_MS;
    double latest = Math.max(0, HOUR_MS - outside.burstMs());
    double fromMs = hour * HOUR_MS + Draws.of(seed, Stream.BURST, hour, 0).between(0, latest);
    return nowMs >= fromMs && nowMs < fromMs + outside.burstMs();
  }

  int count() {
    return count;
  }

  long atMs(int call) {
    return atMs[call];
  }

  long input(int call) {
    return input[call];
  }

  /** Input of the calls that arrive in that time: what only a clairvoyant can know. */
  public long inputBetween(long fromMs, long toMs) {
    long sum = 0;
    for (int i = first(fromMs); i < count && atMs[i] <= toMs; i++) {
      sum += input[i];
    }
    return sum;
  }

  /** Calls that arrive in that time. */
  public long callsBetween(long fromMs, long toMs) {
    long calls = 0;
    for (int i = first(fromMs); i < count && atMs[i] <= toMs; i++) {
      calls++;
    }
    return calls;
  }

  /** The first call after that time. */
  private int first(long afterMs) {
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (atMs[middle] <= afterMs) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
