package dev.fairway.replay.world;

/** Counts from minute to minute of its own clock, and forgets all of it at each turn. */
final class FixedWindowMeter implements Meter {
  private static final long MINUTE_MS = 60_000;

  private final long limit;
  private long endMs;
  private long used;

  /** The first window ends then. */
  FixedWindowMeter(long limitPerMinute, long firstEndMs) {
    this.limit = limitPerMinute;
    this.endMs = firstEndMs;
  }

  @Override
  public long room(long nowMs) {
    roll(nowMs);
    return limit - used;
  }

  @Override
  public long depth() {
    return limit;
  }

  @Override
  public void charge(long nowMs, long amount) {
    roll(nowMs);
    used += amount;
  }

  @Override
  public void refund(long nowMs, long amount) {
    roll(nowMs);
    used = Math.max(0, used - amount);
  }

  @Override
  public long whenRoom(long nowMs, long amount) {
    return room(nowMs) >= amount ? nowMs : endMs;
  }

  private void roll(long nowMs) {
    if (nowMs >= endMs) {
      endMs += ((nowMs - endMs) / MINUTE_MS + 1) * MINUTE_MS;
      used = 0;
    }
  }
}
