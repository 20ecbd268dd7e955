package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.state.Row;
import java.util.List;

/**
 * One command, what it did, and what there was to see after it.
 *
 * @param rows all rows of the key afterwards
 * @param snapshots what holds for each quota of the key afterwards
 * @param dueMs when the next tick was due afterwards
 */
record Step(
    Command command, Handled handled, List<Row> rows, List<QuotaSnapshot> snapshots, long dueMs) {

  long atMs() {
    return handled.atMs();
  }
}
