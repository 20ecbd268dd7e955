package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;

/**
 * A provider that adds up what arrives, in minutes of its own or in the last one. What becomes of a
 * call follows from the id of its lease, so that a run and a check of it see the same.
 */
final class WindowProvider {
  static final long MINUTE_MS = 60_000;

  /** In a rolling window calls arrive within that of their grant; so much the engine allows. */
  private static final int LONGEST_WAY_MS = 120;

  private record Arrival(long atMs, Amounts amounts) {}

  private final Window window;
  private final long phaseMs;
  private final List<Arrival> arrivals = new ArrayList<>();

  /**
   * A provider.
   *
   * @param phaseMs time of any one reset of a fixed window
   */
  WindowProvider(Window window, long phaseMs) {
    this.window = window;
    this.phaseMs = phaseMs;
  }

  /** Whether a call is sent at all. */
  static boolean isSent(String leaseId) {
    return leaseId.hashCode() % 8 != 0;
  }

  /** What a call uses of what it was charged: all of it, a half or a quarter. */
  static Amounts used(String leaseId, Amounts charged) {
    int part = 1 << Math.floorMod(leaseId.hashCode() / 8, 3);
    Amounts used = charged;
    for (Dimension d : Dimension.values()) {
      boolean tokens = d.refills() && d != Dimension.REQUESTS;
      used = tokens && charged.has(d) ? used.with(d, charged.get(d) / part) : used;
    }
    return used;
  }

  long arrivesAtMs(LeaseGranted e) {
    boolean atOnce = window == Window.FIXED;
    return e.grantedAtMs()
        + (atOnce ? 0 : Math.floorMod(e.leaseId().hashCode() / 64, LONGEST_WAY_MS + 1));
  }

  void arrive(long atMs, Amounts amounts) {
    arrivals.add(new Arrival(atMs, amounts));
  }

  long used(Dimension d, long atMs) {
    long sum = 0;
    for (Arrival arrival : arrivals) {
      boolean counts =
          window == Window.FIXED
              ? minute(arrival.atMs) == minute(atMs)
              : arrival.atMs > atMs - MINUTE_MS;
      sum += counts && arrival.atMs <= atMs ? arrival.amounts.get(d) : 0;
    }
    return sum;
  }

  /** When the minute began that a time lies in. */
  long lastResetMs(long atMs) {
    return minute(atMs) * MINUTE_MS + phaseMs;
  }

  private long minute(long atMs) {
    return Math.floorDiv(atMs - phaseMs, MINUTE_MS);
  }
}
