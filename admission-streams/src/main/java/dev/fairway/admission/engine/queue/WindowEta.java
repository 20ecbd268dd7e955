package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedWindow;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.QuotaState;

/**
 * When a request's turn comes in a fixed window. What is left of a window when the next call does
 * not fit is lost at the reset, so those ahead are packed window by window, each taken to be of the
 * mean size. Exact where calls are alike.
 */
final class WindowEta {

  private WindowEta() {}

  /** Whether packing tells more than the sum: somebody is ahead, and every call fits a window. */
  static boolean applies(QuotaState quota, Dimension d, Ahead ahead, long own) {
    return quota.resetPhaseMs(d) != null
        && ahead.count() > 0
        && own <= quota.usableCap(d)
        && mean(ahead, d) <= quota.usableCap(d);
  }

  private static long mean(Ahead ahead, Dimension d) {
    long rounded = ahead.demand().get(d) / ahead.count();
    return Math.max(1, ahead.demand().get(d) % ahead.count() > 0 ? rounded + 1 : rounded);
  }

  /** Milliseconds until those ahead, and then what it needs itself, have fitted. */
  static long waitMs(QuotaState quota, Dimension d, Ahead ahead, long own, long atMs) {
    long fromMs = quota.afterResetsMs(atMs);
    long mean = mean(ahead, d);
    long window = quota.usableCap(d);
    long there = quota.usable(d, fromMs);
    long left = ahead.count();
    long resets = 0;
    while (left > 0 || there < own) {
      long fitting = Math.min(left, Math.max(0, there) / mean);
      left -= fitting;
      there -= fitting * mean;
      if (left == 0 && there >= own) {
        break;
      }
      long whole = there >= 0 ? Math.max(0, left / (window / mean) - 1) : -there / window;
      left -= there >= 0 ? whole * (window / mean) : 0;
      there = there >= 0 ? window : Math.min(window, there + (whole + 1) * window);
      resets += whole + 1;
    }
    return resets == 0
        ? fromMs - atMs
        : fromMs - atMs + FixedWindow.msUntil(quota.resetPhaseMs(d), resets, fromMs);
  }
}
