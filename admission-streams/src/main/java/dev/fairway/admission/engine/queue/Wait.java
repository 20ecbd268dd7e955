package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.WaitsFor;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.QuotaState;

/**
 * How long something takes, and what that is for. Of two that take equally long the one that was
 * found first is named.
 *
 * @param ms milliseconds
 * @param waitsFor what for; null where there is no wait, or nothing that could be named
 */
public record Wait(long ms, WaitsFor waitsFor) {
  static final Wait NONE = new Wait(0, null);

  /** The longer of this one and another. */
  Wait orLonger(Wait other) {
    return other.ms > ms ? other : this;
  }

  /** The longer of this one and that long for that of a quota. */
  Wait orLonger(long otherMs, WaitsFor.Reason reason, QuotaState quota, Dimension d) {
    return otherMs > ms ? new Wait(otherMs, new WaitsFor(reason, quota.id(), d)) : this;
  }

  /** The shorter of this one and another. */
  Wait orShorter(Wait other) {
    return other.ms < ms ? other : this;
  }

  /** Both, one after the other: the longer of them is what it is for. */
  Wait then(Wait next) {
    WaitsFor longer = next.ms > ms ? next.waitsFor : waitsFor;
    return new Wait(Amounts.saturatedAdd(ms, next.ms), longer);
  }

  /** For the same, no longer than that. */
  Wait atMost(long mostMs) {
    return ms > mostMs ? new Wait(mostMs, waitsFor) : this;
  }
}
