package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedWindow;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.QuotaState;
import java.util.List;

/**
 * When a request's turn comes in a fixed window. What is left of a window when the next call does
 * not fit is lost at the reset, so those ahead are packed window by window: the first of them as
 * they are, the rest as calls of the mean size.
 */
final class WindowEta {

  private WindowEta() {}

  /** Whether packing tells more than the sum: somebody is ahead, and every call fits a window. */
  static boolean applies(QuotaState quota, Dimension d, Ahead ahead, long own) {
    return quota.resetPhaseMs(d) != null
        && ahead.count() > 0
        && own <= quota.usableCap(d)
        && mean(ahead.demand().get(d), ahead.count()) <= quota.usableCap(d);
  }

  private static long mean(long demand, long count) {
    long rounded = demand / count;
    return Math.max(1, demand % count > 0 ? rounded + 1 : rounded);
  }

  /**
   * Milliseconds until those ahead, and then what it needs itself, have fitted.
   *
   * @param first what the first of those ahead take
   */
  static long waitMs(
      QuotaState quota, Dimension d, Ahead ahead, List<Amounts> first, long own, long atMs) {
    long fromMs = quota.afterResetsMs(atMs);
    long window = quota.usableCap(d);
    long there = quota.usable(d, fromMs);
    long resets = 0;
    long demand = ahead.demand().get(d);
    for (Amounts charge : first) {
      long missing = Math.min(charge.get(d), window) - there;
      if (missing > 0) {
        long until = there >= 0 ? 1 : (missing + window - 1) / window;
        there = Math.min(window, there >= 0 ? window : there + until * window);
        resets += until;
      }
      there -= charge.get(d);
      demand -= charge.get(d);
    }
    long left = ahead.count() - first.size();
    long mean = left <= 0 ? 1 : Math.min(window, mean(Math.max(0, demand), left));
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
