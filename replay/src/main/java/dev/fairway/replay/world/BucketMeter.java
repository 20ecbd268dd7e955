package dev.fairway.replay.world;

/** A token bucket that refills without pause, in integers: nothing is lost by rounding. */
final class BucketMeter implements Meter {
  private static final long MINUTE_MS = 60_000;

  /** Also the refill per millisecond of a level that counts in 60,000ths. */
  private final long limitPerMinute;

  private final long depth;
  private long level;
  private long atMs;

  BucketMeter(long limitPerMinute, int depthS) {
    this.limitPerMinute = limitPerMinute;
    this.depth = Math.max(1, limitPerMinute * depthS / 60);
    this.level = depth * MINUTE_MS;
  }

  @Override
  public long room(long nowMs) {
    refill(nowMs);
    return Math.floorDiv(level, MINUTE_MS);
  }

  @Override
  public long depth() {
    return depth;
  }

  @Override
  public void charge(long nowMs, long amount) {
    refill(nowMs);
    level -= amount * MINUTE_MS;
  }

  @Override
  public void refund(long nowMs, long amount) {
    refill(nowMs);
    level = Math.min(depth * MINUTE_MS, level + amount * MINUTE_MS);
  }

  @Override
  public long whenRoom(long nowMs, long amount) {
    refill(nowMs);
    long missing = Math.max(0, amount * MINUTE_MS - level);
    return nowMs + (missing + limitPerMinute - 1) / limitPerMinute;
  }

  private void refill(long nowMs) {
    level = Math.min(depth * MINUTE_MS, level + (nowMs - atMs) * limitPerMinute);
    atMs = nowMs;
  }
}
