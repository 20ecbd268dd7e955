package dev.fairway.replay.world;

import java.util.ArrayDeque;
import java.util.Iterator;

/** Counts what was charged in the last minute, to the millisecond. */
final class RollingWindowMeter implements Meter {
  private static final long MINUTE_MS = 60_000;

  private record Charge(long atMs, long amount) {}

  private final long limit;
  private final ArrayDeque<Charge> charges = new ArrayDeque<>();
  private long used;

  RollingWindowMeter(long limitPerMinute) {
    this.limit = limitPerMinute;
  }

  @Override
  public long room(long nowMs) {
    forget(nowMs);
    return limit - used;
  }

  @Override
  public long depth() {
    return limit;
  }

  @Override
  public void charge(long nowMs, long amount) {
    forget(nowMs);
    used += amount;
    charges.addLast(new Charge(nowMs, amount));
  }

  /** Leaves the window with the charges of now, a little later than the charge it corrects. */
  @Override
  public void refund(long nowMs, long amount) {
    charge(nowMs, -amount);
  }

  @Override
  public long whenRoom(long nowMs, long amount) {
    forget(nowMs);
    long room = limit - used;
    long whenMs = nowMs;
    Iterator<Charge> oldest = charges.iterator();
    while (room < amount && oldest.hasNext()) {
      Charge charge = oldest.next();
      room += charge.amount();
      whenMs = charge.atMs() + MINUTE_MS;
    }
    return whenMs;
  }

  private void forget(long nowMs) {
    while (!charges.isEmpty() && charges.peekFirst().atMs() + MINUTE_MS <= nowMs) {
      used -= charges.pollFirst().amount();
    }
  }
}
