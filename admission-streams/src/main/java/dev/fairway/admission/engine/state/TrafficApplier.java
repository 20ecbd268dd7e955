package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.alert.Traffic;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row.TaskRow;
import dev.fairway.admission.engine.state.Row.TrafficRow;

/** Counts what alerts look at; writes a row only where a count of its own changes. */
final class TrafficApplier {

  private TrafficApplier() {}

  /** A request is about to be enqueued. */
  static void enqueuing(KeyState key, QuotaState quota, Waiter waiter) {
    Traffic traffic = quota.traffic(key.nowMs);
    String taskId = waiter.request().taskId();
    TaskRow task = taskId == null ? null : key.tasks.get(taskId);
    boolean first = taskId != null && (task == null || task.touchedAtMs() < traffic.startMs());
    traffic = first ? traffic.task() : traffic;
    // What is made again, or comes back, follows 429s and rejects: only what is new tells of turns.
    boolean turn = waiter.attempt() == 1 && waiter.request().retryOf() == null;
    set(key, quota, turn ? traffic.asked(key.nowMs) : traffic);
  }

  static void settled(KeyState key, QuotaState quota, Lease before, LeaseSettled e) {
    Traffic traffic = quota.traffic(key.nowMs);
    if (e.outcome() == Outcome.RATE_LIMITED) {
      traffic = traffic.refused(key.nowMs);
    }
    if (before.attempt() > 1 && e.outcome() == Outcome.SUCCEEDED) {
      Dimension input =
          e.actual().has(Dimension.INPUT_TOKENS) ? Dimension.INPUT_TOKENS : Dimension.TOKENS;
      traffic = traffic.retried(e.actual().get(input));
    }
    set(key, quota, traffic);
  }

  /** A 429 is one, whoever let the call go. */
  static void unleased(KeyState key, QuotaState quota, UnleasedCharged e) {
    if (e.refused()) {
      set(key, quota, quota.traffic(key.nowMs).refused(key.nowMs));
    }
  }

  private static void set(KeyState key, QuotaState quota, Traffic traffic) {
    if (!traffic.equals(quota.traffic)) {
      quota.traffic = traffic;
      key.changes.put(new TrafficRow(quota.id(), traffic));
    }
  }
}
