package dev.fairway.admission.engine.margin;

import dev.fairway.admission.engine.Event.MarginModeChanged;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;

/**
 * AUTO picks the mode of each dimension: ADAPTIVE while the provider told its level within the last
 * minute, else RESERVE where the bucket is shallow, else RATE. A level that is followed without
 * fresh numbers leads to 429s by the hundred, so the fall back has a time of its own.
 */
public final class ModeChange {
  /** A header that old says nothing of the present level. */
  public static final long FRESH_MS = 60_000;

  private ModeChange() {}

  /** Changes every dimension whose mode is not what it should be by now. */
  public static void due(Transaction tx, QuotaState quota) {
    for (Dimension d : Dimension.values()) {
      if (d.refills() && quota.limits(d)) {
        change(tx, quota, d, wanted(quota, d, quota.answeredAtMs(d), tx.nowMs()));
      }
    }
  }

  /** A usable header of a dimension is about to be applied. */
  static void headerOf(Transaction tx, QuotaState quota, Dimension d, long answeredAtMs) {
    Long last = quota.answeredAtMs(d);
    long newest = last == null ? answeredAtMs : Math.max(last, answeredAtMs);
    change(tx, quota, d, wanted(quota, d, newest, tx.nowMs()));
  }

  private static void change(Transaction tx, QuotaState quota, Dimension d, MarginModeName wanted) {
    MarginModeName now = quota.marginMode(d).name();
    if (now != wanted) {
      tx.emit(new MarginModeChanged(quota.id(), d, now, wanted));
    }
  }

  /** The mode that a dimension should be in. */
  public static MarginModeName wanted(QuotaState quota, Dimension d, Long answeredAtMs, long atMs) {
    MarginModeName configured = quota.policy().marginMode();
    if (configured != MarginModeName.AUTO) {
      return configured;
    }
    if (answeredAtMs != null && atMs - answeredAtMs < FRESH_MS) {
      return MarginModeName.ADAPTIVE;
    }
    boolean shallow = quota.policy().shallow(d, quota.limit(d));
    return shallow ? MarginModeName.RESERVE : MarginModeName.RATE;
  }

  /** When the next mode changes if nothing else happens, or {@link Long#MAX_VALUE}. */
  public static long dueMs(QuotaState quota) {
    long due = Long.MAX_VALUE;
    if (quota.policy().marginMode() != MarginModeName.AUTO) {
      return due;
    }
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      Long answeredAtMs = quota.answeredAtMs(d);
      if (d.refills()
          && quota.limits(d)
          && answeredAtMs != null
          && quota.marginMode(d).name() == MarginModeName.ADAPTIVE) {
        due = Math.min(due, answeredAtMs + FRESH_MS);
      }
    }
    return due;
  }
}
