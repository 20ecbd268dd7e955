package dev.fairway.admission.engine.queue;

import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.queue.AdmissionOrder.Ahead;
import dev.fairway.admission.engine.state.KeyState;
import dev.fairway.admission.engine.state.QuotaState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lines of the quotas that take from the same quota as one does, as they stand between it and what
 * they share. A line that cannot go takes nothing: one that is held, or whose breaker is open, none
 * before that ends; one that an operator paused, or whose head waits for a slot of its own, none at
 * any time that is known.
 */
final class SiblingLines {
  private final KeyState key;
  private final QuotaState quota;
  private final long atMs;
  private final Map<QuotaState, List<Line>> lines = new HashMap<>();

  /**
   * A line that waits.
   *
   * @param opensAtMs from when on it goes
   */
  record Line(QuotaState quota, long opensAtMs) {
    /**
     * Who of it goes before a request of that tag in another quota. Equal tags go in order of their
     * quotas' ids: arrivals are counted in each quota alone.
     */
    Ahead before(long topTag, QuotaState other) {
      boolean first = quota.id().compareTo(other.id()) < 0;
      return quota.order().before(topTag, first ? Long.MAX_VALUE : Long.MIN_VALUE);
    }
  }

  SiblingLines(KeyState key, QuotaState quota, long atMs) {
    this.key = key;
    this.quota = quota;
    this.atMs = atMs;
  }

  /** Those beside its own that take from another quota, in order of when they open. */
  List<Line> of(QuotaState other) {
    return lines.computeIfAbsent(other, this::find);
  }

  private List<Line> find(QuotaState other) {
    List<Line> found = new ArrayList<>();
    for (QuotaState taker : key.sharing(other)) {
      boolean takes = taker == other || taker.policy().order().also().contains(other.id());
      if (takes && taker != quota && taker.order().size() > 0) {
        long opensAtMs = opensAtMs(taker);
        if (opensAtMs < Long.MAX_VALUE) {
          found.add(new Line(taker, opensAtMs));
        }
      }
    }
    found.sort(Comparator.comparingLong(Line::opensAtMs));
    return found;
  }

  private long opensAtMs(QuotaState taker) {
    List<QuotaState> others = taker.also();
    if (others == null || Gates.paused(taker) != null) {
      return Long.MAX_VALUE;
    }
    Turns.Waiting front = Turns.front(taker, atMs);
    if (front != null && waitsForSlot(front)) {
      return Long.MAX_VALUE;
    }
    return Amounts.saturatedAdd(atMs, Gates.opens(taker, others, atMs).ms());
  }

  /** A slot that both wait for lets both go. */
  private boolean waitsForSlot(Turns.Waiting front) {
    boolean mine = front.fit().binding() == quota || quota.also().contains(front.fit().binding());
    return front.fit().dueMs() == Long.MAX_VALUE && !mine;
  }
}
