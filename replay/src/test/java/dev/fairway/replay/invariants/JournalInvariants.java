package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.mapping.Cause;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.replay.verify.JournalVerifier;
import dev.fairway.replay.verify.VerifyReport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What must hold of journals and rows, in every run. */
final class JournalInvariants {
  private static final int SNAPSHOT_EVERY = 7;

  private JournalInvariants() {}

  /** The journal decides itself again, snapshots included. */
  static List<String> journalDecidesItselfAgain(List<Step> steps) {
    JournalVerifier verifier = new JournalVerifier();
    int count = 0;
    for (Step step : steps) {
      verifier.accept(JournalMapper.toAvro(step.handled(), step.command(), Cause.TICK));
      if (++count % SNAPSHOT_EVERY == 0) {
        Row.KeyRow key = (Row.KeyRow) step.rows().get(0);
        verifier.accept(JournalMapper.snapshot(key, 0, 1, step.rows()));
      }
    }
    VerifyReport report = verifier.report();
    return report.ok() ? List.of() : report.firstFindings();
  }

  /** The rows written along the way are the state, after each step. */
  static List<String> writtenRowsAreTheState(List<Step> steps) {
    Map<RowId, Row> store = new HashMap<>();
    for (Step step : steps) {
      step.handled()
          .changedRows()
          .forEach(
              (id, row) -> {
                if (row == null) {
                  store.remove(id);
                } else {
                  store.put(id, row);
                }
              });
      Map<RowId, Row> state = new HashMap<>();
      step.rows().forEach(row -> state.put(row.id(), row));
      if (!store.equals(state)) {
        return List.of("at sequence " + step.handled().sequence() + ": " + store + " but " + state);
      }
    }
    return List.of();
  }
}
